"""The search index of one user as a value."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from strandline.domain.layers import Layer, heaviest, merged_from, too_heavy
from strandline.domain.ranking.changes import Changes, Entry, Replacement, chosen, combined, entry
from strandline.domain.ranking.document import Document, from_record
from strandline.domain.ranking.encoding import decode_segment, encode_segment, to_row
from strandline.domain.ranking.likeness import embedded
from strandline.domain.ranking.search import Conditions, Hit, search
from strandline.domain.ranking.segment import Segment, empty
from strandline.domain.ranking.view import View, views

_NO_CHANGES: Changes = MappingProxyType({})
_NO_ROWS: Mapping[str, Mapping[str, Any]] = MappingProxyType({})

Layers = Sequence[Layer[Segment]]


class Index:
    """Groups of documents, searchable. Never changes: replacing or removing a group gives another index.

    It is one segment with the newest changes, the head, over layers of older ones (`domain/layers`); whatever is asked
    of it is answered as if it were one segment. Replacing a group analyses its documents only. The changes made since
    are worked into the head once, when the result is searched or encoded.
    """

    def __init__(
        self, head: Segment | None = None, layers: Layers = (), changes: Changes = _NO_CHANGES
    ) -> None:
        self.layers = tuple(layers)
        # One attribute, so that threads sharing the value never see a segment with another one's changes.
        self._state: tuple[Segment, Changes, Sequence[View] | None] = (head or empty(), changes, None)

    @property
    def segment(self) -> Segment:
        """The head, with all changes."""
        head, changes, _ = self._state
        if changes:
            head = combined([head], changes, remembers=self._lies_below)
            self._state = (head, _NO_CHANGES, None)
        return head

    @property
    def views(self) -> Sequence[View]:
        """What counts of each layer, and of the head."""
        head = self.segment
        known = self._state[2]
        if known is None:
            known = views([*(layer.part for layer in self.layers), head])
            self._state = (head, _NO_CHANGES, known)
        return known

    def _lies_below(self, group: str) -> bool:
        return _is_in(self.layers, group)

    def replace_group(self, group: str, documents: Iterable[Document]) -> "Index":
        """The index with exactly these documents in the group; none removes it.

        Raises ValueError when a document names another group, an id comes twice, or an attribute cannot be stored.
        """
        return self.replace_groups({group: documents})

    def replace_groups(
        self,
        groups: Mapping[str, Iterable[Document]],
        rows: Mapping[str, Mapping[str, Any]] = _NO_ROWS,
    ) -> "Index":
        """`replace_group` for many groups at once; what a rebuild should use. A group with a row in `rows` is there
        without documents too."""
        head, changes, _ = self._state
        new = {
            group: Replacement(to_row(rows.get(group)), _entries(group, documents))
            for group, documents in groups.items()
        }
        return Index(head, self.layers, {**changes, **new})

    def without(self, prefix: str) -> "Index":
        """The index without the groups whose names begin so: no layer holds anything of them any more, not even of
        what was replaced. Layers that do not know them stay as they are."""
        head = self.segment
        layers = [_purged(layer, prefix) for layer in self.layers]
        if layers == list(self.layers) and not _named(head, prefix):
            return self
        kept = chosen(head, _others(head, prefix))
        return Index(kept, [layer for layer in layers if layer.part.groups])

    def compacted(self) -> "Index":
        """The same, with nothing left in any layer of what was replaced or is gone; itself when nothing is."""
        layers = [_living(layer, view) for layer, view in zip(self.layers, self.views, strict=False)]
        if all(new is old for new, old in zip(layers, self.layers, strict=True)):
            return self
        return Index(self.segment, [layer for layer in layers if layer.part.groups])

    def settled(self) -> "Index":
        """The same, with the head turned into a layer when it is too heavy, and layers put together."""
        head = self.segment
        if not too_heavy(head.weight):
            return self
        parts = [layer.part for layer in self.layers]
        start = merged_from([part.weight for part in parts], head.weight)
        older = [*self.layers[:start]]
        whole = combined([*parts[start:], head], {}, remembers=lambda group: _is_in(older, group))
        seen = views([*(layer.part for layer in older), whole])
        return Index(layers=[*_refreshed(older, seen), *map(Layer, _divided(whole))])

    def groups(self) -> list[str]:
        """Names of the groups that have documents, sorted."""
        return sorted(
            group for view in self.views for group, at in view.groups() if view.segment.group_sizes[at]
        )

    def rows(self) -> dict[str, Mapping[str, Any]]:
        """The rows of the groups that have one, sorted by name."""
        return dict(sorted((group, _read(row)) for view in self.views for group, row in view.rows()))

    def documents(self, group: str) -> list[Document]:
        """The group's documents as stored, sorted by id; expired ones too."""
        head, changes, _ = self._state
        if group in changes:
            entries = sorted(changes[group].entries, key=lambda item: item.id)
            return [from_record(item.record, group) for item in entries]
        for segment in (head, *(layer.part for layer in reversed(self.layers))):
            if segment.place(group) is not None:
                return [segment.document(number) for number in segment.group_range(group)]
        return []

    def keys(self) -> set[bytes]:
        """The hashes of the texts that have vectors, or should."""
        return {view.segment.keys[number] for view in self.views for number in view.numbers()}

    def texts(self, keys: Collection[bytes]) -> dict[bytes, str]:
        """The texts with these hashes, as far as they are here."""
        return {
            view.segment.keys[number]: embedded(view.document(number))
            for view in self.views
            for number in view.numbers()
            if view.segment.keys[number] in keys
        }

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        accept: Callable[[Document], bool] | None = None,
        now: str | None,
        score_threshold: float | None = None,
    ) -> list[Hit]:
        """The best documents that `accept` accepts and that have not expired at `now`, best first.

        `now` None finds expired ones too. Ties go by id. `score_threshold` is the least score returned.
        Raises ValueError for a negative limit or a bad time.
        """
        return search_all([self], query, Conditions(limit, accept, now, score_threshold))

    def encode(self, header: Mapping[str, Any] | None = None) -> bytes:
        """The head as bytes, with a JSON object of the caller's; the same content gives the same bytes."""
        return encode_segment(self.segment, header or {})

    @classmethod
    def decode(cls, data: bytes) -> "tuple[Index, dict[str, Any]]":
        """The head and header that `encode` was given. Raises UnreadableIndex."""
        segment, header = decode_segment(data)
        return cls(segment), header


