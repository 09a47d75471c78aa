import json
from pathlib import Path
from typing import Any

import pytest

from strandline_sdk.importers import InputError, read_sessions
from strandline_sdk.model import Message
from tests.unit.sdk.chats import HELLO, OPENING, imported


def message_of(tmp_path: Path, *messages: dict[str, Any]) -> Message:
    """The last of the messages as imported, without its id."""
    last = imported(tmp_path, list(messages))[0].messages[-1]
    assert last["id"].startswith(f"{len(messages):06d}-")
    del last["id"]
    return last


# ---- containers


def test_messages_a_conversation_and_lists_of_them(tmp_path: Path) -> None:
    answer = {"role": "assistant", "content": "Cobalt."}
    (bare,) = imported(tmp_path, [HELLO, answer])
    assert bare.session_id == bare.conversation == f"chat-1-{OPENING}"
    assert [(m["role"], m["content"]) for m in bare.messages] == [
        ("user", "Which glaze is blue?"),
        ("assistant", "Cobalt."),
    ]
    assert imported(tmp_path, {"messages": [HELLO, answer]}) == [bare]
    for conversations in ([[HELLO], [answer]], [{"messages": [HELLO]}, {"messages": [answer]}]):
        first, second = imported(tmp_path, conversations)
        assert first.session_id == f"chat-1-{OPENING}"
        assert second.session_id.startswith("chat-2-")
        assert second.messages[0]["content"] == "Cobalt."


def test_json_lines_of_messages_are_one_session_of_conversations_many(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + b"\n\n".join(json.dumps(HELLO).encode() for _ in range(3)))
    (session,) = read_sessions(path)
    assert (session.session_id, len({m["id"] for m in session.messages})) == (f"log-1-{OPENING}", 3)
    path.write_text("".join(json.dumps({"messages": [HELLO]}) + "\n" for _ in range(3)), encoding="utf-8")
    ids = [session.session_id for session in read_sessions(path)]
    assert ids == [f"log-{n}-{OPENING}" for n in (1, 2, 3)]


def test_lines_are_read_only_when_they_are_needed(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text((json.dumps([HELLO]) + "\n") * 1000 + "broken", encoding="utf-8")
    sessions = read_sessions(path)
    assert next(sessions).session_id == f"log-1-{OPENING}"
    assert next(sessions).session_id == f"log-2-{OPENING}"
    with pytest.raises(InputError, match=r"log.jsonl, line 1001: not JSON at line 1, column 1"):
        list(sessions)


def test_an_empty_conversation_is_passed_over_but_counted(tmp_path: Path) -> None:
    sessions = imported(tmp_path, [{"messages": [HELLO]}, {"messages": []}, [HELLO]])
    assert [session.session_id for session in sessions] == [f"chat-{n}-{OPENING}" for n in (1, 3)]
    assert imported(tmp_path, []) == []


# ---- roles, names, times


@pytest.mark.parametrize(
    ("role", "stored"), [("developer", "system"), ("system", "system"), ("user", "user")]
)
def test_roles(tmp_path: Path, role: str, stored: str) -> None:
    assert message_of(tmp_path, {"role": role, "content": "x"}) == {"role": stored, "content": "x"}


def test_the_name_of_a_user_is_the_peer(tmp_path: Path) -> None:
    assert message_of(tmp_path, {**HELLO, "name": "Mia"})["peer_id"] == "Mia"
    assert "peer_id" not in message_of(tmp_path, {"role": "assistant", "content": "x", "name": "bot"})


@pytest.mark.parametrize(
    "time",
    [
        {"created_at": 1709371800},
        {"timestamp": 1709371800000},
        {"timestamp": "1709371800"},
        {"created_at": "2024-03-02T09:30:00+00:00"},
        {"created_at": "2024-03-02 09:30:00"},
        {"created_at": None, "timestamp": "2024-03-02T09:30:00Z"},
    ],
)
def test_times_are_kept(tmp_path: Path, time: dict[str, Any]) -> None:
    assert message_of(tmp_path, {**HELLO, **time})["created_at"] == "2024-03-02T09:30:00.000Z"
    (session,) = imported(tmp_path, [{"messages": [HELLO], **time}])
    assert session.messages[0]["created_at"] == "2024-03-02T09:30:00.000Z"


def test_the_offset_of_a_time_is_kept(tmp_path: Path) -> None:
    message = message_of(tmp_path, {**HELLO, "timestamp": "2024-03-02T00:30:00+05:30"})
    assert message["created_at"] == "2024-03-02T00:30:00.000+05:30"


def test_a_fraction_of_a_second_is_kept(tmp_path: Path) -> None:
    assert (
        message_of(tmp_path, {**HELLO, "timestamp": 1709371800.5})["created_at"] == "2024-03-02T09:30:00.500Z"
    )


# ---- content


def test_content_parts(tmp_path: Path) -> None:
    content = [
        {"type": "text", "text": "What is this?"},
        {"type": "text", "text": ""},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}},
        {"type": "input_image", "image_url": "https://example.org/b.png"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "input_audio", "input_audio": {"data": "AAAA"}},
        "and this",
    ]
    assert message_of(tmp_path, {"role": "user", "content": content}) == {
        "role": "user",
        "parts": [
            {"type": "text", "text": "What is this?"},
            {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}},
            {"type": "image_url", "image_url": {"url": "https://example.org/b.png"}},
            {"type": "text", "text": "[image]"},
            {"type": "text", "text": "[audio]"},
            {"type": "text", "text": "and this"},
        ],
    }


