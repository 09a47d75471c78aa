"""A long archive in parts that a model can take at once. Split between turns, never inside one."""

from collections.abc import Callable, Iterable
from itertools import accumulate

from strandline.domain.extraction import Transcript, Turn
from strandline.domain.language_model.speakers import spoken

MESSAGE_TOKENS = 30
"""What the frame around a message costs, about."""


def split(transcript: Transcript, budget: int, count: Callable[[str], int]) -> list[Transcript]:
    """What was said, in order, in parts of at most `budget` tokens; a longer turn is a part of its own.

    Empty when nobody spoke.
    """
    parts: list[list[Turn]] = []
    left = 0
    for turn in spoken(transcript):
        tokens = count(turn.text) + MESSAGE_TOKENS
        if not parts or tokens > left:
            parts.append([])
            left = budget
        parts[-1].append(turn)
        left -= tokens
    return [_part(transcript, turns) for turns in parts]


def halves(part: Transcript) -> list[Transcript]:
    """The part in two, for when the answer about it did not fit; of about as many characters each. One turn stays
    whole."""
    if len(part.turns) < 2:
        return [part]
    ends = list(accumulate(len(turn.text) for turn in part.turns))
    at = min(range(1, len(ends)), key=lambda n: abs(2 * ends[n - 1] - ends[-1]))
    return [_part(part, part.turns[:at]), _part(part, part.turns[at:])]


def span(part: Transcript) -> tuple[int, int]:
    """First and last seq of a part."""
    return part.turns[0].seq, part.turns[-1].seq


def _part(whole: Transcript, turns: Iterable[Turn]) -> Transcript:
    return whole.model_copy(update={"turns": tuple(turns)})
