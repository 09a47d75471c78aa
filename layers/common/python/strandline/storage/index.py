"""The search index of one user as stored documents: what is searched, and what a list shows of what it belongs to.

A head of the newest changes, with the names of the layers below it (`domain/layers`, `storage/layered`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from strandline.domain.layers import Layer
from strandline.domain.ranking import Index, Segment, decode_segment, empty, encode_segment
from strandline.storage.document import Stamp


@dataclass(frozen=True)
class Catalogue:
    """One index."""

    index: Index = field(default_factory=Index)

    @cached_property
    def files(self) -> Mapping[str, Mapping[str, Any]]:
        """What a list shows of each group (a memory's path), in order of their names."""
        return self.index.rows()

    @property
    def layers(self) -> Sequence[Layer[Segment]]:
        return self.index.layers

    @property
    def memory(self) -> int:
        """About how many bytes of memory it takes."""
        parts = (self.index.segment, *(layer.part for layer in self.layers))
        return _IN_MEMORY * sum(part.weight for part in parts)

    def settled(self) -> "Catalogue":
        settled = self.index.settled()
        return self if settled is self.index else Catalogue(settled)

    def with_layers(self, layers: Sequence[Layer[Segment]]) -> "Catalogue":
        return Catalogue(Index(self.index.segment, layers))


_IN_MEMORY = 3  # measured: docs/BENCHMARKS.md


class IndexCodec:
    def encode(self, value: Catalogue, stamp: Stamp) -> bytes:
        header = {
            "revision": stamp.revision,
            "writes": stamp.writes,
            "layers": [layer.name for layer in value.layers],
        }
        return value.index.encode(header)

    def decode(self, body: bytes) -> tuple[Catalogue, Stamp]:
        """The layers of the catalogue have names and are empty."""
        index, header = Index.decode(body)
        stamp = Stamp(header["revision"], tuple((w, r) for w, r in header["writes"]))
        layers = [Layer(empty(), name) for name in header.get("layers", ())]
        return Catalogue(Index(index.segment, layers)), stamp

    def encode_layer(self, part: Segment) -> bytes:
        return encode_segment(part, {})

    def decode_layer(self, body: bytes) -> Segment:
        return decode_segment(body)[0]
