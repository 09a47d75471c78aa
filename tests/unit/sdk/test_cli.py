import json
from collections.abc import Sequence

import pytest

from strandline_sdk.cli.output import for_terminal
from tests.unit.sdk.commands import document, run
from tests.unit.sdk.fake_service import FRONT, MEMORY, MEMORY_HIT, FakeService, failure

# ---- search


def test_search_shows_score_place_line_and_sources(service: FakeService) -> None:
    assert run(service, "search", "bowl").stdout.splitlines() == [
        "  7.12  viking://user/mia/memories/events/2024/03/02/pottery.md",
        "        Mia fired her first bowl on 1 March 2024.",
        "        talk-1 seq 3-5; talk-2 seq 1",
    ]
    assert run(service, "search", "kiln").stdout == "nothing found\n"


def test_search_in_messages_shows_no_control_characters(service: FakeService) -> None:
    result = run(service, "search", "bowl", "--messages", "--session", "talk-1", "--limit", "3")
    assert result.stdout.splitlines() == [
        "  4.20  viking://user/mia/sessions/talk-1/messages/3",
        "        Mia: I fired my first \ufffd[31mbowl",
        "        talk-1 seq 3, 2024-03-02 09:30",
    ]
    sent = json.loads(service.requests[0].content)
    assert sent == {"query": "bowl", "context_type": "message", "session_id": "talk-1", "limit": 3}


def test_search_narrowed(service: FakeService) -> None:
    arguments = ["--type", "events", "--since", "2024-01-01T00:00:00Z", "--until", "2025-01-01T00:00:00Z"]
    found = document(service, "search", "bowl", *arguments)
    assert found == {"memories": [MEMORY_HIT], "resources": [], "skills": [], "total": 1}
    sent = json.loads(service.requests[0].content)
    assert sent == {
        "query": "bowl",
        "limit": 10,
        "filter": {"type": "events"},
        "since": "2024-01-01T00:00:00Z",
        "until": "2025-01-01T00:00:00Z",
    }


def test_a_session_to_search_goes_with_messages(service: FakeService) -> None:
    result = run(service, "search", "bowl", "--session", "talk-1")
    assert result.exit_code == 2
    assert "--session goes with --messages" in result.stderr


# ---- memories


def test_memories_are_listed_and_printed(service: FakeService) -> None:
    assert run(service, "memories", "ls", "events/").stdout == (
        "2024-03-02 09:30  events        events/2024/03/02/pottery.md\n"
    )
    assert run(service, "memories", "cat", str(MEMORY["path"])).stdout == FRONT + str(MEMORY["content"])
    assert run(service, "memories", "cat", str(MEMORY["uri"])).stdout == FRONT + str(MEMORY["content"])


def test_a_memory_is_printed_byte_for_byte(service: FakeService) -> None:
    content = "red \x1b[31m text\r\nwithout an end"
    service.memories[0]["content"] = content
    assert (
        run(service, "memories", "cat", str(MEMORY["path"])).stdout_bytes == FRONT.encode() + content.encode()
    )


def test_a_memory_cannot_steer_a_terminal() -> None:
    assert for_terminal("# 陶芸 🏺\r\n\tred \x1b[31m\x07 text\n") == "# 陶芸 🏺\n\tred \ufffd[31m\ufffd text"


def test_memories_as_json(service: FakeService) -> None:
    assert document(service, "memories", "ls", "--type", "profile") == []
    assert document(service, "memories", "ls") == [MEMORY]
    assert document(service, "memories", "cat", str(MEMORY["path"])) == MEMORY


# ---- sessions, send, commit, tasks


