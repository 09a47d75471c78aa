"""What of a session is visible: every message that no done archive of the unbroken run covers, newest first.

An object is read when its turn comes, and no more of them than could be shown. Whole tool outputs lie in objects of
their own; those that are to be shown whole are put back where they were.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from strandline.domain.message import MAX_ANSWER_BYTES, read_line
from strandline.domain.session import Head
from strandline.domain.compaction.state import Pin, Place
from strandline.pipeline.library import Library
from strandline.pipeline.services import Services
from strandline.storage.log import Log, ref

MESSAGE_OVERHEAD_TOKENS = 4
SMALLEST_RESULT = 16  # tokens of what may stand for a tool result at least
RAW_BYTES = 4 * MAX_ANSWER_BYTES
PIN_ARCHIVES = 16  # that are looked through at once for the newest user message

Message = dict[str, Any]
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
    """Visible messages, oldest first; `from_seq`: those before it were not read, as they could not have been shown."""

    messages: list[Message]
    from_seq: int


def read_visible(lines: Iterator[bytes], tokens: int | None) -> Visible:
    """As many of the newest as could be shown within so many tokens (None: as one answer holds), were every tool result
    as small as it can be made."""
    taken: list[Message] = []
    spent = size = 0
    for line in lines:
        message = read_line(line)
        taken.append(message)
        spent += _at_least(message)
        size += len(line)
        if size > RAW_BYTES or (tokens is not None and spent > tokens):
            break
    taken.reverse()
    return Visible(taken, taken[0]["seq"] if taken else 0)


def _at_least(message: Message) -> int:
    tokens = int(message["tokens"])
    holds = message["role"] == "tool" or any(
        part.get("tool_output") is not None for part in message.get("parts", ())
    )
    return MESSAGE_OVERHEAD_TOKENS + (min(tokens, SMALLEST_RESULT) if holds else tokens)


def with_outputs(services: Library, head: Head, message: Message, whole: Callable[[Place, int], bool]) -> Message:
    """The message with those of its tool outputs in it that are to be `whole` (place, length in characters)."""
    seq, parts = message["seq"], message.get("parts")
    if "ref" in message and whole((seq, None), message["ref"]["total_chars"]):
        return {**message, "content": _output(services, head, message, message["content"])}
    if not parts or not any("ref" in part for part in parts):
        return message
    return {**message, "parts": [_whole_part(services, head, part, (seq, n), whole) for n, part in enumerate(parts)]}


def _whole_part(
    services: Library, head: Head, part: Message, place: Place, whole: Callable[[Place, int], bool]
) -> Message:
    if "ref" not in part or not whole(place, part["ref"]["total_chars"]):
        return part
    name = "text" if part["type"] == "text" else "tool_output"
    plain = {key: value for key, value in part.items() if key not in _OF_A_PREVIEW}
    return {**plain, name: _output(services, head, part, part[name])}


_OF_A_PREVIEW = {"tool_output_truncated", "tool_output_preview_chars"}


def _output(services: Library, head: Head, where: Mapping[str, Any], preview: str) -> str:
    """The whole output; what has been removed from the bucket shows as its preview."""
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
    for number, first, last in reversed([row for row in services.told.archives(head, lowest) if row[0] <= newest]):
        for line in reversed(services.told.archived(ref(head), number, first, last) or ()):
            message = read_line(line)
            if said_by_user(message):
                return Pin(message["seq"], number, first, last, through)
    if known is not None and known.seq:
        return Pin(known.seq, known.archive, known.first, known.last, through)
    return Pin(0, newest, 0, 0, through)


def pinned(services: Library, head: Head, pin: Pin) -> Message | None:
    """The message that was found there."""
    lines = services.told.archived(ref(head), pin.archive, pin.first, pin.last) if pin.seq else None
    return read_line(lines[pin.seq - pin.first]) if lines else None


def said_by_user(message: Mapping[str, Any]) -> bool:
    """Whether a user says something in the message: results of tools alone are not."""
    if message["role"] != "user":
        return False
    return "content" in message or any(part["type"] != "tool" for part in message["parts"])
