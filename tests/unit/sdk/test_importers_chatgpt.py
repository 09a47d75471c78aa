from pathlib import Path
from typing import Any

import pytest

from tests.unit.sdk.chats import imported


def node(parent: str | None, role: str, *parts: Any, **fields: Any) -> dict[str, Any]:
    content = {"content_type": "text", "parts": list(parts)}
    message = {"author": {"role": role}, "create_time": 1709371800.5, "content": content, "recipient": "all"}
    return {"parent": parent, "message": {**message, **fields}}


def said(tmp_path: Path, current: str, **nodes: Any) -> list[dict[str, Any]]:
    """The messages of an export whose last seen branch ends at a node, without ids and times."""
    root = {"root": {"parent": None, "message": None}}
    export = {"title": "Glazes", "conversation_id": "c-1", "create_time": 1, "current_node": current}
    found = imported(tmp_path, [{**export, "mapping": {**nodes, **root}}], "conversations.json")
    assert {session.session_id for session in found} <= {"c-1"}
    messages = [message for session in found for message in session.messages]
    return [{k: v for k, v in message.items() if k not in ("id", "created_at")} for message in messages]


ASK = node("root", "user", "Which glaze is blue?")


def test_the_branch_that_was_seen_last_is_the_conversation(tmp_path: Path) -> None:
    first, second = node("ask", "assistant", "Copper."), node("ask", "assistant", "Cobalt.")
    assert said(tmp_path, "second", first=first, second=second, ask=ASK) == [
        {"role": "user", "content": "Which glaze is blue?"},
        {"role": "assistant", "content": "Cobalt."},
    ]


def test_times_are_kept(tmp_path: Path) -> None:
    export = {"id": "c-1", "current_node": "ask", "mapping": {"ask": ASK}}
    (session,) = imported(tmp_path, export)
    assert session.messages[0]["created_at"] == "2024-03-02T09:30:00.500Z"


@pytest.mark.parametrize(
    "unsaid",
    [
        node("ask", "assistant", "Cobalt.", metadata={"is_visually_hidden_from_conversation": True}),
        node("ask", "assistant", "Hm.", content={"content_type": "thoughts", "thoughts": []}),
        node("ask", "user", "", content={"content_type": "user_editable_context", "user_profile": "x"}),
        node("ask", "system", ""),
        {"parent": "ask", "message": None},
    ],
)
def test_what_nobody_was_shown_is_left_out(tmp_path: Path, unsaid: dict[str, Any]) -> None:
    assert len(said(tmp_path, "unsaid", unsaid=unsaid, ask=ASK)) == 1


def test_a_call_and_its_result(tmp_path: Path) -> None:
    call = node("ask", "assistant", recipient="python", content={"content_type": "code", "text": "1 + 1"})
    author = {"role": "tool", "name": "python"}
    answer = node("call", "tool", author=author, content={"content_type": "execution_output", "text": "2"})
    _, asked, answered = said(tmp_path, "answer", ask=ASK, call=call, answer=answer)
    tool = {"type": "tool", "tool_id": "python", "tool_name": "python"}
    assert asked["parts"] == [{**tool, "tool_input": "1 + 1", "tool_status": "pending"}]
    assert answered["parts"] == [{**tool, "tool_output": "2", "tool_status": "completed"}]


def test_pictures_and_what_was_heard(tmp_path: Path) -> None:
    parts = [
        {"content_type": "image_asset_pointer"},
        {"content_type": "audio_transcription", "text": "hot"},
        "?",
    ]
    shown = node("root", "user", content={"content_type": "multimodal_text", "parts": parts})
    assert said(tmp_path, "shown", shown=shown)[0]["content"] == "[image]\nhot\n?"


def test_a_tree_that_goes_in_circles_ends(tmp_path: Path) -> None:
    assert len(said(tmp_path, "a", a=node("b", "user", "x"), b=node("a", "assistant", "y"))) == 2