def search_all(indexes: Sequence[Index], query: str, conditions: Conditions) -> list[Hit]:
    """Search the parts of a divided index as one: the scores are those of the undivided index."""
    return search(all_views(indexes), query, conditions)


def all_views(indexes: Iterable[Index]) -> list[View]:
    return [view for index in indexes for view in index.views]


def _entries(group: str, documents: Iterable[Document]) -> list[Entry]:
    entries: dict[str, Entry] = {}
    for document in documents:
        if document.group != group or document.id in entries:
            raise ValueError(f"document {document.id!r} is in the wrong group or comes twice in {group!r}")
        entries[document.id] = entry(document)
    return list(entries.values())


def _read(row: bytes) -> Mapping[str, Any]:
    shown: Mapping[str, Any] = json.loads(row.decode("utf-8", "surrogatepass"))
    return shown


def _is_in(layers: Layers, group: str) -> bool:
    return any(layer.part.place(group) is not None for layer in layers)


def _named(segment: Segment, prefix: str) -> list[str]:
    return [group for group in segment.groups if group.startswith(prefix)]


def _others(segment: Segment, prefix: str) -> list[str]:
    return [group for group in segment.groups if not group.startswith(prefix)]


def _purged(layer: Layer[Segment], prefix: str) -> Layer[Segment]:
    return Layer(chosen(layer.part, _others(layer.part, prefix))) if _named(layer.part, prefix) else layer


def _living(layer: Layer[Segment], view: View) -> Layer[Segment]:
    living = [group for group, _ in view.groups()]
    return layer if len(living) == len(layer.part.groups) else Layer(chosen(layer.part, living))


def _refreshed(layers: Layers, seen: Sequence[View]) -> Iterator[Layer[Segment]]:
    """The layers, that one without its dead documents of which the greatest share is dead, if it is more than half."""
    shares = [view.dead_share for view in seen[: len(layers)]]
    worst = max(range(len(layers)), key=lambda at: shares[at], default=0)
    for at, layer in enumerate(layers):
        if at != worst or shares[at] <= 0.5:
            yield layer
        elif living := [group for group, _ in seen[at].groups()]:
            yield Layer(chosen(layer.part, living))


def _divided(segment: Segment) -> Iterator[Segment]:
    """The segment in as many as it takes for none to be too heavy; none for an empty one."""
    count = -(-segment.weight // heaviest())
    if count <= 1:
        yield from [segment] if segment.groups else ()
        return
    size = -(-len(segment.groups) // count)
    for start in range(0, len(segment.groups), size):
        yield chosen(segment, segment.groups[start : start + size])
