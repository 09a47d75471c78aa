import json
import runpy
import sys
from collections.abc import Sequence

import pytest

from tests.unit.sdk.commands import document, run
from tests.unit.sdk.fake_service import MEMORY, MEMORY_HIT, FakeService, Session, failure

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


OWN = {**MEMORY_HIT, "sources": []}


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("- I fire\tat cone 6", "I fire at cone 6"),
        ("  * [x] done", "[x] done"),
        ("## Glazes", "Glazes"),
        ("-5 °C outside", "-5 °C outside"),
        ("#glaze", "#glaze"),
        ("- a - b", "a - b"),
    ],
)
def test_a_line_of_ones_own_has_no_source_and_no_mark(service: FakeService, line: str, shown: str) -> None:
    service.hits = [{**OWN, "abstract": line}]
    assert run(service, "search", "bowl").stdout.splitlines()[1:] == [f"        {shown}"]
    assert document(service, "search", "bowl")["memories"][0]["abstract"] == line


# ---- sessions, send, commit, tasks


def test_a_session_from_the_first_message_to_its_archive(service: FakeService) -> None:
    sent = run(service, "send", "talk", "I fired a bowl", "--peer", "Mia")
    assert sent.stdout == "talk seq 1: 1 uncommitted message, 7 tokens\n"
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
    assert "1 message, 0 of them live (0 tokens)" in shown
    assert shown[-1] == "1 commit; archives: 0 pending, 1 completed, 0 failed"
    assert "  talk" in run(service, "sessions").stdout


def test_a_session_that_commits_itself(service: FakeService) -> None:
    made = run(service, "sessions", "create", "talk", "--policy", "message_count_threshold=20")
    assert made.stdout.splitlines() == [
        "talk  viking://user/self/sessions/talk",
        "commits itself: message_count_threshold=20",
    ]
    assert document(service, "sessions", "create", "a", "--auto-commit")["auto_commit_policy"] == {}
    assert document(service, "sessions", "create", "b", "--never-commit")["auto_commit_policy"] is None
    assert "auto_commit_policy" not in document(service, "sessions", "create", "c")


def test_a_policy_that_cannot_be_meant(service: FakeService) -> None:
    refused = run(service, "sessions", "create", "talk", "--policy", "idle_timeout_seconds=soon")
    assert (refused.exit_code, "idle_timeout_seconds=20" in refused.stderr) == (2, True)
    refused = run(service, "sessions", "create", "talk", "--never-commit", "--auto-commit")
    assert refused.exit_code == 2
    assert service.sessions == {}


def test_a_message_may_come_from_stdin(service: FakeService) -> None:
    assert run(service, "send", "talk", "-", stdin="\ufeffzwei\nZeilen\n".encode()).exit_code == 0
    assert service.sessions["self", "talk"].messages[0]["content"] == "zwei\nZeilen\n"
    refused = run(service, "send", "talk", "-", stdin=b"caf\xe9")
    assert (refused.exit_code, "not UTF-8 (byte 3)" in refused.stderr) == (1, True)


def test_a_commit_waits_for_earlier_ones_too(service: FakeService) -> None:
    run(service, "send", "talk", "hello")
    run(service, "commit", "talk")
    service.sessions["self", "talk"].pending_polls = 2
    assert run(service, "commit", "talk", "--wait").exit_code == 0
    assert service.sessions["self", "talk"].pending_polls == 0
    service.sessions["self", "talk"].failed = 1
    result = run(service, "commit", "talk", "--wait")
    assert (result.exit_code, result.stdout) == (1, "nothing to commit: no_messages\n")
    assert result.stderr == "Error: 1 archive failed\n"


def test_a_session_is_deleted(service: FakeService) -> None:
    run(service, "send", "talk", "hello")
    assert run(service, "sessions", "delete", "talk").stdout == "deleted talk; erased: 2 objects, 1 task\n"
    assert service.sessions == {}


