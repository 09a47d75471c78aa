"""Stored messages as an extractor sees them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from strandline.domain.extraction import ToolCall, Turn
from strandline.domain.message import said_at
from strandline.domain.tool_calls import skill_name, tool_parts


def transcribe(messages: Iterable[Mapping[str, Any]]) -> Iterator[Turn]:
    """Stored messages as an extractor sees them: the text of each, with who said it and when."""
    for message in messages:
        yield Turn(
            seq=message["seq"],
            role=message["role"],
            speaker=message.get("peer_id"),
            text=text_of(message),
            flags=tuple(message.get("flags", ())),
            at=said_at(message),
            tools=tuple(map(_tool_call, tool_parts(message))),
        )


def _tool_call(part: Mapping[str, Any]) -> ToolCall:
    failed = part.get("tool_status") == "error"
    skill = skill_name(part.get("skill_uri"))
    return ToolCall(tool=part.get("tool_name", ""), call=part.get("tool_id", ""), failed=failed, skill=skill)


def text_of(message: Mapping[str, Any]) -> str:
    """What was said in a stored message: its content, or its text parts. Tool inputs and outputs are not speech."""
    if "content" in message:
        return str(message["content"])
    return "\n".join(part["text"] for part in message["parts"] if part["type"] == "text")
