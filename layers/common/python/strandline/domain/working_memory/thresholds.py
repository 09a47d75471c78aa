"""When a working memory is to be brought up to date ahead of time, and up to which message. Tokens are those stored
with the messages."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from strandline.domain.tool_calls import tool_parts

FIRST_TOKENS = 10_000
"""Of messages before a session's first document is made."""

NEXT_TOKENS = 5_000
"""Of further messages before it is brought up to date again."""

MIN_TOOL_CALLS = 3
"""Calls among these messages; fewer will do where they end with something said instead of a tool's result."""

ABANDONED = 200
"""Messages after a call: when it has had no result by then, it is not waited for any longer."""

Stored = Mapping[str, Any]


def due(messages: Sequence[Stored], since: int) -> int | None:
    """The seq up to which a document is worth making now, or None. `messages` are a session's, in order, without gaps
    and to its end; `since`: what the newest document, made or asked for, takes in (0: there is none)."""
    fresh = [message for message in messages if message["seq"] > since]
    through = safe_end(fresh)
    taken = [message for message in fresh if message["seq"] <= through]
    enough = NEXT_TOKENS if since else FIRST_TOKENS
    if not taken or sum(message.get("tokens", 0) for message in taken) < enough:
        return None
    calls = sum(1 for message in taken for part in tool_parts(message) if is_call(part))
    return through if calls >= MIN_TOOL_CALLS or is_break(taken[-1]) else None


def safe_end(messages: Sequence[Stored]) -> int:
    """The greatest seq up to which no call among these messages is without its result; 0 when there is none."""
    return max(safe_ends(messages), default=0)


def safe_ends(messages: Sequence[Stored]) -> list[int]:
    """Every seq at which no call among these messages is without its result, in order. One that nobody has answered in
    the `ABANDONED` messages after it counts as answered there."""
    ends = {message["seq"] for message in messages}
    for first, last in open_spans(messages):
        ends.difference_update(range(first, last))
    return sorted(ends)


def open_spans(messages: Sequence[Stored]) -> Iterator[tuple[int, int]]:
    """(seq of a call, seq at which it is no longer open) of every call; one that is open at the end is so beyond the
    last message."""
    calls: dict[str, int] = {}
    for message in messages:
        for part in tool_parts(message):
            identity = part.get("tool_id") or ""
            if is_call(part) and identity:
                calls.setdefault(identity, message["seq"])
            elif identity in calls:
                yield calls.pop(identity), message["seq"]
    for seq in calls.values():
        end = messages[-1]["seq"] + 1
        yield seq, min(end, seq + ABANDONED)


def is_call(part: Stored) -> bool:
    """Whether a tool part is a call that waits for its result."""
    return part.get("tool_output") is None and part.get("tool_status") != "error"


def is_break(message: Stored) -> bool:
    """Whether something has come to a natural end with that message: somebody speaks, and no tool."""
    return message["role"] in ("user", "assistant") and not any(True for _ in tool_parts(message))
