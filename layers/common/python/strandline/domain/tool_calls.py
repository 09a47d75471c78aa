"""Tool calls and their results: which stored messages belong together."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any

ABANDONED_AFTER = timedelta(hours=1)
_UNFINISHED = ("pending", "running")


def before_open_calls(
    messages: Iterable[Mapping[str, Any]], last: int, *, open_since: str | None = None
) -> int:
    """The greatest seq, at most `last`, behind which no message has the result of a call at or before it; with
    `open_since` also none may still come, of a call that was made since then.

    `messages` are stored messages in seq order, those on both sides of `last`. A call is a tool part without an
    output that is no error; its results are the other parts with its `tool_id`, up to the first that is not still
    pending or running; ids may be used again afterwards.
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
    calls: dict[str, Mapping[str, Any]] = {}
    answered = []
    for message in messages:
        for part in tool_parts(message):
            identity = part.get("tool_id")
            if not identity:
                continue
            if part.get("tool_output") is None and part.get("tool_status") != "error":
                calls[identity] = message
            elif identity in calls:
                answered.append((calls[identity]["seq"], message["seq"]))
                if part.get("tool_status") not in _UNFINISHED:
                    del calls[identity]
    return answered, list(calls.values())
