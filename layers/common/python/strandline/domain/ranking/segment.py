"""An immutable inverted index in the shape it is stored in, and how a changed one is made from it.

Documents are numbered from 0 in order of (group, id), so a group is a range of numbers and the same content always
has the same numbers. The postings of all terms lie behind each other in three arrays: the gap to the previous
document number, and the term's counts in `text` and in `extra`. Nothing is decoded before it is asked for.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from strandline.domain.ranking.analysis import Terms, terms_of
from strandline.domain.ranking.bm25 import Statistics
from strandline.domain.ranking.document import Document, from_record, to_record

_MAX_COUNT = 255  # fits a byte; BM25 is within 1 % of its limit long before

Posting = tuple[int, int, int]  # document number, count in text, count in extra


def numbers(values: Iterable[int] = ()) -> "array[int]":
    """Unsigned 32-bit integers."""
    return array("I", values)


def counts(values: Iterable[int] = ()) -> "array[int]":
    """Unsigned bytes."""
    return array("B", values)


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
    text_counts: "array[int]"
    extra_counts: "array[int]"

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

    def postings(self, term: str) -> Iterator[Posting]:
        """Where a term occurs, in order of document number."""
        at = self._position(term)
        return iter(()) if at is None else self._postings_at(at)

    def _postings_at(self, at: int) -> Iterator[Posting]:
        span = slice(self._term_starts[at], self._term_starts[at + 1])
        return zip(accumulate(self.gaps[span]), self.text_counts[span], self.extra_counts[span], strict=True)

    def all_postings(self) -> Iterator[tuple[str, Iterator[Posting]]]:
        """Every term with its postings, in order of terms."""
        return ((term, self._postings_at(at)) for at, term in enumerate(self.terms))

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


@dataclass(frozen=True)
class Entry:
    """An analysed document that is not in a segment yet."""

    id: str
    record: bytes
    text_length: int
    extra_length: int
    term_counts: Mapping[str, tuple[int, int]]


def entry(document: Document) -> Entry:
    """Analyse a document. Raises ValueError for attributes that cannot be stored or compared."""
    text, extra = terms_of(document.text), terms_of(document.extra)
    in_text, in_extra = _term_counts(text), _term_counts(extra)
    both = {term: (in_text[term], in_extra[term]) for term in in_text.keys() | in_extra.keys()}
    return Entry(document.id, to_record(document), _length(text), _length(extra), both)


def _term_counts(terms: Terms) -> Counter[str]:
    return Counter(terms.content + terms.fallback)


def _length(terms: Terms) -> int:
    return len(terms.content or terms.fallback)


Changes = Mapping[str, Sequence[Entry]]


def empty() -> Segment:
    """A segment without documents."""
    return Segment([], numbers(), [], numbers(), numbers(), [], numbers(), numbers(), counts(), counts())


def changed(old: Segment, changes: Changes) -> Segment:
    """The segment with whole groups replaced; an empty sequence removes the group. Touches no other document's text."""
    new = empty()
    moved = [-1] * len(old.records)
    added: dict[str, list[Posting]] = {}
    for group in sorted(set(old.groups) | changes.keys()):
        first = len(new.records)
        if group in changes:
            _add_entries(new, changes[group], added)
        else:
            _move_range(old, new, old.group_range(group), moved)
        if size := len(new.records) - first:
            new.groups.append(group)
            new.group_sizes.append(size)
    _merge_postings(old, new, moved, added)
    return new


def _add_entries(new: Segment, entries: Sequence[Entry], added: dict[str, list[Posting]]) -> None:
    for item in sorted(entries, key=lambda item: item.id):
        for term, (in_text, in_extra) in item.term_counts.items():
            posting = (len(new.records), min(in_text, _MAX_COUNT), min(in_extra, _MAX_COUNT))
            added.setdefault(term, []).append(posting)
        new.records.append(item.record)
        new.text_lengths.append(item.text_length)
        new.extra_lengths.append(item.extra_length)


def _move_range(old: Segment, new: Segment, span: range, moved: list[int]) -> None:
    first = len(new.records)
    moved[span.start : span.stop] = range(first, first + len(span))
    new.records.extend(old.records[span.start : span.stop])
    new.text_lengths.extend(old.text_lengths[span.start : span.stop])
    new.extra_lengths.extend(old.extra_lengths[span.start : span.stop])


def _merge_postings(old: Segment, new: Segment, moved: list[int], added: dict[str, list[Posting]]) -> None:
    kept = {
        term: [(number, text, extra) for was, text, extra in postings if (number := moved[was]) >= 0]
        for term, postings in old.all_postings()
    }
    for term in sorted(kept.keys() | added.keys()):
        _append_term(new, term, sorted(kept.get(term, []) + added.get(term, [])))


def _append_term(new: Segment, term: str, postings: list[Posting]) -> None:
    if not postings:
        return
    new.terms.append(term)
    new.frequencies.append(len(postings))
    before = 0
    for number, in_text, in_extra in postings:
        new.gaps.append(number - before)
        new.text_counts.append(in_text)
        new.extra_counts.append(in_extra)
        before = number
