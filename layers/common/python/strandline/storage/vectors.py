"""The vectors of one user's memory lines or messages as stored documents, derived like the index beside them.

A head and layers (`domain/layers`, `storage/layered`), all of one form:

line 1      JSON: {"schema", "model", "count", "size", "revision", "writes", "layers"}; readable with `head -1`
then        the hashes of the texts behind each other, sorted; then their vectors in the same order
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from strandline.domain.layers import Layer, heaviest, merged_from, too_heavy
from strandline.domain.ranking.likeness import HASH_BYTES
from strandline.storage.document import Stamp

SCHEMA = "strandline.vectors/1"
_INCOMPRESSIBLE = 4
_ROW_BYTES = 200  # of memory, besides the row

Rows = Mapping[bytes, bytes]


@dataclass(frozen=True)
class Vectors:
    """Packed vectors of one model by the hash of their text: the newest, and layers of older ones."""

    model: str = ""
    newest: Rows = field(default_factory=dict)
    layers: tuple[Layer[Rows], ...] = ()

    @cached_property
    def rows(self) -> Rows:
        """All of them."""
        rows = dict(self.newest)
        for layer in self.layers:
            rows.update(layer.part)
        return rows

    @property
    def memory(self) -> int:
        """About how many bytes of memory it takes."""
        return sum(_ROW_BYTES + len(row) for row in self.rows.values())

    def with_rows(self, made: Rows, gone: Collection[bytes]) -> "Vectors":
        """With these added, and without those that are `gone`, but for layers of which most stays; itself when nothing
        changes."""
        stale = [_share(layer.part, gone) > 0.5 for layer in self.layers]
        if not made and not any(stale) and not any(key in gone for key in self.newest):
            return self
        layers = (
            _without(layer, gone) if old else layer for old, layer in zip(stale, self.layers, strict=True)
        )
        newest = {**_kept(self.newest, gone), **made}
        return Vectors(self.model, newest, tuple(layer for layer in layers if layer.part))

    def without(self, gone: Collection[bytes]) -> "Vectors":
        """Without these, wherever they are; itself when there are none."""
        if not gone:
            return self
        layers = (_without(layer, gone) for layer in self.layers)
        return Vectors(self.model, _kept(self.newest, gone), tuple(layer for layer in layers if layer.part))

    def settled(self) -> "Vectors":
        """The same, with the head turned into a layer when it is too heavy, and layers put together."""
        weight = _weight(self.newest)
        if not too_heavy(weight):
            return self
        start = merged_from([_weight(layer.part) for layer in self.layers], weight)
        whole = dict(self.newest)
        for layer in self.layers[start:]:
            whole.update(layer.part)
        return Vectors(self.model, {}, (*self.layers[:start], *map(Layer, _divided(whole))))

    def with_layers(self, layers: Sequence[Layer[Rows]]) -> "Vectors":
        return replace(self, layers=tuple(layers))


def _weight(rows: Rows) -> int:
    """As if they were to be compressed, which they cannot be."""
    return _INCOMPRESSIBLE * sum(HASH_BYTES + len(row) for row in rows.values())


def _share(rows: Rows, gone: Collection[bytes]) -> float:
    return sum(key in gone for key in rows) / len(rows)


def _kept(rows: Rows, gone: Collection[bytes]) -> Rows:
    return {key: row for key, row in rows.items() if key not in gone}


def _without(layer: Layer[Rows], gone: Collection[bytes]) -> Layer[Rows]:
    kept = _kept(layer.part, gone)
    return layer if len(kept) == len(layer.part) else Layer(kept)


def _divided(rows: Rows) -> Iterator[Rows]:
    """The rows in as many parts as it takes for none to be too heavy."""
    count = -(-_weight(rows) // heaviest())
    keys = sorted(rows)
    size = -(-len(keys) // count)
    for start in range(0, len(keys), size):
        yield {key: rows[key] for key in keys[start : start + size]}


class VectorsCodec:
    def encode(self, value: Vectors, stamp: Stamp) -> bytes:
        """Raises ValueError when the vectors are not all of one size."""
        about = {"model": value.model, "layers": [layer.name for layer in value.layers]}
        return _encoded(value.newest, {**about, "revision": stamp.revision, "writes": stamp.writes})

    def decode(self, body: bytes) -> tuple[Vectors, Stamp]:
        """Layers have names and are empty. Raises ValueError for anything that `encode` did not make."""
        rows, top = _decoded(body)
        stamp = Stamp(top["revision"], tuple((w, r) for w, r in top["writes"]))
        layers: Iterator[Layer[Rows]] = (Layer({}, name) for name in top.get("layers", ()))
        return Vectors(top["model"], rows, tuple(layers)), stamp

    def encode_layer(self, part: Rows) -> bytes:
        return _encoded(part, {})

    def decode_layer(self, body: bytes) -> Rows:
        return _decoded(body)[0]


def _encoded(rows: Rows, about: Mapping[str, Any]) -> bytes:
    sizes = {len(row) for row in rows.values()} or {0}
    (size,) = sizes
    top = {"schema": SCHEMA, "count": len(rows), "size": size, **about}
    keys = sorted(rows)
    return b"".join([json.dumps(top).encode(), b"\n", *keys, *(rows[key] for key in keys)])


def _decoded(body: bytes) -> tuple[dict[bytes, bytes], dict[str, Any]]:
    line, _, data = body.partition(b"\n")
    top = json.loads(line)
    count, size = top["count"], top["size"]
    if top["schema"] != SCHEMA or len(data) != count * (HASH_BYTES + size):
        raise ValueError("not vectors of a schema known here, or damaged")
    keys = [data[n : n + HASH_BYTES] for n in range(0, count * HASH_BYTES, HASH_BYTES)]
    rows = data[count * HASH_BYTES :]
    return {key: rows[n * size : (n + 1) * size] for n, key in enumerate(keys)}, top
