"""How a segment with some groups replaced is made from another one, without touching the other documents' text."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import sub

from strandline.domain.ranking.analysis import Terms, terms_of
from strandline.domain.ranking.bm25 import pack_counts
from strandline.domain.ranking.document import Document, to_record
from strandline.domain.ranking.segment import Columns, Segment, empty

_GONE = -1
_COUNT_BITS = 16
_COUNT_MASK = (1 << _COUNT_BITS) - 1


@dataclass(frozen=True)
class Entry:
    """An analysed document that is not in a segment yet."""

    id: str
    record: bytes
    text_length: int
    extra_length: int
    counts: Mapping[str, int]  # of each term, packed


Changes = Mapping[str, Sequence[Entry]]
Added = dict[str, list[int]]  # of each term: document number and counts in one integer, which sorts by number


def entry(document: Document) -> Entry:
    """Analyse a document. Raises ValueError or TypeError for attributes that cannot be stored."""
    text, extra = terms_of(f"{document.title}\n{document.text}"), terms_of(document.extra)
    in_text, in_extra = _counted(text), _counted(extra)
    counts = {term: pack_counts(in_text[term], in_extra[term]) for term in in_text.keys() | in_extra.keys()}
    return Entry(document.id, to_record(document), _length(text), _length(extra), counts)


def _counted(terms: Terms) -> Counter[str]:
    return Counter(terms.content + terms.fallback)


def _length(terms: Terms) -> int:
    return len(terms.content or terms.fallback)


def changed(old: Segment, changes: Changes) -> Segment:
    """The segment with these groups replaced; an empty sequence removes the group."""
    new = empty()
    moved = [_GONE] * len(old.records)  # a document's new number by its old one
    added: Added = {}
    for group in sorted(set(old.groups) | changes.keys()):
        first = len(new.records)
        if group in changes:
            _add_entries(new, changes[group], added)
        else:
            _move_range(old, new, old.group_range(group), moved)
        if size := len(new.records) - first:
            new.groups.append(group)
            new.group_sizes.append(size)
    _merge_terms(old, new, moved, added)
    return new


def _add_entries(new: Segment, entries: Sequence[Entry], added: Added) -> None:
    for item in sorted(entries, key=lambda item: item.id):
        base = len(new.records) << _COUNT_BITS
        for term, counts in item.counts.items():
            added.setdefault(term, []).append(base | counts)
        new.records.append(item.record)
        new.text_lengths.append(item.text_length)
        new.extra_lengths.append(item.extra_length)


def _move_range(old: Segment, new: Segment, span: range, moved: list[int]) -> None:
    first = len(new.records)
    moved[span.start : span.stop] = range(first, first + len(span))
    new.records.extend(old.records[span.start : span.stop])
    new.text_lengths.extend(old.text_lengths[span.start : span.stop])
    new.extra_lengths.extend(old.extra_lengths[span.start : span.stop])


def _merge_terms(old: Segment, new: Segment, moved: list[int], added: Added) -> None:
    places = {term: at for at, term in enumerate(old.terms)}
    for term in sorted(places.keys() | added.keys()):
        columns: Columns = ((), ())
        if term in places:
            numbers, counts = old.columns(places[term])
            columns = ([moved[number] for number in numbers], counts)
        # Most terms are in no changed document: their columns are copied whole.
        if term in added or _GONE in columns[0]:
            columns = _merged(columns, added.get(term, []))
        _append_term(new, term, columns)


def _merged(kept: Columns, added: list[int]) -> Columns:
    joined = [number << _COUNT_BITS | counts for number, counts in zip(*kept, strict=True) if number != _GONE]
    joined += added
    joined.sort()
    return [item >> _COUNT_BITS for item in joined], [item & _COUNT_MASK for item in joined]


def _append_term(new: Segment, term: str, columns: Columns) -> None:
    numbers, counts = columns
    if not numbers:
        return
    new.terms.append(term)
    new.frequencies.append(len(numbers))
    new.gaps.extend(map(sub, numbers, [0, *numbers]))
    new.counts.extend(counts)
