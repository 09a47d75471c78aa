"""The search index of one user as a stored document: the ranked lines, and a catalogue of what they belong to."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from strandline.domain.ranking import Index
from strandline.storage.document import Stamp


@dataclass(frozen=True)
class Catalogue:
    """One index object. `files` says of each group (a memory's path; a session's archive) what a list shows of it."""

    index: Index = field(default_factory=Index)
    files: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


class IndexCodec:
    content_type = "application/octet-stream"

    def encode(self, value: Catalogue, stamp: Stamp) -> bytes:
        header = {
            "revision": stamp.revision,
            "writes": stamp.writes,
            "files": dict(sorted(value.files.items())),
        }
        return value.index.encode(header)

    def decode(self, body: bytes) -> tuple[Catalogue, Stamp]:
        index, header = Index.decode(body)
        stamp = Stamp(header["revision"], tuple((w, r) for w, r in header["writes"]))
        return Catalogue(index, header["files"]), stamp
