"""The search index of one user as a value."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from strandline.domain.ranking.changes import Changes, Entry, changed, entry
from strandline.domain.ranking.document import Document, from_record
from strandline.domain.ranking.encoding import decode_segment, encode_segment
from strandline.domain.ranking.search import Conditions, Hit, search
from strandline.domain.ranking.segment import Segment, empty

_NO_CHANGES: Changes = MappingProxyType({})


class Index:
    """Groups of documents, searchable. Never changes: replacing or removing a group gives another index.

    Replacing a group analyses its documents only. The changes made since are worked into the postings once, when
    the result is searched or encoded.
    """

    def __init__(self, base: Segment | None = None, changes: Changes = _NO_CHANGES) -> None:
        # One attribute, so that threads sharing the value never see a segment with another one's changes.
        self._state = (base or empty(), changes)

    @property
    def segment(self) -> Segment:
        """Everything in one segment."""
        base, changes = self._state
        if changes:
            base = changed(base, changes)
            self._state = (base, _NO_CHANGES)
        return base

    def replace_group(self, group: str, documents: Iterable[Document]) -> "Index":
        """The index with exactly these documents in the group; none removes it.

        Raises ValueError when a document names another group, an id comes twice, or an attribute cannot be stored.
        """
        return self.replace_groups({group: documents})

    def replace_groups(self, groups: Mapping[str, Iterable[Document]]) -> "Index":
        """`replace_group` for many groups at once; what a rebuild should use."""
        base, changes = self._state
        new = {group: _entries(group, documents) for group, documents in groups.items()}
        return Index(base, {**changes, **new})

    def groups(self) -> list[str]:
        """Names of the groups that have documents, sorted."""
        base, changes = self._state
        return sorted((set(base.groups) - changes.keys()) | {group for group, new in changes.items() if new})

    def documents(self, group: str) -> list[Document]:
        """The group's documents as stored, sorted by id; expired ones too."""
        base, changes = self._state
        if group in changes:
            entries = sorted(changes[group], key=lambda item: item.id)
            return [from_record(item.record, group) for item in entries]
        return [base.document(number) for number in base.group_range(group)]

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
        """The index as bytes, with a JSON object of the caller's; the same content gives the same bytes."""
        return encode_segment(self.segment, header or {})

    @classmethod
    def decode(cls, data: bytes) -> "tuple[Index, dict[str, Any]]":
        """The index and header that `encode` was given. Raises UnreadableIndex."""
        segment, header = decode_segment(data)
        return cls(segment), header


def search_all(indexes: Sequence[Index], query: str, conditions: Conditions) -> list[Hit]:
    """Search the parts of a divided index as one: the scores are those of the undivided index."""
    return search([index.segment for index in indexes], query, conditions)


def _entries(group: str, documents: Iterable[Document]) -> list[Entry]:
    entries: dict[str, Entry] = {}
    for document in documents:
        if document.group != group or document.id in entries:
            raise ValueError(f"document {document.id!r} is in the wrong group or comes twice in {group!r}")
        entries[document.id] = entry(document)
    return list(entries.values())
