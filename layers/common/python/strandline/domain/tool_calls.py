"""Tool calls and their results: which stored messages belong together."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any


def before_open_calls(messages: Iterable[Mapping[str, Any]], last: int) -> int:
    """The greatest seq, at most `last`, behind which no message has the result of a call at or before it.

    `messages` are stored messages in seq order, those on both sides of `last`. A call is a tool part without an
    output, its result the next part with its `tool_id` that has one; ids may be used again afterwards.
    """
    for call, result in sorted(_pairs(messages), reverse=True):
        if call <= last < result:
            last = call - 1
    return last


def tool_parts(message: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The tool calls and results in a stored message."""
    return (part for part in message.get("parts", ()) if part["type"] == "tool")


def skill_name(uri: str | None) -> str | None:
    """The name of the skill that an address leads to: `…/skills/deploy/SKILL.md` is `deploy`."""
    names = [name for name in (uri or "").split("/") if name and name.upper() != "SKILL.MD"]
    return names[-1].removesuffix(".md") or None if names else None


def _pairs(messages: Iterable[Mapping[str, Any]]) -> list[tuple[int, int]]:
    """(seq of the call, seq of its result) of every call that has been answered."""
    calls: dict[str, int] = {}
    pairs = []
    for message in messages:
        for part in tool_parts(message):
            identity = part.get("tool_id")
            if not identity:
                continue
            if part.get("tool_output") is None:
                calls[identity] = message["seq"]
            elif identity in calls:
                pairs.append((calls.pop(identity), message["seq"]))
    return pairs
