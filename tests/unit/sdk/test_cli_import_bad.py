"""Imports that meet something that cannot be imported, or that are interrupted."""

import gzip
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.unit.sdk.commands import document, run
from tests.unit.sdk.fake_answers import failure, refusal
from tests.unit.sdk.fake_service import ROUTES, FakeService

LARGE = "x" * (1024 * 1024 + 1)


def chat(path: Path, *messages: Any) -> str:
    path.write_text(json.dumps([{"id": path.stem, "messages": list(messages)}]), encoding="utf-8")
    return str(path)


def say(text: str, **fields: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **fields}


def stored(service: FakeService, session_id: str) -> list[str]:
    return [message["content"] for message in service.sessions["self", session_id].messages]


@pytest.fixture
def mixed(tmp_path: Path) -> str:
    """Two good messages and two that cannot be imported."""
    return chat(tmp_path / "mixed.json", say("a"), {"role": "human"}, say("b"), say("c", created_at="soon"))


def test_everything_bad_is_named_and_nothing_is_stored(service: FakeService, mixed: str, talk: str) -> None:
    result = run(service, "import", mixed, talk)
    assert (result.exit_code, result.stdout) == (1, "")
    first, second, advice = result.stderr.splitlines()
    assert first.startswith(f"Error: {mixed}, item 1, message 2: must be an object whose 'role'")
    assert second.startswith(f"{mixed}, item 1, message 4, created_at: 'soon' is no time")
    assert advice == "nothing was stored; mend what is named, or leave it out with --skip-bad"
    assert service.requests == []


def test_bad_things_are_skipped_on_request_and_named(service: FakeService, mixed: str, talk: str) -> None:
    result = run(service, "import", mixed, talk, "--skip-bad")
    assert result.exit_code == 0
    assert result.stdout.startswith("3 sessions, 5 messages stored, 0 duplicates; ")
    assert "; 2 skipped; " in result.stdout
    assert [line.partition(":")[0] for line in result.stderr.splitlines()] == ["skipped", "skipped"]
    assert stored(service, "mixed") == ["a", "b"]


def test_what_was_skipped_is_in_the_document(service: FakeService, mixed: str) -> None:
    result = run(service, "--json", "import", mixed, "--skip-bad")
    skipped = json.loads(result.stdout)["skipped"]
    assert [line.partition(":")[0] for line in skipped] == [
        f"{mixed}, item 1, message 2",
        f"{mixed}, item 1, message 4, created_at",
    ]


def test_mended_messages_are_added_by_a_later_import(
    service: FakeService, mixed: str, tmp_path: Path
) -> None:
    run(service, "import", mixed, "--skip-bad")
    chat(tmp_path / "mixed.json", say("a"), say("mended"), say("b"))
    assert document(service, "import", mixed)["messages_stored"] == 1
    assert stored(service, "mixed") == ["a", "b", "mended"]


def test_of_many_problems_the_first_are_shown(service: FakeService, tmp_path: Path) -> None:
    path = chat(tmp_path / "bad.json", *[{"role": "human"}] * 50, say("a"))
    lines = run(service, "import", path).stderr.splitlines()
    assert (len(lines), lines[20]) == (22, "and 30 others")
    assert len(json.loads(run(service, "--json", "import", path, "--skip-bad").stdout)["skipped"]) == 50


def test_nothing_but_bad_things_is_an_error(service: FakeService, tmp_path: Path) -> None:
    result = run(service, "import", chat(tmp_path / "bad.json", {"role": "human"}), "--skip-bad")
    assert (result.exit_code, service.requests) == (1, [])
    assert "no messages to import" in result.stderr


def test_a_second_session_of_one_id_is_skipped_on_request(service: FakeService, talk: str) -> None:
    result = run(service, "import", talk, talk, "--skip-bad")
    assert (result.exit_code, "2 sessions, 3 messages" in result.stdout) == (0, True)
    assert result.stderr.count("a second session talk-7-session-") == 2


# ---- sizes


