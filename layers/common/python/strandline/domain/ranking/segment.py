"""An immutable inverted index in the shape it is stored in.

Documents are numbered from 0 in order of (group, id), so a group is a range of numbers and the same content always
has the same numbers. The postings of all terms lie behind each other in two arrays: the gap to the previous document
number, and how often the term occurs in that document. Nothing is decoded before it is asked for.

A group has a row, what a list shows of it, as JSON. One without documents and without a row says that the group is
gone: of several segments the newest one that knows a group is right (see `view`).
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from strandline.domain.ranking.document import Document, from_record

Columns = tuple[Sequence[int], Sequence[int]]  # of one term: document numbers, packed counts
NO_ROW = b"null"
_POSTING_BYTES = 6


def numbers() -> "array[int]":
    """An empty column of document numbers, lengths or frequencies."""
    return array("I")


def counts() -> "array[int]":
    """An empty column of packed counts; see bm25.pack_counts."""
    return array("H")


@dataclass(frozen=True)
class Segment:
    """The columns of an inverted index; see the module's text for their order."""

    groups: list[str]
    group_sizes: "array[int]"
    rows: list[bytes]
    records: list[bytes]
    keys: list[bytes]  # of each document: the hash of the text that its vector is of
    text_lengths: "array[int]"
    extra_lengths: "array[int]"
    terms: list[str]
    frequencies: "array[int]"
    gaps: "array[int]"
    counts: "array[int]"

    @cached_property
    def _group_starts(self) -> list[int]:
        return [0, *accumulate(self.group_sizes)]

    @cached_property
    def _term_starts(self) -> list[int]:
        return [0, *accumulate(self.frequencies)]

    @cached_property
    def weight(self) -> int:
        """About how many bytes it has before compression."""
        texts = sum(map(len, self.records)) + sum(map(len, self.rows)) + sum(map(len, self.groups))
        return texts + _POSTING_BYTES * len(self.gaps)

    def document(self, number: int) -> Document:
        """The document with this number."""
        group = self.groups[bisect_right(self._group_starts, number) - 1]
        return from_record(self.records[number], group)

    def place(self, group: str) -> int | None:
        """The place of a group in `groups`; None when the segment does not know it."""
        at = bisect_left(self.groups, group)
        return at if at < len(self.groups) and self.groups[at] == group else None

    def span(self, at: int) -> range:
        """Numbers of the documents of the group at this place, in order of their ids."""
        return range(self._group_starts[at], self._group_starts[at + 1])

    def group_range(self, group: str) -> range:
        """Numbers of a group's documents, in order of their ids; empty when there is no such group."""
        at = self.place(group)
        return range(0) if at is None else self.span(at)

    def lengths(self) -> Iterator[tuple[int, int]]:
        """Lengths of `text` and `extra` of every document, in order of number."""
        return zip(self.text_lengths, self.extra_lengths, strict=True)

    def postings(self, term: str) -> Columns:
        """Document numbers and packed counts wherever a term occurs, in order of document number."""
        at = bisect_left(self.terms, term)
        return self.columns(at) if at < len(self.terms) and self.terms[at] == term else ((), ())

    def columns(self, at: int) -> Columns:
        """Postings of the term at this place in `terms`, as columns."""
        span = slice(self._term_starts[at], self._term_starts[at + 1])
        return list(accumulate(self.gaps[span])), self.counts[span]


def empty() -> Segment:
    """A segment without documents."""
    return Segment([], numbers(), [], [], [], numbers(), numbers(), [], numbers(), numbers(), counts())
