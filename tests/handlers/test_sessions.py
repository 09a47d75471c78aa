"""Sessions: create, look, list, delete."""

import re
from typing import Any

import pytest

from tests.handlers.service import Client, Service

DEFAULTS = {
    "pending_token_threshold": 10_000,
    "message_count_threshold": 50,
    "idle_timeout_seconds": 86_400,
    "keep_recent_count": 2,
    "min_commit_interval_seconds": 0,
}
MEMORY_POLICY = {
    "self": {"enabled": True},
    "peer": {"enabled": True},
    "memory_types": None,
    "working_memory": {"enabled": True},
}


def test_create_without_anything(alice: Client) -> None:  # B-A1
    result = alice.create("s1").result
    assert result["session_id"] == "s1"
    assert result["uri"] == "viking://user/alice/sessions/s1"
    assert result["user"] == {"account_id": "acme", "user_id": "alice"}
    assert result["auto_commit_policy"] is None
    assert result["memory_policy"] == MEMORY_POLICY


def test_a_generated_id(alice: Client) -> None:  # B-A1
    created = alice.create().result
    assert re.fullmatch(r"20260101-000000-[0-9a-f]{16}", created["session_id"])
    assert alice.look(created["session_id"]).result["session_id"] == created["session_id"]


def test_an_empty_policy_is_filled_with_the_defaults(alice: Client) -> None:  # B-A1
    assert alice.create("s", auto_commit_policy={}).result["auto_commit_policy"] == DEFAULTS
    assert alice.look("s").result["auto_commit_policy"] == DEFAULTS


def test_a_policy_in_part_is_filled(alice: Client) -> None:  # B-A1
    asked = {"message_count_threshold": 7, "idle_timeout_seconds": 0}
    assert alice.create("s", auto_commit_policy=asked).result["auto_commit_policy"] == {**DEFAULTS, **asked}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [({}, DEFAULTS), ({"auto_commit_policy": None}, None), ({"auto_commit_policy": {}}, DEFAULTS)],
)
def test_a_deployment_with_a_default_policy(service: Service, fields: Any, expected: Any) -> None:  # B-A1
    service.configure(SESSION_AUTO_COMMIT_DEFAULT_ENABLED="true")
    alice = service.client()
    assert alice.create("s", **fields).result["auto_commit_policy"] == expected


@pytest.mark.parametrize("default", ["true", "false"])
@pytest.mark.parametrize("batch", [True, False])
def test_the_first_write_creates_the_session(service: Service, default: str, batch: bool) -> None:  # B-A2
    service.configure(SESSION_AUTO_COMMIT_DEFAULT_ENABLED=default)
    alice = service.client()
    answer = alice.batch("new", "hello") if batch else alice.append("new", "hello")
    assert answer.status == 200
    assert alice.look("new").result["auto_commit_policy"] == (DEFAULTS if default == "true" else None)


@pytest.mark.parametrize(
    "policy", [42, "abc", [], True, {"nonsense": 1}, {"keep_recent_count": "2"}, {"keep_recent_count": True}]
)
def test_a_policy_that_is_none(alice: Client, policy: Any) -> None:  # B-A1 B-B11
    assert alice.create("s", auto_commit_policy=policy).refusal == (400, "INVALID_ARGUMENT")
    assert alice.look("s").refusal == (404, "NOT_FOUND")


def test_a_null_in_a_policy_is_told_how_to_switch_it_off(alice: Client) -> None:  # B-B11
    answer = alice.create("s", auto_commit_policy={"message_count_threshold": None})
    assert answer.refusal == (400, "INVALID_ARGUMENT")
    assert "auto_commit_policy=null" in answer.error["message"]


@pytest.mark.parametrize("written_first", [True, False])
def test_an_id_that_is_taken(alice: Client, written_first: bool) -> None:  # B-A1
    _ = alice.append("s", "hello") if written_first else alice.create("s")
    error = alice.create("s", metadata={"other": 1}).error
    assert (error["code"], error["retryable"]) == ("ALREADY_EXISTS", False)
    assert alice.look("s").result["metadata"] == {}