def test_a_message_that_is_too_large_is_named_before_anything_is_stored(
    service: FakeService, tmp_path: Path
) -> None:
    path = chat(tmp_path / "large.json", say("a"), say(LARGE), say("b"))
    result = run(service, "import", path)
    assert (result.exit_code, service.requests) == (1, [])
    assert (
        f"{path}, item 1, message 2: holds 1,048,577 bytes of text, and a message may hold 1,048,576: split it"
        in (result.stderr)
    )
    assert run(service, "import", path, "--skip-bad").stdout.startswith("1 session, 2 messages stored")


@pytest.mark.parametrize(
    ("message", "fits"),
    [
        (say(LARGE[1:]), True),
        (say("木" * 349_526), False),  # 1,048,578 bytes
        ({"role": "tool", "tool_call_id": "1", "content": LARGE}, True),  # stored beside its message
        (
            {"role": "tool", "tool_call_id": "1", "content": "x" * (6 * 1024 * 1024)},
            False,
        ),  # no request holds it
        ({"role": "user", "content": [{"type": "text", "text": LARGE[:700_000]}] * 2}, False),
        (
            {
                "role": "assistant",
                "tool_calls": [{"function": {"name": "f", "arguments": json.dumps(LARGE)}}],
            },
            False,
        ),
    ],
)
def test_how_large_a_message_may_be(service: FakeService, tmp_path: Path, message: Any, fits: bool) -> None:
    result = run(service, "import", chat(tmp_path / "large.json", message))
    assert result.exit_code == (0 if fits else 1), result.stderr
    assert len(service.sessions) == fits


def test_no_request_holds_more_than_6_mib_or_100_messages(service: FakeService, tmp_path: Path) -> None:
    messages = [say("x" * 900_000, n=n) for n in range(20)] + [say("y", n=n) for n in range(250)]
    document(service, "import", chat(tmp_path / "many.json", *messages))
    appends = [request for request in service.requests if request.url.path.endswith("/batch")]
    assert max(len(request.content) for request in appends) < 6 * 1024 * 1024
    assert max(len(json.loads(request.content)["messages"]) for request in appends) == 100
    assert len(service.sessions["self", "many"].messages) == 270


# ---- refused by the service


def test_a_message_that_the_service_refuses_is_named_with_its_place(
    service: FakeService, tmp_path: Path
) -> None:
    path = chat(tmp_path / "chat.json", say("a"), say("refuse me"), say("b"))
    result = run(service, "import", path)
    assert result.exit_code == 1
    assert f"chat: {path}, item 1, message 2: INVALID_ARGUMENT: messages.1.content: refused" in result.stderr


def test_a_message_that_the_service_refuses_is_skipped_on_request(
    service: FakeService, tmp_path: Path
) -> None:
    path = chat(tmp_path / "chat.json", say("a"), say("refuse me"), say("b"))
    result = run(service, "--json", "import", path, "--skip-bad")
    assert (result.exit_code, stored(service, "chat")) == (0, ["a", "b"])
    summary = json.loads(result.stdout)
    assert (summary["messages_stored"], summary["duplicates"], len(summary["skipped"])) == (2, 0, 1)
    assert "item 1, message 2: INVALID_ARGUMENT" in result.stderr


def test_a_refusal_of_size_names_the_message_by_its_id(service: FakeService, tmp_path: Path) -> None:
    path = chat(tmp_path / "chat.json", say("a"), say("b"))
    run(service, "import", path)
    message_id = service.sessions["self", "chat"].messages[1]["id"]
    service.sessions.clear()
    status, envelope = refusal(413, "PAYLOAD_TOO_LARGE", "too large", {"message_id": message_id})
    missing = refusal(404, "NOT_FOUND", "no such session")
    service.failures.extend(
        [httpx.Response(missing[0], json=missing[1]), httpx.Response(status, json=envelope)]
    )
    result = run(service, "import", path, "--skip-bad")
    assert (result.exit_code, stored(service, "chat")) == (0, ["a"])
    assert f"skipped: {path}, item 1, message 2: PAYLOAD_TOO_LARGE" in result.stderr


# ---- stdin and packed files


