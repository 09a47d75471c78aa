"""A session as it is, or as it was at a time: its head, and what was visible of it, newest first."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from strandline.domain.message import read_line
from strandline.domain.session import Head
from strandline.domain.times import stamp
from strandline.pipeline.library import Library
from strandline.pipeline.visible import Range, backwards
from strandline.storage.log import Log, ref


@dataclass(frozen=True)
class Moment:
    """`lines`: the visible ones, newest first. `past`: of the head only counts and seqs are as they were."""

    head: Head
    lines: Iterator[bytes]
    past: bool = False


def now_or_then(services: Library, head: Head, as_of: datetime | None) -> Moment:
    """The session now, or at that time: up to the newest message that was said by then, with the newest archive that
    ends before it, of those that are done now. Raises Unavailable."""
    log = services.told
    if as_of is None or as_of >= services.clock.now():
        return Moment(head, backwards(log, head))
    archives = list(log.archives(head))
    last = _said_by(log, head, archives, stamp(as_of))
    covered = [row for row in archives[: head.covered_archives] if row[2] <= last]
    first = covered[-1][2] + 1 if covered else 1
    then = replace(head, last_seq=last, live_from=first, commit_count=len(covered), pending=(), failed=())
    return Moment(then, _between(log, head, archives, (first, last)), past=True)


def _said_by(log: Log, head: Head, archives: Sequence[Range], at: str) -> int:
    """Seq of the newest message said by that time; 0: none was."""
    found = _newest(log.live_backwards(head), at)
    if found:
        return found
    until = bisect_right(archives, at, key=lambda row: _begins(log, head, row))
    for row in reversed(archives[:until]):
        found = _newest(reversed(log.archived(ref(head), *row) or ()), at)
        if found:
            return found
    return 0


def _newest(lines: Iterator[bytes], at: str) -> int:
    messages = map(read_line, lines)
    return next((int(message["seq"]) for message in messages if message["created_at"] <= at), 0)


def _begins(log: Log, head: Head, row: Range) -> str:
    lines = log.archived(ref(head), *row)
    return str(read_line(lines[0])["created_at"]) if lines else ""


def _between(log: Log, head: Head, archives: Sequence[Range], span: tuple[int, int]) -> Iterator[bytes]:
    """The lines of the span, newest first."""
    begin, end = span
    yield from reversed(log.live(head, max(begin, head.live_from), end))
    for number, first, last in reversed(archives):
        if last >= begin and first <= end:
            lines = log.archived(ref(head), number, first, last) or []
            yield from reversed(lines[max(begin - first, 0) : end - first + 1])
