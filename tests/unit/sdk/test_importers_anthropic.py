import json
from pathlib import Path
from typing import Any

import pytest

from strandline_sdk.importers import InputError, read_sessions
from strandline_sdk.model import Message
from tests.unit.sdk.chats import HELLO, imported

ASKED = {
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": "The kiln knows.", "signature": "c2ln"},
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "toolu_1", "name": "kiln", "input": {"cone": 6}},
        {"type": "tool_use", "id": "toolu_2", "name": "clock", "input": {}},
    ],
}


def said(tmp_path: Path, *messages: dict[str, Any]) -> list[dict[str, Any]]:
    """What the last of the messages was imported as, without ids."""
    path = tmp_path / "chat.json"
    path.write_text(json.dumps([HELLO, *messages]), encoding="utf-8")
    (session,) = read_sessions(path, "anthropic")
    mark = f"{len(messages) + 1:06d}-"
    return [{k: v for k, v in m.items() if k != "id"} for m in session.messages if m["id"].startswith(mark)]


def tool(tool_id: str, name: str, **fields: Any) -> dict[str, Any]:
    return {"type": "tool", "tool_id": tool_id, "tool_name": name, **fields}


def result(tool_id: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": tool_id, "content": content, **fields}


def test_text_and_tool_uses_are_parts_of_one_message_and_thoughts_are_dropped(tmp_path: Path) -> None:
    assert said(tmp_path, ASKED) == [
        {
            "role": "assistant",
            "parts": [
                {"type": "text", "text": "Let me look."},
                tool("toolu_1", "kiln", tool_input={"cone": 6}, tool_status="pending"),
                tool("toolu_2", "clock", tool_input={}, tool_status="pending"),
            ],
        }
    ]


def test_tool_results_are_a_tool_message_each_with_the_name_of_their_tool(tmp_path: Path) -> None:
    answer = {"role": "user", "content": [result("toolu_1", "1222 °C"), result("toolu_2", "noon")]}
    assert said(tmp_path, ASKED, answer) == [
        {
            "role": "tool",
            "parts": [tool("toolu_1", "kiln", tool_output="1222 °C", tool_status="completed")],
        },
        {"role": "tool", "parts": [tool("toolu_2", "clock", tool_output="noon", tool_status="completed")]},
    ]
    (session,) = imported(tmp_path, [HELLO, ASKED, answer])
    first, second = session.messages[-2:]
    assert second["id"] == first["id"] + "-2"


@pytest.mark.parametrize(
    ("content", "output"),
    [
        ("hot", "hot"),
        (None, ""),
        ([{"type": "text", "text": "hot"}, {"type": "image", "source": {}}], "hot\n[image]"),
        ({"status": 200}, '{"status": 200}'),
    ],
)
def test_a_result_is_text_whatever_it_was(tmp_path: Path, content: Any, output: str) -> None:
    answer = {"role": "user", "content": [result("toolu_1", content, is_error=True)]}
    (message,) = said(tmp_path, ASKED, answer)
    assert message["parts"] == [tool("toolu_1", "kiln", tool_output=output, tool_status="error")]


def test_results_and_words_of_the_user_stay_one_message(tmp_path: Path) -> None:
    answer = {"role": "user", "content": [result("toolu_1", "hot"), {"type": "text", "text": "Stop it."}]}
    (message,) = said(tmp_path, ASKED, answer)
    assert (message["role"], len(message["parts"])) == ("user", 2)


def test_a_result_without_its_call_keeps_its_id(tmp_path: Path) -> None:
    (message,) = said(tmp_path, {"role": "user", "content": [result("toolu_9", "hot")]})
    assert message["parts"] == [tool("toolu_9", "", tool_output="hot", tool_status="completed")]


@pytest.mark.parametrize(
    ("block", "part"),
    [
        (
            {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
            {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        ),
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
            {"type": "text", "text": "[image]"},
        ),
        ({"type": "image", "source": {"type": "file", "file_id": "f"}}, {"type": "text", "text": "[image]"}),
        ({"type": "document", "title": "Glazes"}, {"type": "text", "text": "[document: Glazes]"}),
        (
            {"type": "document", "source": {"type": "text", "data": "Cobalt."}},
            {"type": "text", "text": "[document]\nCobalt."},
        ),
    ],
)
def test_images_and_documents(tmp_path: Path, block: dict[str, Any], part: dict[str, Any]) -> None:
    assert said(tmp_path, {"role": "user", "content": [block]}) == [{"role": "user", "parts": [part]}]


@pytest.mark.parametrize(
    "content", ["", [], [{"type": "thinking", "thinking": "Hm."}], [{"type": "text", "text": ""}]]
)
def test_what_says_nothing_is_passed_over(tmp_path: Path, content: Any) -> None:
    assert said(tmp_path, {"role": "assistant", "content": content}) == []


@pytest.mark.parametrize("system", ["Be a potter.", [{"type": "text", "text": "Be a potter."}]])
def test_the_system_prompt_stands_at_the_beginning(tmp_path: Path, system: Any) -> None:
    (session,) = imported(tmp_path, {"model": "x", "system": system, "messages": [HELLO]})
    assert [m["role"] for m in session.messages] == ["system", "user"]
    assert "Be a potter." in json.dumps(session.messages[0])
    assert session.messages[0]["id"].startswith("000000-")


def test_requests_as_json_lines_are_a_session_each(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    lines = [{"id": f"c{n}", "messages": [HELLO, ASKED], "created_at": 1709371800} for n in range(3)]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    sessions = list(read_sessions(path))
    assert [(s.session_id, len(s.messages)) for s in sessions] == [("c0", 2), ("c1", 2), ("c2", 2)]
    assert sessions[0].messages[1]["created_at"] == "2024-03-02T09:30:00.000Z"


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        (
            {"role": "tool", "content": "x"},
            r"item 2: must be an object whose 'role' is one of user, assistant",
        ),
        ({"role": "user", "content": 7}, r"item 2: 'content' must be a string or a list of blocks"),
        ({"role": "user"}, r"item 2: 'content' must be"),
        (
            {"role": "user", "content": [{"type": "hologram"}]},
            r"item 2, block 1: cannot import type 'hologram': remove the block or make it one of text,",
        ),
        ({"role": "user", "content": ["words"]}, r"block 1: cannot import type ''"),
        ({"role": "user", "content": [{"type": "text"}]}, r"block 1: 'text' must be a string"),
        ({"role": "user", "content": [{"type": "tool_use", "id": "t"}]}, r"a tool use must have a 'name'"),
    ],
)
def test_bad_messages_are_reported(tmp_path: Path, message: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        said(tmp_path, message)


def test_what_only_openai_has_is_another_format(tmp_path: Path) -> None:
    call = {"id": "1", "function": {"name": "kiln", "arguments": "{}"}}
    (session,) = imported(tmp_path, [HELLO, {"role": "assistant", "content": None, "tool_calls": [call]}])
    message: Message = session.messages[1]
    assert message["parts"][0]["tool_id"] == "1"  # type: ignore[typeddict-item]
