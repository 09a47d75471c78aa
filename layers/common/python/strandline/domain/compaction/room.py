"""The thresholds of a room: from where on a compaction is prepared, is due, and is overdue; and who may take how much
of it, so that a context is below all of them when it has been made shorter."""

from dataclasses import dataclass

from strandline.domain.compaction.assembly import Room, Thresholds
from strandline.domain.errors import InvalidArgument


def thresholds(room: Room) -> Thresholds | None:
    """None without a window. Raises InvalidArgument, naming the field, when nothing is left for messages."""
    if room.window is None:
        return None
    effective = room.window - room.max_output - room.reserved
    if effective <= 0:
        raise InvalidArgument(
            "the model's window leaves no token for messages: it must be larger than max_output_tokens and"
            " reserved_tokens together",
            field=_to_blame(room, room.window),
            effective=effective,
        )
    return Thresholds(effective, effective * 85 // 100, effective * 90 // 100, effective * 95 // 100)


SUMMARY, MEMORIES, KEPT = 4, 8, 3
"""One part in so many."""


@dataclass(frozen=True)
class Shares:
    """Tokens at most: of the summary, of the memories, and of the messages that a compaction keeps. Together 17 in 24
    of what the newest user message leaves: what is said next has some, too, before the warning threshold."""

    summary: int
    memories: int
    kept: int


def shares(left: int) -> Shares:
    """Those where the newest user message leaves so many tokens."""
    some = max(left, 0)
    return Shares(some // SUMMARY, some // MEMORIES, some // KEPT)


def _to_blame(room: Room, window: int) -> str:
    if window <= 0:
        return "model_context_window_tokens"
    return "max_output_tokens" if room.max_output >= window else "reserved_tokens"