def test_stdin_is_read(service: FakeService) -> None:
    result = run(service, "import", "-", stdin=b"Anna: I fired a bowl\nBen: Which glaze?\n")
    assert (result.exit_code, result.stdout[:26]) == (0, "1 session, 2 messages stor")
    ((_, session_id),) = service.sessions
    assert session_id.startswith("stdin-1-")
    bad = run(service, "import", "-", "--format", "openai", stdin=b'{"role": "human"}\n{"role": "user"}\n')
    assert "Error: stdin, line 1: must be an object" in bad.stderr


def test_a_packed_file_is_read(service: FakeService, tmp_path: Path) -> None:
    path = tmp_path / "chat.txt.gz"
    path.write_bytes(gzip.compress(b"user: hello\nassistant: hi\n"))
    assert document(service, "import", str(path))["messages_stored"] == 2


# ---- interrupted


@pytest.fixture
def long(tmp_path: Path) -> str:
    return chat(tmp_path / "long.json", *[say(str(n)) for n in range(1500)])


def ended_after(service: FakeService, requests: int) -> None:
    """Answers no request after so many."""
    original = service.handle_request

    def handle(request: httpx.Request) -> httpx.Response:
        if len(service.requests) >= requests:
            raise KeyboardInterrupt
        return original(request)

    service.handle_request = handle  # type: ignore[method-assign]


def test_an_interrupted_import_says_how_to_go_on(service: FakeService, long: str) -> None:
    ended_after(service, 6)
    result = run(service, "import", long)
    assert (result.exit_code, result.stdout) == (130, "")
    assert result.stderr == (
        "Error: interrupted; what is stored stays: the same command with --resume goes on from there\n"
    )
    assert len(service.sessions["self", "long"].messages) == 500


def test_a_resumed_import_sends_only_what_is_missing(service: FakeService, long: str) -> None:
    ended_after(service, 13)
    run(service, "import", long)
    del service.handle_request  # type: ignore[method-assign]
    service.requests.clear()
    summary = document(service, "import", long, "--resume")
    assert (summary["messages_stored"], summary["duplicates"]) == (300, 1200)
    assert service.paths("POST") == ["/api/v1/sessions/long/messages/batch"] * 3 + [
        "/api/v1/sessions/long/commit"
    ]
    assert stored(service, "long") == [str(n) for n in range(1500)]


def test_a_complete_import_resumed_writes_nothing(service: FakeService, long: str, talk: str) -> None:
    run(service, "import", long, talk)
    service.requests.clear()
    summary = document(service, "import", long, talk, "--resume")
    assert (summary["sessions"], summary["messages_stored"], summary["duplicates"]) == (3, 0, 1503)
    assert service.paths("POST") == []


def test_what_is_stored_but_not_committed_is_committed(service: FakeService, long: str) -> None:
    run(service, "import", long, "--no-commit")
    assert document(service, "import", long, "--resume")["tasks"]["completed"] == 1


def test_a_request_of_the_interrupted_import_that_lands_late_adds_nothing(
    service: FakeService, long: str
) -> None:
    """It lands after the resumed import has asked what is there: the service recognises its ids."""
    run(service, "import", long, "--no-commit")
    messages = service.sessions["self", "long"].messages
    late, messages[900:] = messages[900:1000], []
    original = service._log

    def landing(request: httpx.Request, session_id: str) -> Any:
        answer = original(request, session_id)
        if len(messages) == 900:
            messages.extend(late)
        return answer

    routes = [
        (method, pattern, (lambda _, *given: landing(*given)) if handler is FakeService._log else handler)
        for method, pattern, handler in ROUTES
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.unit.sdk.fake_service.ROUTES", routes)
        summary = document(service, "import", long, "--resume")
    assert (summary["messages_stored"], summary["duplicates"]) == (500, 1000)
    assert stored(service, "long") == [str(n) for n in range(1500)]


def test_a_service_that_goes_away_is_told_with_how_to_go_on(service: FakeService, long: str) -> None:
    service.failures.extend(failure(503, "UNAVAILABLE", retry_after="3600") for _ in range(9))
    result = run(service, "import", long)
    assert (result.exit_code, result.stdout) == (1, "")
    assert (
        "Error: UNAVAILABLE: not now (request r-1)\nwhat is stored stays: the same command with --resume"
        in (result.stderr)
    )
