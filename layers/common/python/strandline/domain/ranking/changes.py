"""How a segment is made from others, with some groups replaced, without touching the other documents' text."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import sub

from strandline.domain.ranking.analysis import Terms, terms_of
from strandline.domain.ranking.bm25 import pack_counts
from strandline.domain.ranking.document import Document, to_record
from strandline.domain.ranking.likeness import embedded, hash_text
from strandline.domain.ranking.segment import NO_ROW, Columns, Segment, empty

_GONE = -1
_COUNT_BITS = 16
_COUNT_MASK = (1 << _COUNT_BITS) - 1


@dataclass(frozen=True)
class Entry:
    """An analysed document that is not in a segment yet."""

    id: str
    record: bytes
    key: bytes
    text_length: int
    extra_length: int
    counts: Mapping[str, int]  # of each term, packed


@dataclass(frozen=True)
class Replacement:
    """What a group becomes: its row and its documents; without either it is gone."""

    row: bytes = NO_ROW
    entries: Sequence[Entry] = field(default_factory=tuple)


Changes = Mapping[str, Replacement]
Added = dict[str, list[int]]  # of each term: document number and counts in one integer, which sorts by number


def entry(document: Document) -> Entry:
    """Analyse a document. Raises ValueError or TypeError for attributes that cannot be stored."""
    text, extra = terms_of(f"{document.title}\n{document.text}"), terms_of(document.extra)
    in_text, in_extra = _counted(text), _counted(extra)
    counts = {term: pack_counts(in_text[term], in_extra[term]) for term in in_text.keys() | in_extra.keys()}
    key = hash_text(embedded(document))
    return Entry(document.id, to_record(document), key, _length(text), _length(extra), counts)


def _counted(terms: Terms) -> Counter[str]:
    return Counter(terms.content + terms.fallback)


def _length(terms: Terms) -> int:
    return len(terms.content or terms.fallback)


def forgets(_group: str) -> bool:
    """No group that is gone has to be remembered: nothing older knows of it."""
    return False


def combined(
    sources: Sequence[Segment], changes: Changes, *, remembers: Callable[[str], bool] = forgets
) -> Segment:
    """One segment of all, oldest first, with these groups replaced. A group is what the newest source says it is; that
    it is gone is written down when `remembers` says so."""
    building = _Building(sources)
    newest = {group: source for source in building.sources for group in source.segment.groups}
    for group in sorted(newest.keys() | changes.keys()):
        if group in changes:
            building.add(group, changes[group], remembers)
        else:
            building.take(group, newest[group], remembers)
    return building.finished()


def chosen(segment: Segment, groups: Iterable[str]) -> Segment:
    """The segment with these of its groups only, also those that are gone."""
    building = _Building([segment])
    for group in sorted(groups):
        building.take(group, building.sources[0], lambda _: True)
    return building.finished()


@dataclass(frozen=True)
class _Source:
    segment: Segment
    moved: list[int]  # a document's new number by its old one
    places: Mapping[str, int]

    @classmethod
    def of(cls, segment: Segment) -> "_Source":
        places = {term: at for at, term in enumerate(segment.terms)}
        return cls(segment, [_GONE] * len(segment.records), places)


class _Building:
    """A segment that is being made, group by group in order of their names."""

    def __init__(self, sources: Sequence[Segment]) -> None:
        self.sources = [_Source.of(segment) for segment in sources]
        self._new = empty()
        self._added: Added = {}

    def add(self, group: str, wanted: Replacement, remembers: Callable[[str], bool]) -> None:
        for item in sorted(wanted.entries, key=lambda item: item.id):
            base = len(self._new.records) << _COUNT_BITS
            for term, counts in item.counts.items():
                self._added.setdefault(term, []).append(base | counts)
            self._new.records.append(item.record)
            self._new.keys.append(item.key)
            self._new.text_lengths.append(item.text_length)
            self._new.extra_lengths.append(item.extra_length)
        self._close(group, wanted.row, len(wanted.entries), remembers)

    def take(self, group: str, source: _Source, remembers: Callable[[str], bool]) -> None:
        old, new = source.segment, self._new
        at = bisect_left(old.groups, group)  # it is there
        span, first = old.span(at), len(new.records)
        source.moved[span.start : span.stop] = range(first, first + len(span))
        new.records.extend(old.records[span.start : span.stop])
        new.keys.extend(old.keys[span.start : span.stop])
        new.text_lengths.extend(old.text_lengths[span.start : span.stop])
        new.extra_lengths.extend(old.extra_lengths[span.start : span.stop])
        self._close(group, old.rows[at], len(span), remembers)

    def _close(self, group: str, row: bytes, size: int, remembers: Callable[[str], bool]) -> None:
        if size or row != NO_ROW or remembers(group):
            self._new.groups.append(group)
            self._new.group_sizes.append(size)
            self._new.rows.append(row)

    def finished(self) -> Segment:
        terms = set(self._added).union(*(source.places for source in self.sources))
        for term in sorted(terms):
            _append_term(self._new, term, self._columns(term))
        return self._new

    def _columns(self, term: str) -> Columns:
        """Most terms are in one source and in no changed document: their columns are copied whole."""
        found = [_moved(source, term) for source in self.sources if term in source.places]
        if len(found) == 1 and term not in self._added and _GONE not in found[0][0]:
            return found[0]
        joined = [item for columns in found for item in _packed(columns)] + self._added.get(term, [])
        joined.sort()
        return [item >> _COUNT_BITS for item in joined], [item & _COUNT_MASK for item in joined]


def _moved(source: _Source, term: str) -> Columns:
    numbers, counts = source.segment.columns(source.places[term])
    return list(map(source.moved.__getitem__, numbers)), counts


def _packed(columns: Columns) -> Iterator[int]:
    return (
        number << _COUNT_BITS | counts for number, counts in zip(*columns, strict=True) if number != _GONE
    )


def _append_term(new: Segment, term: str, columns: Columns) -> None:
    numbers, counts = columns
    if not numbers:
        return
    new.terms.append(term)
    new.frequencies.append(len(numbers))
    new.gaps.extend(map(sub, numbers, [0, *numbers]))
    new.counts.extend(counts)
