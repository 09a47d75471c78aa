"""An immutable inverted index in the shape it is stored in.

Documents are numbered from 0 in order of (group, id), so a group is a range of numbers and the same content always
has the same numbers. The postings of all terms lie behind each other in two arrays: the gap to the previous document
number, and how often the term occurs in that document. Nothing is decoded before it is asked for.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from strandline.domain.ranking.bm25 import Statistics
from strandline.domain.ranking.document import Document, from_record

Columns = tuple[Sequence[int], Sequence[int]]  # of one term: document numbers, packed counts


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
    records: list[bytes]
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

    def document(self, number: int) -> Document:
        """The document with this number."""
        group = self.groups[bisect_right(self._group_starts, number) - 1]
        return from_record(self.records[number], group)

    def group_range(self, group: str) -> range:
        """Numbers of a group's documents, in order of their ids; empty when there is no such group."""
        at = bisect_left(self.groups, group)
        if at == len(self.groups) or self.groups[at] != group:
            return range(0)
        return range(self._group_starts[at], self._group_starts[at + 1])

    def lengths(self) -> Iterator[tuple[int, int]]:
        """Lengths of `text` and `extra` of every document, in order of number."""
        return zip(self.text_lengths, self.extra_lengths, strict=True)

    def postings(self, term: str) -> Iterator[tuple[int, int]]:
        """Document number and packed counts wherever a term occurs, in order of document number."""
        at = self._position(term)
        return iter(()) if at is None else zip(*self.columns(at), strict=True)

    def columns(self, at: int) -> Columns:
        """Postings of the term at this place in `terms`, as columns."""
        span = slice(self._term_starts[at], self._term_starts[at + 1])
        return list(accumulate(self.gaps[span])), self.counts[span]

    def statistics(self, terms: Iterable[str]) -> Statistics:
        """Statistics for these terms. Documents that have expired but are still stored count."""
        text_length, extra_length = self._total_lengths
        frequencies = {term: self._frequency(term) for term in terms}
        return Statistics(len(self.records), text_length, extra_length, frequencies)

    @cached_property
    def _total_lengths(self) -> tuple[int, int]:
        return sum(self.text_lengths), sum(self.extra_lengths)

    def _frequency(self, term: str) -> int:
        at = self._position(term)
        return 0 if at is None else self.frequencies[at]

    def _position(self, term: str) -> int | None:
        at = bisect_left(self.terms, term)
        return at if at < len(self.terms) and self.terms[at] == term else None


def empty() -> Segment:
    """A segment without documents."""
    return Segment([], numbers(), [], numbers(), numbers(), [], numbers(), numbers(), counts())
