import json
from pathlib import Path

import pytest

from tests.unit.sdk.commands import document, run
from tests.unit.sdk.fake_service import FakeService

CHAT = "chat-1-4ac67a14"  # a file chat.json whose first message is "refuse me"


def test_import_stores_commits_and_waits(service: FakeService, talk: str) -> None:
    result = run(service, "import", talk)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith(
        "2 sessions, 3 messages stored, 0 duplicates; tasks: 2 started, 2 completed, 0 failed; "
    )
    assert result.stderr == ""
    stored = service.sessions["self", "talk-7-session-2"].messages
    assert [(m["id"], m["peer_id"], m["created_at"]) for m in stored] == [
        ("D2:1", "Mia", "2024-03-02T09:30:00.000Z"),
        ("D2:2", "Ben Ito", "2024-03-02T09:30:00.000Z"),
    ]


def test_import_twice_stores_nothing_twice(service: FakeService, talk: str) -> None:
    run(service, "import", talk)
    summary = document(service, "import", talk)
    assert summary.pop("seconds") >= 0
    assert summary == {
        "sessions": 2,
        "messages_stored": 0,
        "duplicates": 3,
        "tasks": {"started": 0, "completed": 0, "failed": 0},
        "messages_per_second": 0.0,
        "failures": [],
        "archives": {"unfinished": 0, "failed": 0},
        "skipped": [],
    }
    assert len(service.tasks) == 2


def test_import_without_commit_is_committed_by_the_next(service: FakeService, talk: str) -> None:
    assert document(service, "import", talk, "--no-commit")["tasks"]["started"] == 0
    assert service.tasks == {}
    assert document(service, "import", talk)["tasks"] == {"started": 2, "completed": 2, "failed": 0}


def test_import_without_waiting(service: FakeService, talk: str) -> None:
    assert document(service, "import", talk, "--no-wait")["tasks"] == {
        "started": 2,
        "completed": 0,
        "failed": 0,
    }
    assert not any(path.startswith("/api/v1/tasks") for path in service.paths("GET"))


def test_each_conversation_can_be_a_user(service: FakeService, talk: str) -> None:
    assert (
        document(service, "import", talk, "--user-per-conversation", "--jobs", "1")["tasks"]["completed"] == 2
    )
    assert {user for user, _ in service.sessions} == {"talk-7"}


def test_a_conversation_that_cannot_be_a_user_is_misuse(service: FakeService, tmp_path: Path) -> None:
    path = tmp_path / "gespräch.json"
    path.write_text('[{"role": "user", "content": "hello"}]', encoding="utf-8")
    result = run(service, "import", str(path), "--user-per-conversation")
    assert result.exit_code == 2
    assert "a conversation cannot be a user: X-Strandline-User" in result.stderr
    assert service.requests == []


def test_session_prefix(service: FakeService, talk: str) -> None:
    document(service, "import", talk, "--session-prefix", "try-2-")
    assert ("self", "try-2-talk-7-session-2") in service.sessions