def test_the_log_is_printed_a_line_a_message(service: FakeService) -> None:
    parts = [
        {"type": "text", "text": "Let me\nlook."},
        {"type": "tool", "tool_id": "c1", "tool_name": "kiln", "tool_status": "pending"},
        {"type": "tool", "tool_id": "c1", "tool_output": "1222 °C"},
        {"type": "context", "uri": "viking://x", "abstract": "Glazes"},
        {"type": "image_url", "image_url": {"url": "https://example.org/b.png"}},
    ]
    at = "2024-03-02T09:30:00.000Z"
    first = {"seq": 1, "role": "user", "peer_id": "Mia", "content": "hot \x1b[31m?", "created_at": at}
    second = {"seq": 2, "role": "assistant", "parts": parts, "created_at": at}
    service.sessions["self", "talk"] = Session([first, second])
    said = "Let me look. [kiln pending] [c1] 1222 °C [viking://x] Glazes [image_url]"
    assert run(service, "sessions", "messages", "talk").stdout.splitlines() == [
        "    1  2024-03-02 09:30  Mia: hot \ufffd[31m?",
        f"    2  2024-03-02 09:30  assistant: {said}",
    ]
    assert document(service, "sessions", "messages", "talk", "--after", "1") == [second]
    assert document(service, "sessions", "messages", "talk", "--limit", "1") == [first]


def test_sessions_as_json(service: FakeService) -> None:
    assert document(service, "sessions") == []
    service.page = 2
    for name in ("a", "b", "c"):
        assert document(service, "send", name, "hello", "--role", "assistant")["seq"] == 1
    assert [session["session_id"] for session in document(service, "sessions")] == ["c", "b", "a"]
    assert [session["session_id"] for session in document(service, "sessions", "--limit", "2")] == ["c", "b"]
    assert [s["session_id"] for s in document(service, "sessions", "ls", "--limit", "2")] == ["c", "b"]
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
    ("memories", "rm", "profile.md"),
    ("memories", "put", "profile.md"),
    ("sessions",),
    ("sessions", "show", "a"),
    ("sessions", "messages", "a"),
    ("sessions", "delete", "a"),
    ("send", "a", "hello"),
    ("commit", "a"),
    ("context", "a"),
    ("tasks", "show", "t"),
    ("tasks", "ls"),
    ("tasks", "retry", "t"),
    ("tasks", "cancel", "t"),
    ("watch", "a"),
    ("watch", "--journal"),
    ("remember", "The boat is green."),
    ("recall",),
    ("recall", "boat"),
]


COMMAND_NAMES = {"bench", "import", "rebuild", "scrub", "train", *(command[0] for command in COMMANDS)}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_refusal_goes_to_stderr_with_exit_code_1(
    service: FakeService, command: Sequence[str], options: Sequence[str]
) -> None:
    result = run(service, *options, *command, key="sesame")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        "Error: UNAUTHENTICATED: send a valid key (request r-1)\n"
        "that is not a key of the service at http://test: see STRANDLINE_URL and STRANDLINE_KEY\n"
    )


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
    where = ("--url", "http://other:1", "--key", "good")
    run(service, *where, "--account", "acme", "--user", "mia", "--actor-peer", "Ben", "sessions")
    (request,) = service.requests
    assert request.headers["X-Strandline-Actor-Peer"] == "Ben"
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


@pytest.mark.parametrize(
    "command",
    [
        (),
        ("import",),
        ("watch",),
        ("tasks", "ls"),
        ("sessions",),
        ("commit",),
        ("train",),
        ("bench", "locomo"),
    ],
)
def test_help_needs_no_key_and_fits_a_terminal(service: FakeService, command: Sequence[str]) -> None:
    result = run(service, *command, "--help", key=None)
    assert (result.exit_code, service.requests) == (0, [])
    assert max(map(len, result.stdout.splitlines())) <= 100
    assert "\b" not in result.stdout


def test_every_command_is_explained_in_a_whole_sentence(service: FakeService) -> None:
    listed = run(service, "--help").stdout.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()
    assert [line.split()[0] for line in listed] == sorted(COMMAND_NAMES)
    assert all(line.endswith(".") and not line.endswith("...") for line in listed)


def test_the_command_line_is_a_module_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["strandline", "--help"])
    with pytest.raises(SystemExit, match="0"):
        runpy.run_module("strandline_sdk.cli", run_name="__main__")
    assert "Agent memory" in capsys.readouterr().out
