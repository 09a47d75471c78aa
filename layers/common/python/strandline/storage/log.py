"""The messages of one session wherever they lie: tail and segments while they are live, archives afterwards.

A stored message is one JSON line; objects hold lines joined by newlines, in seq order and without gaps.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby, takewhile
from operator import itemgetter

from strandline.domain.contracts import SessionRef
from strandline.domain.errors import Corrupt
from strandline.domain.session import Head, Segment
from strandline.ports import ObjectStore
from strandline.storage.answered import answered
from strandline.storage.layout import Life
from strandline.storage.once import Reads, fetch, write_once
from strandline.storage.parsing import archive_range


class Log:
    """Reads and writes immutable runs of messages. They are read by `reads`, which may remember them."""

    def __init__(self, store: ObjectStore, reads: Reads | None = None) -> None:
        self._store = store
        self._reads = reads or store

    def live(self, head: Head, first: int, last: int) -> list[bytes]:
        """The live lines with `first <= seq <= last`."""
        lines: list[bytes] = []
        for segment in head.segments:
            if segment.last >= first and segment.first <= last:
                lines += self._segment(head, segment)[
                    max(first - segment.first, 0) : last - segment.first + 1
                ]
        return [*lines, *head.tail[max(first - head.tail_from, 0) : max(last - head.tail_from + 1, 0)]]

    def live_backwards(self, head: Head) -> Iterator[bytes]:
        """The live lines, newest first; a segment is fetched when its turn comes."""
        yield from reversed(head.tail[max(head.live_from - head.tail_from, 0) :])
        for segment in reversed(head.segments):
            yield from reversed(self._segment(head, segment)[max(head.live_from - segment.first, 0) :])

    def spill(self, head: Head, segment: Segment) -> None:
        """Writes the front of the tail as a segment. Whoever writes it writes the same bytes."""
        self._put_once(_life(head).segment(segment.first, segment.last), head.tail)

    def archive(self, session: SessionRef, number: int, first: int, lines: Sequence[bytes]) -> None:
        """Writes the messages of an archive. Whoever writes this range writes the same bytes."""
        self._put_once(Life(session).messages(number, first, first + len(lines) - 1), lines)

    def archived(self, session: SessionRef, number: int, first: int, last: int) -> list[bytes] | None:
        """The lines of an archive whose range is known; None when somebody has removed them."""
        body = fetch(self._reads, Life(session).messages(number, first, last))
        return None if body is None else _split(body)

    def archives(self, head: Head, start: int = 1) -> Iterator[tuple[int, int, int]]:
        """(number, first, last) of the session's archives from `start` on, in order: a list request per 1,000 objects.

        A commit that lost its race may have left an object of another range under the same number. The archive is
        the one that ends where the next begins, or the last one where the live messages begin.
        """
        life = Life(ref(head))
        listed = self._store.keys(life.archives, after=life.archive(start))
        rows = takewhile(lambda row: row[0] <= head.commit_count, filter(None, map(archive_range, listed)))
        with answered("the store did not answer; repeat the request"):
            groups = [(number, list(group)) for number, group in groupby(rows, key=itemgetter(0))]
        begins = {number: group[0][1] for number, group in groups} | {head.commit_count + 1: head.live_from}
        for number, group in groups:
            end = begins.get(number + 1, group[-1][2] + 1)
            yield from (row for row in group if row[2] + 1 == end)

    def find(self, head: Head, number: int) -> tuple[int, int] | None:
        """The seq range of an archive; None when it is not there."""
        found = next(self.archives(head, number), None)
        return found[1:] if found and found[0] == number else None

    def _segment(self, head: Head, segment: Segment) -> list[bytes]:
        """Raises Corrupt when the segment is not there, which only tampering with the bucket brings about."""
        key = _life(head).segment(segment.first, segment.last)
        body = fetch(self._reads, key)
        if body is None:
            raise Corrupt("messages of this session are missing from the bucket")
        return _split(body)

    def _put_once(self, key: str, lines: Sequence[bytes]) -> None:
        write_once(self._store, key, b"\n".join(lines) + b"\n")


def _split(body: bytes) -> list[bytes]:
    return body.split(b"\n")[:-1]


def _life(head: Head) -> Life:
    return Life(ref(head))


def ref(head: Head) -> SessionRef:
    """The session, in this very life, that a head is the head of."""
    return SessionRef(
        account_id=head.account_id,
        user_id=head.user_id,
        session_id=head.session_id,
        incarnation=head.incarnation,
    )