def test_the_same_id_is_free_for_another_user(alice: Client, bob: Client) -> None:  # B-A1 B-A14
    assert alice.create("s").status == bob.create("s").status == 200


@pytest.mark.parametrize(
    "session_id", ["", "a/b", ".", "..", "a\nb", "a\x00b", "x" * 129, "\ud800", 7, {}, "😀" * 30]
)
def test_an_id_that_is_none(alice: Client, session_id: Any) -> None:  # B-A1
    answer = alice.create(session_id)
    assert answer.refusal == (400, "INVALID_ARGUMENT")
    assert alice.get("/sessions").result == []


@pytest.mark.parametrize(
    "session_id",
    ["你好", "a b", "%2F", "100%", "a#c", "é", "e\u0301", "~user", "-", "a.json", "😀", "a+b", "a,b"],
)
def test_any_other_id_works_on_every_route(service: Service, alice: Client, session_id: str) -> None:  # B-A1
    assert alice.create(session_id).result["session_id"] == session_id
    assert alice.append(session_id, "I love tea.").result["session_id"] == session_id
    assert alice.batch(session_id, "I love coffee.").status == 200
    assert alice.log(session_id) == [(1, "I love tea."), (2, "I love coffee.")]
    assert alice.commit(session_id).status == 200
    service.pump()
    assert alice.look(session_id).result["archives"]["completed"] == 1
    assert alice.context(session_id).result["latest_archive_overview"]
    assert [row["session_id"] for row in alice.get("/sessions").result] == [session_id]
    assert alice.delete(f"/sessions/{_quoted(session_id)}").result["session_id"] == session_id
    assert alice.look(session_id).status == 404


def _quoted(text: str) -> str:
    from urllib.parse import quote

    return quote(text, safe="")


def test_unknown_memory_types(alice: Client) -> None:
    answer = alice.create("s", memory_policy={"memory_types": ["profile", "nonsense"]})
    assert answer.refusal == (400, "INVALID_ARGUMENT")
    assert answer.error["details"]["validation_errors"][0]["field"].startswith("memory_policy")


def test_the_meta_of_a_new_session(alice: Client) -> None:
    alice.create("s", metadata={"topic": "tea"})
    shown = alice.look("s").result
    assert {
        k: shown[k] for k in ("message_count", "total_message_count", "commit_count", "pending_tokens")
    } == {
        "message_count": 0,
        "total_message_count": 0,
        "commit_count": 0,
        "pending_tokens": 0,
    }
    assert shown["archives"] == {"pending": 0, "completed": 0, "failed": 0}
    assert shown["created_at"] == shown["updated_at"] == "2026-01-01T00:00:00.000Z"
    assert shown["metadata"] == {"topic": "tea"}
    for name in ("last_message_at", "last_commit_at", "last_auto_commit_at", "auto_commit_last_error"):
        assert shown[name] is None


def test_a_look_may_create(alice: Client) -> None:
    assert alice.look("s").refusal == (404, "NOT_FOUND")
    assert alice.get("/sessions/s", auto_create="true").result["session_id"] == "s"
    assert alice.look("s").status == 200


def test_deleted_means_gone_everywhere(service: Service, alice: Client) -> None:  # B-A15
    task = alice.remember("s", "I love the cello.")
    alice.append("s", "live")
    erased = alice.delete("/sessions/s").result["erased"]
    assert erased["objects"] >= 5 and erased["tasks"] == 1

    for answer in (
        alice.look("s"),
        alice.delete("/sessions/s"),
        alice.commit("s"),
        alice.context("s"),
        alice.get("/sessions/s/messages"),
        alice.get("/sessions/s/archives/archive_001"),
        alice.get(f"/tasks/{task}"),
        alice.post(f"/tasks/{task}/retry"),
        alice.post("/search/find", {"query": "x", "context_type": "message", "session_id": "s"}),
    ):
        assert answer.refusal == (404, "NOT_FOUND")
    assert alice.get("/sessions").result == []
    assert alice.find("cello", context_type="message") == []
    assert len(alice.find("cello")) == 1  # memories stay
    assert service.sweep(1_000)["failed"] == 0
    assert alice.look("s").status == 404


