"""The bytes of a stored index.

    line 1      JSON: {"schema", "header", "sections": [[name, compressed bytes], ...]}; readable with `head -1`
    then        the sections behind each other, each zlib-compressed:
                groups and terms as JSON lists, records as lines of JSON, all else as little-endian arrays

The same content and header give the same bytes under the same zlib. Columns instead of one JSON object because a
search needs the postings of a few terms and the records of its hits only; see `Segment`.
"""

import json
import sys
import zlib
from array import array
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from strandline.domain.ranking.segment import Segment, counts, numbers

SCHEMA = "strandline.index/1"
_LEVEL = 6
_BYTES = frozenset({"text_counts", "extra_counts"})
_JSON = frozenset({"groups", "terms"})
_NAMES = tuple(column.name for column in fields(Segment))


class UnreadableIndex(ValueError):
    """The bytes are no index of a schema known here, or are damaged. An index is derived: rebuild it."""


def encode_segment(segment: Segment, header: Mapping[str, Any]) -> bytes:
    """The segment as bytes, with a JSON object of the caller's in front."""
    sections = [(name, zlib.compress(_packed(name, getattr(segment, name)), _LEVEL)) for name in _NAMES]
    top = {"schema": SCHEMA, "header": dict(header), "sections": [[name, len(data)] for name, data in sections]}
    line = json.dumps(top, sort_keys=True, separators=(",", ":")).encode()
    return b"".join([line, b"\n", *(data for _, data in sections)])


def decode_segment(data: bytes) -> tuple[Segment, dict[str, Any]]:
    """What `encode_segment` was given. Raises UnreadableIndex."""
    try:
        return _decoded(data)
    except (ValueError, KeyError, TypeError, zlib.error) as error:
        raise UnreadableIndex(f"not a readable search index: {error}") from error


def _decoded(data: bytes) -> tuple[Segment, dict[str, Any]]:
    line, _, body = data.partition(b"\n")
    top = json.loads(line)
    if top["schema"] != SCHEMA:
        raise ValueError(f"unknown schema {top['schema']!r}")
    columns: dict[str, Any] = {}
    at = 0
    for name, size in top["sections"]:
        columns[name] = _unpacked(name, zlib.decompress(body[at : at + size]))
        at += size
    return Segment(**columns), top["header"]


def _packed(name: str, column: Any) -> bytes:
    if isinstance(column, array):
        return _little_endian(column).tobytes()
    if name == "records":
        return b"\n".join(column)
    return json.dumps(column, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _unpacked(name: str, data: bytes) -> Any:
    if name == "records":
        return data.split(b"\n") if data else []
    if name in _JSON:
        return json.loads(data.decode("utf-8", "surrogatepass"))
    column = counts() if name in _BYTES else numbers()
    column.frombytes(data)
    return _little_endian(column)


def _little_endian(column: "array[int]") -> "array[int]":
    if sys.byteorder == "big":
        column = column[:]
        column.byteswap()
    return column
