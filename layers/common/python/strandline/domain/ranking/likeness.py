"""How alike texts are, by the vectors that a model gives them.

A vector is kept by the hash of its text, so that the same line has one wherever it stands, and as bytes: its length
as a 32-bit float, then one signed byte a dimension, scaled so that the greatest is 127. The angle between two vectors
does not depend on the scale; 384 dimensions in a byte each move a cosine by less than 0.01.
"""

import hashlib
import math
import struct
from array import array
from collections.abc import Iterator, Mapping, Sequence

from strandline.domain.ranking.document import Document

HASH_BYTES = 8
_TOP = 127
_LENGTH = struct.Struct("<f")
_LANE = 4  # bytes
_SHIFT = 128
_SHIFTED = bytes((byte + _SHIFT) % 256 for byte in range(256))  # of a signed byte as it is stored
_QUERY_SUM = (
    2 ** (8 * _LANE) - 1
) // 255 - 2**14  # of the sizes of all dimensions, rounded: then no lane runs over
_ROWS_AT_ONCE = 4_096


def hash_text(text: str) -> bytes:
    """What a text's vector is kept by."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES).digest()


def embedded(document: Document) -> str:
    """The text whose vector stands for a document: a message goes by its speaker too, since questions name people.

    On LoCoMo the speaker lifts the evidence recall@10 of messages by words and likeness from 72.2 to 78.5 %.
    """
    speaker = document.attributes.get("peer_id") or document.attributes.get("role")
    return f"{speaker}: {document.text}" if speaker else document.text


def pack(vector: Sequence[float]) -> bytes:
    """The vector as it is kept. Raises ValueError for one without a direction."""
    top = max(map(abs, vector), default=0.0)
    if not 0.0 < top < math.inf:
        raise ValueError("a vector needs at least one number that is not zero, and none that is not finite")
    row = array("b", [round(x / top * _TOP) for x in vector])
    return _LENGTH.pack(math.sqrt(sum(x * x for x in row))) + row.tobytes()


def likeness(rows: Mapping[bytes, bytes], query: Sequence[float]) -> dict[bytes, float]:
    """The cosine between the query and each row, -1 to 1; rows of other dimensions are left out."""
    sum_of_sizes = sum(map(abs, query)) or 1.0
    whole = [round(x / sum_of_sizes * _QUERY_SUM) for x in query]
    length = math.sqrt(sum(x * x for x in whole)) or 1.0
    size = len(query) + _LENGTH.size
    keys = [key for key, row in rows.items() if len(row) == size]
    found: dict[bytes, float] = {}
    for start in range(0, len(keys), _ROWS_AT_ONCE):
        some = keys[start : start + _ROWS_AT_ONCE]
        packed = b"".join([rows[key] for key in some])
        lengths = (own for at in range(0, len(packed), size) for own in _LENGTH.unpack_from(packed, at))
        cosines = (dot / (own * length) for dot, own in zip(_dots(packed, whole), lengths, strict=True))
        found.update(zip(some, cosines, strict=True))
    return found


def _dots(packed: bytes, query: Sequence[int]) -> Iterator[int]:
    """The product of the query and each of the rows that lie behind each other.

    Many rows at once, without a loop over them: a dimension of all rows is one large integer with a lane of 32 bits
    for each row; times the query's number in that dimension, and summed over the dimensions, each lane holds its row's
    product. Lanes cannot be negative: the rows are shifted up by 128, what the query has below zero is summed apart.
    """
    size = len(query) + _LENGTH.size
    shifted = packed.translate(_SHIFTED)
    lanes = bytearray(_LANE * (len(packed) // size))
    above = below = 0
    for dimension, factor in enumerate(query, start=_LENGTH.size):
        lanes[::_LANE] = shifted[dimension::size]
        if factor > 0:
            above += factor * int.from_bytes(lanes, "little")
        elif factor < 0:
            below -= factor * int.from_bytes(lanes, "little")
    shift = _SHIFT * sum(query)
    count = len(lanes) // _LANE
    sums = (struct.unpack(f"<{count}I", each.to_bytes(len(lanes), "little")) for each in (above, below))
    return (plus - minus - shift for plus, minus in zip(*sums, strict=True))