def test_a_recreated_session_starts_empty(service: Service, alice: Client) -> None:  # B-A15
    alice.remember("s", "I love the cello.")
    alice.delete("/sessions/s")

    assert alice.append("s", "hello", id="x").result["seq"] == 1

    shown = alice.look("s").result
    assert (shown["message_count"], shown["total_message_count"], shown["commit_count"]) == (1, 1, 0)
    assert alice.context("s").result["latest_archive_overview"] == ""
    assert alice.get("/sessions/s/archives/archive_001").status == 404
    assert alice.find("cello", context_type="message", session_id="s") == []


def pages(client: Client, **query: Any) -> list[list[str]]:
    """The list as a client pages through it; something is created between any two pages."""
    found: list[list[str]] = []
    cursor: str | None = None
    while True:
        answer = client.get("/sessions", **query, **({"cursor": cursor} if cursor else {}))
        found.append([row["session_id"] for row in answer.result])
        cursor = answer.json["next_cursor"]
        if cursor is None:
            return found
        client.service.world.clock.advance(1)
        client.create(f"later-{len(found)}")


def test_250_sessions(service: Service, alice: Client) -> None:  # B-A16
    for n in range(250):
        alice.create(f"s{n}")
        service.world.clock.advance(1)
    found = pages(alice, limit=100)
    assert [len(page) for page in found] == [100, 100, 50]
    assert [name for page in found for name in page] == [f"s{n}" for n in reversed(range(250))]


def test_a_list_shows_what_it_should(alice: Client) -> None:  # B-A16
    alice.create("s")
    answer = alice.get("/sessions")
    assert answer.result == [
        {
            "session_id": "s",
            "uri": "viking://user/alice/sessions/s",
            "created_at": "2026-01-01T00:00:00.000Z",
            "updated_at": "2026-01-01T00:00:00.000Z",
            "commit_count": 0,
        }
    ]
    assert answer.json["next_cursor"] is None


@pytest.mark.parametrize("limit", ["0", "-1", "201", "abc", "1.5", ""])
def test_a_limit_out_of_range(alice: Client, limit: str) -> None:  # B-A16
    answer = alice.get("/sessions", limit=limit)
    assert answer.refusal == (400, "INVALID_ARGUMENT")
    assert answer.error["details"]["validation_errors"][0]["field"] == "limit"


def test_an_order_that_is_none(alice: Client) -> None:  # B-A16
    answer = alice.get("/sessions", order="up")
    assert answer.refusal == (400, "INVALID_ARGUMENT")
    assert answer.error["message"] == "order: String should match pattern '^(asc|desc)$'"


@pytest.mark.parametrize("cursor", ["", "x", "AAAA", "é", "=" * 8, "A" * 1000, "../..", "bnVsbA", "\x00"])
def test_a_forged_cursor(alice: Client, cursor: str) -> None:  # B-A16
    alice.create("s")
    assert alice.get("/sessions", cursor=cursor).refusal == (400, "INVALID_ARGUMENT")


def test_a_cursor_is_good_for_its_user_and_list_only(alice: Client, bob: Client) -> None:  # B-A16 B-A14
    for n in range(3):
        alice.create(f"s{n}")
        bob.create(f"s{n}")
    cursor = alice.get("/sessions", limit=1).json["next_cursor"]
    assert alice.get("/sessions", limit=1, cursor=cursor).status == 200
    assert bob.get("/sessions", limit=1, cursor=cursor).refusal == (400, "INVALID_ARGUMENT")
    assert alice.get("/memories", cursor=cursor).refusal == (400, "INVALID_ARGUMENT")
    turned = cursor[:-1] + ("A" if cursor[-1] != "A" else "B")
    assert alice.get("/sessions", limit=1, cursor=turned).refusal == (400, "INVALID_ARGUMENT")
