"""Tool calls and their results: which stored messages belong together."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any

ABANDONED_AFTER = timedelta(hours=1)
_UNFINISHED = ("pending", "running")
_Key = str | tuple[int, int]
"""What an open call is known by: its id; without one, where it stands."""


def before_open_calls(
    messages: Iterable[Mapping[str, Any]], last: int, *, open_since: str | None = None
) -> int:
    """The greatest seq, at most `last`, behind which no message has the result of a call at or before it; with
    `open_since` also none may still come, of a call that was made since then.

    `messages` are stored messages in seq order, those on both sides of `last`. A call is a tool part without an
    output that is no error; its results are the other parts with its `tool_id`, up to the first that is not still
    pending or running; ids may be used again afterwards. What a user's or a tool's message gives without an id answers
    the next call of the newest message that has one open.
    """
    answered, unanswered = pairs(messages)
    if open_since is not None:
        waiting = [call["seq"] for call in unanswered if call["created_at"] >= open_since]
        last = min([last, *(seq - 1 for seq in waiting)])
    for call, result in sorted(answered, reverse=True):
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


def pairs(
    messages: Iterable[Mapping[str, Any]],
) -> tuple[list[tuple[int, int]], list[Mapping[str, Any]]]:
    """(seq of the call, seq of a result of it) of every call that has been answered; the messages of calls that have
    not, or not to the end."""
    calls: dict[_Key, Mapping[str, Any]] = {}
    answered = []
    for message in messages:
        for number, part in enumerate(_parts(message)):
            key = _answered(calls, message, part)
            if part.get("tool_output") is None and part.get("tool_status") != "error":
                calls[part.get("tool_id") or (message["seq"], number)] = message
            elif key is not None:
                answered.append((calls[key]["seq"], message["seq"]))
                if part.get("tool_status") not in _UNFINISHED:
                    del calls[key]
    return answered, list(calls.values())


def _parts(message: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The tool parts; what a tool's message says is an output, whatever it stands in."""
    if message.get("role") != "tool":
        yield from tool_parts(message)
        return
    parts = [{"tool_output": "", **part} for part in tool_parts(message)]
    yield from parts or [{"tool_output": ""}]


def _answered(
    calls: Mapping[_Key, Mapping[str, Any]], message: Mapping[str, Any], part: Mapping[str, Any]
) -> _Key | None:
    """Which of the open calls the part answers, if any."""
    if part.get("tool_id"):
        return part["tool_id"] if part["tool_id"] in calls else None
    if message.get("role") not in ("user", "tool") or not calls:
        return None
    newest = max(call["seq"] for call in calls.values())
    return next(key for key, call in calls.items() if call["seq"] == newest)
