"""What is searched and what is found."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

Scalar = str | int | float | bool | None


@dataclass(frozen=True)
class Document:
    """One searchable line.

    `group` is the unit of replacement (a memory file, one archive of a session); `id` is unique within it and,
    for ties to be broken by it alone, should be unique in the index. `text` and `attributes` are stored and come
    back; `title` and `extra` are only indexed and come back empty. `title` counts like the text (a heading, the
    speaker, the words of a date), `extra` less (the lines before and after; see bm25.EXTRA_WEIGHT). Attributes are
    for the caller's filters; only `expires_at` (an ISO 8601 time, or None) has a meaning here.
    """

    id: str
    group: str
    text: str
    attributes: Mapping[str, Scalar] = field(default_factory=dict)
    title: str = ""
    extra: str = ""

    @property
    def expires_at(self) -> datetime | None:
        """When it stops being found. Raises ValueError when the attribute is not an ISO 8601 time."""
        moment = self.attributes.get("expires_at")
        return None if moment is None else instant(str(moment))

    def expired(self, now: datetime) -> bool:
        """Whether it has expired at this moment."""
        moment = self.expires_at
        return moment is not None and moment <= now


def instant(text: str) -> datetime:
    """The moment an ISO 8601 time names; one without offset is UTC. Raises ValueError for anything else."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def to_record(document: Document) -> bytes:
    """What is stored of a document, as one line of JSON. The group is stored once for all of its documents.

    Raises ValueError for NaN, infinities and an expiry that is no time, TypeError for attributes that JSON cannot hold.
    Lone surrogates pass: one odd text must not make a whole index unwritable.
    """
    _ = document.expires_at  # refused now rather than at every search
    fields = [document.id, document.text, dict(document.attributes)]
    line = json.dumps(fields, ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False)
    return line.encode("utf-8", "surrogatepass")


def from_record(record: bytes, group: str) -> Document:
    """The document of a record."""
    key, text, attributes = json.loads(record.decode("utf-8", "surrogatepass"))
    return Document(key, group, text, attributes)
