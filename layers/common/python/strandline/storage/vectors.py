"""The vectors of one user's memory lines or messages as a stored document, derived like the index beside it.

line 1      JSON: {"schema", "model", "count", "size", "revision", "writes"}; readable with `head -1`
then        the hashes of the texts behind each other, sorted; then their vectors in the same order
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from strandline.domain.ranking.likeness import HASH_BYTES
from strandline.storage.document import Stamp

SCHEMA = "strandline.vectors/1"


@dataclass(frozen=True)
class Vectors:
    """Packed vectors of one model by the hash of their text."""

    model: str = ""
    rows: Mapping[bytes, bytes] = field(default_factory=dict)


class VectorsCodec:
    content_type = "application/octet-stream"

    def encode(self, value: Vectors, stamp: Stamp) -> bytes:
        """Raises ValueError when the vectors are not all of one size."""
        sizes = {len(row) for row in value.rows.values()} or {0}
        (size,) = sizes
        top = {
            "schema": SCHEMA,
            "model": value.model,
            "count": len(value.rows),
            "size": size,
            "revision": stamp.revision,
            "writes": stamp.writes,
        }
        keys = sorted(value.rows)
        return b"".join([json.dumps(top).encode(), b"\n", *keys, *(value.rows[key] for key in keys)])

    def decode(self, body: bytes) -> tuple[Vectors, Stamp]:
        """Raises ValueError for anything that `encode` did not make."""
        line, _, data = body.partition(b"\n")
        top = json.loads(line)
        count, size = top["count"], top["size"]
        if top["schema"] != SCHEMA or len(data) != count * (HASH_BYTES + size):
            raise ValueError("not vectors of a schema known here, or damaged")
        keys = [data[n : n + HASH_BYTES] for n in range(0, count * HASH_BYTES, HASH_BYTES)]
        rows = data[count * HASH_BYTES :]
        packed = {key: rows[n * size : (n + 1) * size] for n, key in enumerate(keys)}
        stamp = Stamp(top["revision"], tuple((w, r) for w, r in top["writes"]))
        return Vectors(top["model"], packed), stamp
