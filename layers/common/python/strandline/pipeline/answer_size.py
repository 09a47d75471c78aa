"""An answer of HTTP can hold so many bytes, whatever the model's window."""

from collections.abc import Sequence
from dataclasses import replace

from strandline.domain.compaction.assemble import assemble
from strandline.domain.compaction.assembly import Ask, Assembled, Room, Stored
from strandline.domain.compaction.sizes import Count
from strandline.domain.compaction.state import ContextState
from strandline.domain.message import MAX_ANSWER_BYTES, dumps

SLACK = 0.95  # bytes are not spread evenly over tokens
PER_CHARACTER = 12  # bytes of JSON at most, outside the Basic Multilingual Plane escaped


def within_answer(messages: Sequence[Stored], ask: Ask, state: ContextState, count: Count) -> Assembled:
    """The assembly, whose messages are made fewer where they have more bytes than an answer may hold."""
    seen = whole = assemble(messages, ask, state, count)
    while (size := _size(seen)) > MAX_ANSWER_BYTES:
        tokens = max(1, int((seen.tokens - ask.beside) * SLACK * MAX_ANSWER_BYTES / size))
        smaller = replace(ask, room=Room(tokens + ask.beside))
        seen = assemble(messages, smaller, state, count)
    return replace(seen, estimate=whole.estimate, thresholds=whole.thresholds, pressure=whole.pressure)


def _size(seen: Assembled) -> int:
    """Bytes of the messages; 0 where they are too few to matter."""
    if seen.estimate.characters * PER_CHARACTER <= MAX_ANSWER_BYTES:
        return 0
    return sum(len(dumps(dict(message))) for message in seen.messages)
