"""The bytes of a stored index.

    line 1      JSON: {"schema", "sections": [[name, compressed bytes], ...]}; readable with `head -1`
    then        the sections behind each other, each zlib-compressed: the header as JSON, groups and terms as JSON
                lists, rows and records as lines of JSON, keys behind each other, all else as little-endian arrays

The same content and header give the same bytes under the same zlib. Columns instead of one JSON object because a
search needs the postings of a few terms and the records of its hits only; see `Segment`.

Of `strandline.index/1`, which had no rows (they were in its header as `files`) and no keys, both are made up for.
"""

import json
import sys
import zlib
from array import array
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from strandline.domain.ranking.document import from_record
from strandline.domain.ranking.likeness import HASH_BYTES, embedded, hash_text
from strandline.domain.ranking.segment import Segment, counts, numbers

SCHEMA = "strandline.index/2"
FIRST_SCHEMA = "strandline.index/1"
_LEVEL = 4  # a third of the time of level 6 for 5 % more bytes
_JSON = frozenset({"header", "groups", "terms"})
_LINES = frozenset({"rows", "records"})
_NAMES = tuple(column.name for column in fields(Segment))


class UnreadableIndex(ValueError):
    """The bytes are no index of a schema known here, or are damaged. An index is derived: rebuild it."""


def encode_segment(segment: Segment, header: Mapping[str, Any]) -> bytes:
    """The segment as bytes, with a JSON object of the caller's in front."""
    columns = {"header": dict(header), **{name: getattr(segment, name) for name in _NAMES}}
    sections = {name: zlib.compress(_packed(name, column), _LEVEL) for name, column in columns.items()}
    top = {"schema": SCHEMA, "sections": [[name, len(data)] for name, data in sections.items()]}
    return b"".join([_json(top), b"\n", *sections.values()])


def decode_segment(data: bytes) -> tuple[Segment, dict[str, Any]]:
    """What `encode_segment` was given. Raises UnreadableIndex."""
    try:
        schema, columns = _decoded(data)
        if schema == FIRST_SCHEMA:
            _make_up(columns)
        return Segment(**{name: columns[name] for name in _NAMES}), columns["header"]
    except (ValueError, KeyError, TypeError, zlib.error) as error:
        raise UnreadableIndex(f"not a readable search index: {error}") from error


def _decoded(data: bytes) -> tuple[str, dict[str, Any]]:
    line, _, body = data.partition(b"\n")
    top = json.loads(line)
    schema = top["schema"]
    if schema not in (SCHEMA, FIRST_SCHEMA):
        raise ValueError(f"unknown schema {schema!r}")
    columns = {}
    at = 0
    for name, size in top["sections"]:
        columns[name] = _unpacked(name, zlib.decompress(body[at : at + size]))
        at += size
    return schema, columns


def _make_up(columns: dict[str, Any]) -> None:
    files = columns["header"].pop("files", {})
    sizes = dict(zip(columns["groups"], columns["group_sizes"], strict=True))
    columns["groups"] = sorted({*sizes, *files})
    columns["group_sizes"] = numbers()
    columns["group_sizes"].extend(sizes.get(group, 0) for group in columns["groups"])
    columns["rows"] = [to_row(files.get(group)) for group in columns["groups"]]
    documents = (from_record(record, "") for record in columns["records"])
    columns["keys"] = [hash_text(embedded(document)) for document in documents]


def to_row(shown: Mapping[str, Any] | None) -> bytes:
    """What is stored of what a list shows of a group; None: nothing."""
    return _json(shown)


def _json(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return text.encode("utf-8", "surrogatepass")


def _packed(name: str, column: Any) -> bytes:
    if isinstance(column, array):
        return _little_endian(column).tobytes()
    if name in _LINES:
        return b"\n".join(column)
    if name == "keys":
        return b"".join(column)
    return _json(column)


def _unpacked(name: str, data: bytes) -> Any:
    if name in _LINES:
        return data.split(b"\n") if data else []
    if name == "keys":
        return [data[at : at + HASH_BYTES] for at in range(0, len(data), HASH_BYTES)]
    if name in _JSON:
        return json.loads(data.decode("utf-8", "surrogatepass"))
    column = counts() if name == "counts" else numbers()
    column.frombytes(data)
    return _little_endian(column)


def _little_endian(column: "array[int]") -> "array[int]":
    if sys.byteorder == "big":
        column = column[:]
        column.byteswap()
    return column