def test_bad_input_is_reported_before_anything_is_stored(
    service: FakeService, talk: str, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text('[{"role": "user", "content": "x"}, {"role": "human"}]', encoding="utf-8")
    result = run(service, "import", talk, str(bad))
    assert result.exit_code == 1
    assert result.stdout == ""
    assert f"Error: {bad}, item 2: must be an object whose 'role'" in result.stderr
    assert service.requests == []


@pytest.mark.parametrize(
    ("text", "problem"), [("[]", "no messages to import"), ("[[]]", "no messages to import")]
)
def test_a_file_without_messages_is_reported(
    service: FakeService, tmp_path: Path, text: str, problem: str
) -> None:
    path = tmp_path / "chat.json"
    path.write_text(text, encoding="utf-8")
    result = run(service, "import", str(path), "--format", "openai")
    assert (result.exit_code, result.stdout) == (1, "")
    assert problem in result.stderr


def test_two_files_that_would_become_one_session_are_refused(service: FakeService, talk: str) -> None:
    result = run(service, "import", talk, talk)
    assert result.exit_code == 1
    assert "a second session talk-7-session-2: give one of the two conversations another id" in result.stderr
    assert service.requests == []


def test_failed_sessions_and_tasks_are_counted_and_named(
    service: FakeService, talk: str, tmp_path: Path
) -> None:
    path = tmp_path / "chat.json"
    path.write_text('[{"role": "user", "content": "refuse me"}]', encoding="utf-8")
    service.task_error = "no quote found"
    result = run(service, "--json", "import", talk, str(path))
    assert result.exit_code == 1
    summary = json.loads(result.stdout)
    assert summary["sessions"] == 2
    assert summary["tasks"] == {"started": 2, "completed": 0, "failed": 2}
    assert {failure["session_id"] for failure in summary["failures"]} == {
        CHAT,
        "talk-7-session-2",
        "talk-7-session-10",
    }
    assert "failed: no quote found" in result.stderr
    refusal = "INVALID_ARGUMENT: messages.0.content: refused"
    assert f"{CHAT}: {path}, item 1: {refusal}" in result.stderr


def test_tasks_that_do_not_end_in_time_are_named(service: FakeService, talk: str) -> None:
    service.polls = 1_000_000
    result = run(service, "import", talk, "--timeout", "0")
    assert result.exit_code == 1
    assert "2 unfinished" in result.stdout
    assert result.stdout.endswith("messages/s; 2 failures\n")
    assert "task-1 has not ended yet" in result.stderr


def test_import_waits_for_the_archives_of_earlier_runs(service: FakeService, talk: str) -> None:
    run(service, "import", talk, "--no-wait")
    session = service.sessions["self", "talk-7-session-2"]
    session.pending_polls = 3
    summary = document(service, "import", talk)
    assert (summary["tasks"]["started"], session.pending_polls) == (0, 0)
    session.pending_polls = 1_000_000
    assert document(service, "import", talk, "--no-wait")["archives"] == {}


def test_archives_that_are_pending_or_failed_are_counted_and_named(service: FakeService, talk: str) -> None:
    run(service, "import", talk, "--no-wait")
    service.sessions["self", "talk-7-session-2"].pending_polls = 1_000_000
    service.sessions["self", "talk-7-session-10"].failed = 2
    result = run(service, "import", talk, "--timeout", "0")
    assert result.exit_code == 1
    assert "archives: 1 unfinished, 2 failed; " in result.stdout
    assert result.stdout.endswith("; 2 failures\n")
    assert "talk-7-session-2: 1 archive still pending" in result.stderr
    assert "talk-7-session-10: 2 archives failed" in result.stderr


def test_one_is_not_many(service: FakeService, tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_text('[{"role": "user", "content": "hello"}]', encoding="utf-8")
    assert run(service, "import", str(path)).stdout.startswith("1 session, 1 message stored, 0 duplicates; ")
    assert ", 1 duplicate; " in run(service, "import", str(path)).stdout


def test_a_conversation_keeps_its_id_in_any_file(service: FakeService, tmp_path: Path) -> None:
    hello, answer = {"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}
    for name, messages in [("a.json", [hello]), ("b.json", [hello, answer])]:
        (tmp_path / name).write_text(json.dumps({"id": "w", "messages": messages}), encoding="utf-8")
    run(service, "import", str(tmp_path / "a.json"))
    summary = document(service, "import", str(tmp_path / "b.json"))
    assert (summary["messages_stored"], summary["duplicates"]) == (1, 1)
    both = run(service, "import", str(tmp_path / "a.json"), str(tmp_path / "b.json"))
    assert (both.exit_code, "a second session w" in both.stderr) == (1, True)


def test_files_of_one_name_are_sessions_and_users_of_their_own(service: FakeService, tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    for text in ("hello", "good evening"):
        path.write_text(json.dumps([{"role": "user", "content": text}]), encoding="utf-8")
        assert document(service, "import", str(path), "--user-per-conversation")["messages_stored"] == 1
    assert len(service.sessions) == len({user for user, _ in service.sessions}) == 2


def test_the_tour_is_session_weekend(service: FakeService) -> None:
    document(service, "import", str(Path(__file__).parents[3] / "docs" / "tour.json"))
    assert list(service.sessions) == [("self", "weekend")]


def test_a_session_prefix_makes_no_id_that_is_refused(service: FakeService, talk: str) -> None:
    document(service, "import", talk, "--session-prefix", "a/" + "b" * 128)
    ids = [session_id for _, session_id in service.sessions]
    assert [(len(i), i.startswith("a-bbb")) for i in ids] == [(128, True)] * 2
    assert len(set(ids)) == 2


def test_a_missing_file_and_an_unknown_format_are_misuse(service: FakeService, talk: str) -> None:
    assert run(service, "import", "nowhere.json").exit_code == 2
    assert run(service, "import", talk, "--format", "xml").exit_code == 2
    assert run(service, "import").exit_code == 2
