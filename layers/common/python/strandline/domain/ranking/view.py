"""Segments as layers, oldest first: each without the groups that newer ones know."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import compress

from strandline.domain.ranking.bm25 import Statistics, length_norms
from strandline.domain.ranking.document import Document
from strandline.domain.ranking.segment import NO_ROW, Columns, Segment

_TERMS_KEPT = 64


def views(segments: Sequence[Segment]) -> list["View"]:
    """A view of each, in the same order."""
    newer: set[str] = set()
    found = []
    for segment in reversed(segments):
        found.append(View(segment, newer.intersection(segment.groups)))
        newer.update(segment.groups)
    return found[::-1]


class View:
    """What counts of one segment. Documents that have expired but are still stored do."""

    def __init__(self, segment: Segment, replaced: Iterable[str] = ()) -> None:
        self.segment = segment
        self._replaced = {at for group in replaced if (at := segment.place(group)) is not None}
        self._norms: tuple[float, list[float]] = (0.0, [])
        self._postings: OrderedDict[str, Columns] = OrderedDict()

    @cached_property
    def _alive(self) -> bytearray | None:
        """1 for each document that counts; None when all do."""
        if not self._replaced:
            return None
        alive = bytearray(b"\1") * len(self.segment.records)
        for at in self._replaced:
            span = self.segment.span(at)
            alive[span.start : span.stop] = bytes(len(span))
        return alive

    @property
    def dead_share(self) -> float:
        """How much of its documents does not count, from 0 to 1."""
        return 1 - self.statistics(()).documents / max(len(self.segment.records), 1)

    def numbers(self) -> Iterator[int]:
        """Numbers of the documents that count, in order."""
        every = range(len(self.segment.records))
        return iter(every) if self._alive is None else compress(every, self._alive)

    def groups(self) -> Iterator[tuple[str, int]]:
        """The groups that count, also those without documents, and their places."""
        return ((group, at) for at, group in enumerate(self.segment.groups) if at not in self._replaced)

    def rows(self) -> Iterator[tuple[str, bytes]]:
        """The rows of the groups that count and have one."""
        rows = self.segment.rows
        return ((group, rows[at]) for group, at in self.groups() if rows[at] != NO_ROW)

    def document(self, number: int) -> Document:
        return self.segment.document(number)

    def norms(self, mean_length: float) -> list[float]:
        """The length norm of every document; the last ones are remembered, as one collection is searched many times."""
        mean, norms = self._norms
        if mean != mean_length:
            norms = length_norms(self.segment.lengths(), mean_length)
            self._norms = (mean_length, norms)
        return norms

    def postings(self, term: str) -> Columns:
        """Document numbers and packed counts wherever a term occurs in what counts."""
        known = self._postings.get(term)
        if known is None:
            known = self._postings[term] = self._counted(self.segment.postings(term))
            if len(self._postings) > _TERMS_KEPT:
                self._postings.popitem(last=False)
        return known

    def _counted(self, columns: Columns) -> Columns:
        if self._alive is None:
            return columns
        numbers, counts = columns
        kept = [self._alive[number] for number in numbers]
        return list(compress(numbers, kept)), list(compress(counts, kept))

    def statistics(self, terms: Iterable[str]) -> Statistics:
        """Statistics for these terms."""
        documents, text_length, extra_length = self._totals
        frequencies = {term: len(self.postings(term)[0]) for term in terms}
        return Statistics(documents, text_length, extra_length, frequencies)

    @cached_property
    def _totals(self) -> tuple[int, int, int]:
        segment, alive = self.segment, self._alive
        if alive is None:
            return len(segment.records), sum(segment.text_lengths), sum(segment.extra_lengths)
        lengths = (segment.text_lengths, segment.extra_lengths)
        return sum(alive), sum(compress(lengths[0], alive)), sum(compress(lengths[1], alive))