def test_tool_calls_and_their_results(tmp_path: Path) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "kiln", "arguments": '{"cone": 6}'}}
    odd = {"id": "call_2", "type": "function", "function": {"name": "kiln", "arguments": "cone six"}}
    asked = {"role": "assistant", "content": "Let me look.", "tool_calls": [call, odd]}
    assert message_of(tmp_path, asked) == {
        "role": "assistant",
        "parts": [
            {"type": "text", "text": "Let me look."},
            {
                "type": "tool",
                "tool_id": "call_1",
                "tool_name": "kiln",
                "tool_input": {"cone": 6},
                "tool_status": "pending",
            },
            {
                "type": "tool",
                "tool_id": "call_2",
                "tool_name": "kiln",
                "tool_input": "cone six",
                "tool_status": "pending",
            },
        ],
    }
    result = {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "1222 °C"}]}
    assert message_of(tmp_path, asked, result) == {
        "role": "tool",
        "parts": [
            {
                "type": "tool",
                "tool_id": "call_1",
                "tool_name": "kiln",
                "tool_output": "1222 °C",
                "tool_status": "completed",
            }
        ],
    }


def test_deprecated_function_calls(tmp_path: Path) -> None:
    asked = {"role": "assistant", "content": None, "function_call": {"name": "kiln", "arguments": "{}"}}
    assert message_of(tmp_path, asked)["parts"][0]["tool_id"] == "kiln"  # type: ignore[typeddict-item]
    result = message_of(tmp_path, asked, {"role": "function", "name": "kiln", "content": "hot"})
    assert result["parts"][0]["tool_id"] == "kiln"  # type: ignore[typeddict-item]


def test_a_message_that_says_nothing_is_passed_over(tmp_path: Path) -> None:
    (session,) = imported(
        tmp_path, [HELLO, {"role": "assistant", "content": None}, {"role": "user", "content": ""}]
    )
    assert len(session.messages) == 1


def test_a_refusal_is_what_the_assistant_said(tmp_path: Path) -> None:
    refused = {"role": "assistant", "content": None, "refusal": "I cannot."}
    assert message_of(tmp_path, refused)["parts"] == [{"type": "text", "text": "I cannot."}]


def test_surrogates_are_joined_or_replaced(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_bytes(rb'[{"role": "user", "content": "\ud83c\udffa and \ud83c"}]')
    (session,) = read_sessions(path)
    assert session.messages[0]["content"] == "🏺 and \ufffd"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (
            {"type": "hologram"},
            r"message 2, content part 1: cannot import type 'hologram': remove the part or",
        ),
        ({"type": "text"}, r"content part 1: 'text' must be a string"),
        ({"type": "image_url", "image_url": {}}, r"content part 1: 'image_url' must hold a 'url'"),
        (7, r"content part 1: cannot import type ''"),
    ],
)
def test_bad_parts_are_reported(tmp_path: Path, content: object, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        imported(tmp_path, [[HELLO, {"role": "user", "content": [content]}]])


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        (
            {"role": "human", "content": "x"},
            r"item 2: must be an object whose 'role' is one of user, assistant",
        ),
        ("hello", r"item 2: must be an object whose 'role'"),
        ({"role": "user", "content": 7}, r"item 2: 'content' must be a string, a list of parts or null"),
        ({**HELLO, "created_at": "soon"}, r"item 2, created_at: 'soon' is no time: give an epoch or"),
        ({**HELLO, "created_at": True}, r"created_at: True is no time"),
        ({**HELLO, "created_at": 10**18}, r"is no time"),
        ({**HELLO, "name": "a/b"}, r"item 2: speaker 'a/b' cannot name a peer"),
        ({"role": "assistant", "tool_calls": [{"id": "1"}]}, r"item 2, tool call 1: must hold a 'function'"),
    ],
)
def test_bad_messages_are_reported(tmp_path: Path, message: object, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        imported(tmp_path, [HELLO, message])


def test_an_item_that_is_no_conversation_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"item 2: no conversation: a list of messages or"):
        imported(tmp_path, [[HELLO], {"title": "x"}])


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "the file is empty"),
        (b" \n", "the file is empty"),
        (b'[{"role": "user"', "not JSON at line 1, column 17"),
        ("[]".encode("utf-16"), r"not UTF-8 \(byte 0\): convert the file to UTF-8"),
        (b'[{"role": "user", "content": NaN}]', "NaN is not JSON: replace it by null"),
        (b"[" * 100_000, "cannot be read as JSON"),
        (
            b'{"title": "x"}',
            r"not one of the known formats \(openai, anthropic, sharegpt, claude-code, locomo, tau, plain\)",
        ),
        (b"7", "not one of the known formats"),
    ],
)
def test_what_is_no_conversation_file_is_reported(tmp_path: Path, data: bytes, problem: str) -> None:
    path = tmp_path / "chat.json"
    path.write_bytes(data)
    with pytest.raises(InputError, match=problem):
        list(read_sessions(path))


def test_a_named_format_is_not_guessed(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_text(json.dumps([HELLO]), encoding="utf-8")
    with pytest.raises(InputError, match="no LoCoMo conversation"):
        list(read_sessions(path, "locomo"))
