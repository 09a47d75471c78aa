"""`strandline memories history|blame|rollback`: what is asked, and what is printed."""

from typing import Any

import pytest

from tests.unit.sdk.commands import document, run
from tests.unit.sdk.fake_service import MEMORY, FakeService

SOURCE = {"session": "talk", "archive": 1, "at": "2024-03-02T09:30:00.000Z", "seq": "3"}
VERSIONS = [
    {
        "version": 2,
        "at": "2024-03-03T10:00:00.123Z",
        "by": "rollback",
        "why": "version 1",
        "change": "updated",
        "current": True,
        "lines": {"added": 0, "removed": 4, "own_text": False},
        "sources": [],
    },
    {
        "version": 1,
        "at": "2024-03-02T09:31:00.000Z",
        "by": "merge",
        "why": None,
        "change": "created",
        "current": False,
        "lines": {"added": 1, "removed": 0, "own_text": True},
        "sources": [SOURCE],
    },
    {"version": None, "at": "2024-03-01T09:31:00.000Z", "by": None, "change": "deleted", "lines": None},
]
SPAN = {
    "session_id": "talk",
    "archive": "archive_001",
    "seq_from": 3,
    "seq_to": 5,
    "at": "2024-03-02T09:30:00.000Z",
}
BLAME = [
    {"line": 1, "text": "# Pottery", "source": None, "quote": None},
    {
        "line": 2,
        "text": "Mia fired a bowl.",
        "source": SPAN,
        "quote": {"status": "verified", "text": "I fired a bowl"},
    },
    {
        "line": 3,
        "text": "Mia sold it.",
        "source": {**SPAN, "seq_from": 7, "seq_to": 7},
        "quote": {"status": "erased", "text": None},
    },
]
CHANGED = {
    "path": "profile.md",
    "change": "updated",
    "diff": "--- before\n+++ after\n@@ -1 +1 @@\n-two\n+one",
}
LEFT = {"path": "profile.md", "reason": "edited", "text": "mine"}


@pytest.fixture
def past(service: FakeService) -> FakeService:
    service.past = {
        "history": {"path": "a.md", "uri": "viking://x", "versions": VERSIONS, "not_kept": None},
        "blame": {"path": "a.md", "uri": "viking://x", "version": 2, "sha256": "0", "lines": BLAME},
        "rollback": {**CHANGED, "changed": [CHANGED], "conflicts": [LEFT]},
    }
    return service


def test_history(past: FakeService) -> None:
    assert run(past, "memories", "history", "a/b.md").stdout == (
        "2 2024-03-03T10:00:00.123Z updated +0 -4 rollback version 1\n"
        "1 2024-03-02T09:31:00.000Z created +1 -0 merge talk/1#3\n"
        "- 2024-03-01T09:31:00.000Z deleted ? unknown\n"
    )
    assert document(past, "memories", "history", "a/b.md") == VERSIONS
    assert document(past, "memories", "history", "a/b.md", "--limit", "1") == VERSIONS[:1]


def test_blame(past: FakeService) -> None:
    gap = " " * 42
    assert run(past, "memories", "blame", "a.md").stdout == (
        f"{gap}  # Pottery\n"
        f"2024-03-02  {'talk/1#3-5':<30}  Mia fired a bowl.\n"
        f"2024-03-02  {'talk/1#7':<30}  Mia sold it. (erased)\n"
    )
    assert f"{gap}  > I fired a bowl\n" in run(past, "memories", "blame", "a.md", "--quotes").stdout
    assert document(past, "memories", "blame", "a.md") == BLAME


def test_rollback_of_a_memory(past: FakeService) -> None:
    assert run(past, "memories", "rollback", "a.md", "--version", "1").stdout == (
        "updated profile.md\n1 memory changed\n"
    )
    dry = run(past, "memories", "rollback", "a.md", "--version", "1", "--dry-run")
    assert dry.stdout == (
        "updated profile.md\n--- before\n+++ after\n@@ -1 +1 @@\n-two\n+one\n1 memory would be changed\n"
    )
    assert past.asked == [{"version": 1, "dry_run": False}, {"version": 1, "dry_run": True}]


