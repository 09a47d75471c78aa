"""When a working memory is to be brought up to date ahead of time, and up to which message. Tokens are those stored
with the messages."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from strandline.domain.times import parse, stamp
from strandline.domain.tool_calls import ABANDONED_AFTER, pairs, tool_parts

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
    the hour, or in the `ABANDONED` messages, after it counts as answered there."""
    answered, waiting = pairs(messages)
    spans = [*answered, *((call["seq"], _given_up(messages, call)) for call in waiting)]
    changes = Counter(first for first, _ in spans)
    changes.subtract(Counter(last for _, last in spans))
    ends, begun = list[int](), 0
    for message in messages:
        begun += changes[message["seq"]]
        if begun == 0:
            ends.append(message["seq"])
    return ends


def _given_up(messages: Sequence[Stored], call: Stored) -> int:
    """Where a call is no longer waited for: a seq, or one behind the last."""
    late = stamp(parse(call["created_at"]) + ABANDONED_AFTER)
    after = (message for message in messages if message["seq"] > call["seq"])
    for message in after:
        if message["seq"] >= call["seq"] + ABANDONED or message["created_at"] >= late:
            return int(message["seq"])
    return int(messages[-1]["seq"]) + 1


def is_call(part: Stored) -> bool:
    """Whether a tool part is a call that waits for its result."""
    return part.get("tool_output") is None and part.get("tool_status") != "error"


def is_break(message: Stored) -> bool:
    """Whether something has come to a natural end with that message: somebody speaks, and no tool."""
    return message["role"] in ("user", "assistant") and not any(True for _ in tool_parts(message))
