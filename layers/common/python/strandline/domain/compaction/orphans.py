"""Results without a call, which no model accepts, leave the view before anything is counted."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from strandline.domain.compaction.assembly import Stored
from strandline.domain.compaction.pairs import Found, Result, find

LEFT_OUT = "[A tool result whose call is not here was left out]"


@dataclass(frozen=True)
class Paired:
    """Messages in which every result has its call, and what was found in them; seqs of those that were nothing but
    results without; characters that others have lost."""

    messages: Sequence[Stored]
    found: Found
    without: Sequence[int] = ()
    cut: Mapping[int, int] = field(default_factory=dict)


def paired(messages: Sequence[Stored]) -> Paired:
    """A part that is a result without its call becomes a note, so that the others keep their numbers."""
    orphans: dict[int, list[Result]] = {}
    found = find(messages)
    for result in found.orphans:
        orphans.setdefault(result.at, []).append(result)
    if not orphans:
        return Paired(messages, found)
    kept, without, cut = [], [], {}
    for index, message in enumerate(messages):
        gone = orphans.get(index)
        if gone is None:
            kept.append(message)
        elif len(gone) == _bodies(message):
            without.append(message["seq"])
        else:
            kept.append(without_parts(message, [result.place[1] for result in gone]))
            cut[message["seq"]] = sum(result.chars for result in gone)
    return Paired(kept, find(kept), without, cut)


def without_parts(message: Stored, numbers: Collection[int | None]) -> Stored:
    """The message with a note in place of those parts. Its tokens are to be counted."""
    parts = [
        {"type": "text", "text": LEFT_OUT} if number in numbers else part
        for number, part in enumerate(message["parts"])
    ]
    return {**{name: value for name, value in message.items() if name != "tokens"}, "parts": parts}


def _bodies(message: Stored) -> int:
    return len(message.get("parts") or ()) or 1
