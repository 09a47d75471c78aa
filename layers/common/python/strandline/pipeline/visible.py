"""Which messages of a session are visible: all that the unbroken run of finished archives does not cover, newest first.

An object is read only when its turn comes, so no more objects than could be shown. Long tool outputs are objects of
their own; those that are to be shown whole are put back into their messages.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from strandline.domain.compaction.assembly import Stored
from strandline.domain.compaction.limits import ToolResultBudget
from strandline.domain.compaction.reading import speaks, unread, wanted
from strandline.domain.compaction.state import ContextState, Pin
from strandline.domain.message import MAX_ANSWER_BYTES, read_line
from strandline.domain.session import Head
from strandline.pipeline.library import Library
from strandline.storage.log import Log, ref

RAW_BYTES = 4 * MAX_ANSWER_BYTES
PIN_ARCHIVES = 16  # that are looked through at once for the newest user message

Range = tuple[int, int, int]
"""Number, first and last seq of an archive."""


def backwards(log: Log, head: Head) -> Iterator[bytes]:
    """Every visible line, newest first."""
    yield from log.live_backwards(head)
    for number, first, last in reversed(uncovered(log, head)):
        yield from reversed(log.archived(ref(head), number, first, last) or ())


def uncovered(log: Log, head: Head) -> list[Range]:
    """The archives behind the boundary, in order. The head names those that are not done; only where done ones stand
    between them is the bucket asked, with a list request."""
    known = [(a.number, a.first, a.last) for a in (*head.pending, *head.failed)]
    if len(known) == head.commit_count - head.covered_archives:
        return sorted(known)
    return list(log.archives(head, head.covered_archives + 1))


@dataclass(frozen=True)
class Visible:
    """Visible messages, oldest first; `asks`: the newest user message among them, or None. `read_from`: what is
    before that seq was not read, `asks` apart."""

    messages: Sequence[Stored]
    asks: Stored | None
    read_from: int


def read_visible(lines: Iterable[bytes], room: int | None, quiet: int = 0) -> Visible:
    """As many of the newest as could be shown in so many tokens (None: in as many characters as an answer holds), were
    nothing shown of any tool result; and on to the newest user message, if it is not among them. Up to `quiet` there is
    none."""
    taken: list[Stored] = []
    asks: Stored | None = None
    left = MAX_ANSWER_BYTES if room is None else room
    raw, read_from = RAW_BYTES, 0
    for line in lines:
        message = read_line(line)
        asks = asks or (message if speaks(message) else None)
        if left >= 0 and raw >= 0:
            taken.append(message)
            left -= unread(message, in_tokens=room is not None)
            raw -= len(line)
            continue
        read_from = taken[-1]["seq"]
        if asks or message["seq"] <= quiet:
            break
    if asks and asks["seq"] < read_from:
        taken.append(asks)
    return Visible(taken[::-1], asks, read_from)


def with_outputs(
    services: Library, head: Head, message: Stored, state: ContextState, limits: ToolResultBudget
) -> Stored:
    """The message with those of its tool outputs in it that are to be looked at whole. Raises Unavailable."""
    for number in wanted(message, state, limits):
        message = _with_output(services, head, message, number)
    return message


def _with_output(services: Library, head: Head, message: Stored, number: int | None) -> Stored:
    if number is None:
        return {**message, "content": _output(services, head, message, message["content"])}
    parts = [*message["parts"]]
    part = parts[number]
    name = "text" if part["type"] == "text" else "tool_output"
    plain = {key: value for key, value in part.items() if key not in _OF_A_PREVIEW}
    parts[number] = {**plain, name: _output(services, head, part, part[name])}
    return {**message, "parts": parts}


_OF_A_PREVIEW = {"tool_output_truncated", "tool_output_preview_chars"}


def _output(services: Library, head: Head, where: Mapping[str, Any], preview: str) -> str:
    """The whole output; what somebody has removed from the bucket shows as its preview."""
    found = services.outputs.read(ref(head), where["ref"]["id"])
    return found.content if found else preview


def find_pin(services: Library, head: Head, known: Pin | None) -> Pin:
    """Where the newest user message stands that is covered; seq 0 when there is none among the newest archives.

    `known` is what was found when the boundary was nearer: only archives behind it are looked through.
    """
    through, newest = head.covered_through, head.covered_archives
    if known is not None and known.through == through:
        return known
    lowest = max(known.archive if known else 0, newest - PIN_ARCHIVES) + 1
    for number, first, last in reversed(
        [row for row in services.told.archives(head, lowest) if row[0] <= newest]
    ):
        for line in reversed(services.told.archived(ref(head), number, first, last) or ()):
            message = read_line(line)
            if speaks(message):
                return Pin(message["seq"], number, first, last, through)
    if known is not None and known.seq:
        return Pin(known.seq, known.archive, known.first, known.last, through)
    return Pin(0, newest, 0, 0, through)


def pinned(services: Library, head: Head, pin: Pin) -> Stored | None:
    """The message that was found there."""
    lines = services.told.archived(ref(head), pin.archive, pin.first, pin.last) if pin.seq else None
    return read_line(lines[pin.seq - pin.first]) if lines else None
