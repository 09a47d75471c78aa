import json
from pathlib import Path

import pytest

from tests.unit.sdk.commands import document, run
from tests.unit.sdk.fake_service import FakeService


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
    assert "a second session talk-7-session-2: import this file with a --session-prefix" in result.stderr
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
        "chat-1",
        "talk-7-session-2",
        "talk-7-session-10",
    }
    assert "failed: no quote found" in result.stderr
    assert "chat-1: INVALID_ARGUMENT: messages.0.content: refused" in result.stderr


def test_tasks_that_do_not_end_in_time_are_named(service: FakeService, talk: str) -> None:
    service.polls = 1_000_000
    result = run(service, "import", talk, "--timeout", "0")
    assert result.exit_code == 1
    assert "2 unfinished" in result.stdout
    assert result.stdout.endswith("messages/s; 2 failures\n")
    assert "its task has not ended yet" in result.stderr


def test_a_missing_file_and_an_unknown_format_are_misuse(service: FakeService, talk: str) -> None:
    assert run(service, "import", "nowhere.json").exit_code == 2
    assert run(service, "import", talk, "--format", "xml").exit_code == 2
    assert run(service, "import").exit_code == 2