def test_a_session_from_the_first_message_to_its_archive(service: FakeService) -> None:
    sent = run(service, "send", "talk", "I fired a bowl", "--peer", "Mia")
    assert sent.stdout == "talk seq 1: 1 uncommitted messages, 7 tokens\n"
    assert service.sessions["self", "talk"].messages[0]["peer_id"] == "Mia"
    committed = run(service, "commit", "talk", "--wait")
    assert committed.stdout.splitlines() == [
        "committed as viking://x",
        "task-1  session_commit  talk",
        "completed  stage merge  attempts 1",
        'memories: {"total": 2}',
    ]
    assert run(service, "commit", "talk").stdout == "nothing to commit: no_messages\n"
    shown = run(service, "sessions", "show", "talk").stdout.splitlines()
    assert "1 messages, 0 of them live (0 tokens)" in shown
    assert shown[-1] == "1 commits; archives: 0 pending, 1 completed, 0 failed"
    assert "  talk" in run(service, "sessions").stdout


def test_sessions_as_json(service: FakeService) -> None:
    assert document(service, "sessions") == []
    service.page = 2
    for name in ("a", "b", "c"):
        assert document(service, "send", name, "hello", "--role", "assistant")["seq"] == 1
    assert [session["session_id"] for session in document(service, "sessions")] == ["c", "b", "a"]
    assert [session["session_id"] for session in document(service, "sessions", "--limit", "2")] == ["c", "b"]
    assert document(service, "sessions", "show", "a")["session_id"] == "a"
    assert document(service, "commit", "a")["task_id"] == "task-1"
    assert document(service, "commit", "b", "--wait")["task"]["status"] == "completed"
    assert document(service, "tasks", "show", "task-1")["status"] == "completed"


def test_a_failed_task_is_exit_code_1(service: FakeService) -> None:
    service.task_error = "no quote found"
    run(service, "send", "talk", "hello")
    result = run(service, "commit", "talk", "--wait")
    assert result.exit_code == 1
    assert "error: no quote found" in result.stdout
    assert "task task-1 failed" in result.stderr


# ---- all commands


COMMANDS: Sequence[Sequence[str]] = [
    ("search", "bowl"),
    ("memories", "ls"),
    ("memories", "cat", "profile.md"),
    ("sessions",),
    ("sessions", "show", "a"),
    ("send", "a", "hello"),
    ("commit", "a"),
    ("tasks", "show", "t"),
]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_refusal_goes_to_stderr_with_exit_code_1(
    service: FakeService, command: Sequence[str], options: Sequence[str]
) -> None:
    result = run(service, *options, *command, key="sesame")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "Error: UNAUTHENTICATED: send a valid key (request r-1)\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_no_key_is_misuse(service: FakeService, command: Sequence[str]) -> None:
    result = run(service, *command, key=None)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "no key: set STRANDLINE_KEY or give --key" in result.stderr


@pytest.mark.parametrize("key", ["sesame", "ses\name"])
def test_the_key_is_never_printed(service: FakeService, talk: str, key: str) -> None:
    for command in (*COMMANDS, ("import", talk), ("--help",)):
        result = run(service, *command, key=key)
        assert "ses" not in (result.output + str(result.exception)).replace("session", "")


@pytest.mark.parametrize(
    "arguments", [("--json", "memories", "ls"), ("memories", "--json", "ls"), ("memories", "ls", "--json")]
)
def test_json_in_any_position(service: FakeService, arguments: Sequence[str]) -> None:
    assert json.loads(run(service, *arguments).stdout) == [MEMORY]


def test_options_name_service_and_identity(service: FakeService) -> None:
    run(service, "--url", "http://other:1", "--key", "good", "--account", "acme", "--user", "mia", "sessions")
    (request,) = service.requests
    assert request.url.host == "other"
    assert (request.headers["X-Strandline-Account"], request.headers["X-Strandline-User"]) == ("acme", "mia")
    assert run(service, "--url", "nowhere", "sessions").exit_code == 2


def test_a_service_that_asks_for_too_much_patience_is_an_error(service: FakeService) -> None:
    service.failures.append(failure(429, "RESOURCE_EXHAUSTED", retry_after="3600"))
    result = run(service, "sessions")
    assert (result.exit_code, result.stderr) == (1, "Error: RESOURCE_EXHAUSTED: not now (request r-1)\n")


def test_a_busy_service_is_asked_again(service: FakeService) -> None:
    service.failures.append(failure(503, "UNAVAILABLE"))
    assert run(service, "memories", "ls").exit_code == 0