@pytest.mark.parametrize(
    ("option", "value", "wanted"),
    [("--session", "talk", {}), ("--since", "2024-03-01T00:00:00Z", {"since": "2024-03-01T00:00:00Z"})],
)
def test_rollback_of_many_page_by_page(past: FakeService, option: str, value: str, wanted: Any) -> None:
    result = run(past, "memories", "rollback", option, value)
    assert result.stdout == "updated profile.md\n" * 2 + "left profile.md: edited mine\n" * 2 + (
        "2 memories changed\n"
    )
    body = {**wanted, "dry_run": False}
    assert past.asked == [body, {**body, "cursor": "more"}]


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["a.md"],
        ["--version", "1"],
        ["a.md", "--version", "1", "--session", "s"],
        ["--session", "s", "--since", "x"],
    ],
)
def test_one_thing_at_a_time(past: FakeService, arguments: list[str]) -> None:
    assert run(past, "memories", "rollback", *arguments).exit_code == 2
    assert past.asked == []


def test_memories_of_an_earlier_time(service: FakeService) -> None:
    run(service, "memories", "ls", "--as-of", "2024-03-01T00:00:00Z")
    shown = run(service, "memories", "cat", str(MEMORY["path"]), "--version", "1")
    assert shown.stdout == MEMORY["content"]
    assert [dict(request.url.params) for request in service.requests] == [
        {"as_of": "2024-03-01T00:00:00Z"},
        {"version": "1"},
    ]
    assert run(service, "memories", "cat", "a.md", "--version", "1", "--as-of", "x").exit_code == 2


REBUILD = {
    "rebuild_id": "r1",
    "status": "ready",
    "archives": {"total": 3, "merged": 3, "failed": 1},
}


@pytest.mark.parametrize(
    ("arguments", "begun"),
    [
        (["--again"], ("/rebuilds", {"again": True})),
        (["--session", "s"], ("/rebuilds", {"again": False, "session_id": "s"})),
        (["--session", "s", "--live"], ("/sessions/s/extract", {"dry_run": True})),
        (["--resume", "r1"], None),
    ],
)
def test_a_rebuild_is_begun_and_compared(past: FakeService, arguments: list[str], begun: Any) -> None:
    past.past["rebuild"] = REBUILD
    result = run(past, "rebuild", *arguments)
    assert result.stdout == (
        "rebuild r1: 3 archives, 1 could not be extracted again\n"
        + ("updated profile.md\n--- before\n+++ after\n@@ -1 +1 @@\n-two\n+one\n" * 2)
        + "left profile.md: edited mine\n" * 2
        + "2 memories would be changed\n"
    )
    paths = past.paths("POST")
    assert paths[-3:] == ["/api/v1/rebuilds/r1/continue", *["/api/v1/rebuilds/r1/promote"] * 2]
    if begun:
        assert (paths[0], past.asked[0]) == (f"/api/v1{begun[0]}", begun[1])


def test_a_rebuild_is_promoted(past: FakeService) -> None:
    past.past["rebuild"] = REBUILD
    assert run(past, "rebuild", "--promote").stdout.endswith("2 memories changed\n")
    assert past.asked[-1]["dry_run"] is False
    assert run(past, "rebuild", "--live", "--session", "s", "--promote").exit_code == 2
    assert run(past, "rebuild", "--live").exit_code == 2


SCRUB = {
    "scrub_id": "c1",
    "status": "waiting",
    "stage": "wait 1/2",
    "session_id": None,
    "dry_run": False,
    "objects": {"sessions": 5, "memories": 3},
    "items": {"tasks": 2},
    "changed": {"sessions": 2, "tasks": 1},
    "versions": {"sessions": 2},
    "findings": {"password": 1, "github_token": 3},
    "names": {},
    "unreadable": {},
}


def test_a_scrub(past: FakeService) -> None:
    past.past["scrub"] = SCRUB
    result = run(past, "scrub", "--session", "s")
    assert result.stdout == (
        "scrub c1: done once; it goes over everything again in a while\n"
        "github_token: in 3 objects\n"
        "password: in 1 object\n"
        "3 of 10 changed\n"
    )
    assert past.asked == [{"session_id": "s", "dry_run": False}]


def test_a_scrub_that_only_looks(past: FakeService) -> None:
    past.past["scrub"] = {
        **SCRUB,
        "status": "completed",
        "dry_run": True,
        "findings": {},
        "changed": {},
        "names": {"sessions": 1},
        "unreadable": {"sessions": 2},
    }
    result = run(past, "scrub", "--dry-run")
    assert result.stdout == (
        "scrub c1: done\n0 of 10 would be changed\n"
        "1 name that look like a secret: delete what is called so\n"
        "2 objects could not be read and stay as they are\n"
    )
    assert past.asked == [{"dry_run": True}]
    assert run(past, "scrub", "--resume", "c1").exit_code == 0
    assert past.asked == [{"dry_run": True}]
    assert run(past, "scrub", "--resume", "c1", "--dry-run").exit_code == 2
