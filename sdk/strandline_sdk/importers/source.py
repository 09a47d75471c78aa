"""Reads a file: one JSON document, JSON lines or lines of text, told apart by how it begins; gzip is unpacked.

JSON lines, lines of text and the items of a top-level list are read one by one, a document that is one object whole.
"""

import gzip
import json
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

from strandline_sdk.importers.imported import Bad, Entry, InputError, Place
from strandline_sdk.importers.json_list import ListReader, loads

_BOM = b"\xef\xbb\xbf"
_LONGEST_LINE = 1 << 26
_WIDE_BOMS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")


def holds_json(path: Path) -> bool:
    """Whether a file begins as JSON does; otherwise it is text. False for one that cannot be read."""
    try:
        with opened(path) as stream:
            return stream.read(1 << 16).removeprefix(_BOM).lstrip()[:1] in (b"[", b"{")
    except (OSError, EOFError, zlib.error):
        return False


def json_entries(path: Path, place: Place, bad: Bad) -> Iterator[Entry]:
    """The items of a top-level list, the lines of JSON lines, or the document itself.

    What is not JSON or not UTF-8 is bad: a line of JSON lines by itself, elsewhere with all that follows. Lone
    surrogates, which cannot be stored, become U+FFFD.
    """
    with opened(path) as stream:
        as_lines = _is_json_lines(stream)
    yield from _guarded(_json_lines(path, place, bad) if as_lines else _document(path, place), place, bad)


def text_lines(path: Path, place: Place, bad: Bad) -> Iterator[Entry]:
    """The lines of a text without their ends, blank ones too."""
    yield from _guarded(_text_lines(path, place, bad), place, bad)


def opened(path: Path) -> IO[bytes]:
    """The file's bytes, unpacked where they are gzip."""
    with path.open("rb") as stream:
        packed = stream.read(2) == b"\x1f\x8b"
    return cast(IO[bytes], gzip.open(path) if packed else path.open("rb"))


def _guarded(entries: Iterator[Entry], place: Place, bad: Bad) -> Iterator[Entry]:
    """The entries up to what ends the reading of the file."""
    try:
        yield from entries
    except InputError as error:
        bad(error)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        bad(InputError(place, f"the gzip data is cut or damaged: {error}"))


def _is_json_lines(stream: IO[bytes]) -> bool:
    """Several lines of which the first is a whole value, or, where that one is broken, the two behind it."""
    try:
        first = list(islice(_short_lines(stream), 3))
    except (OSError, EOFError, zlib.error):
        return False
    return len(first) > 1 and (_is_container(first[0]) or list(map(_is_container, first[1:])) == [True, True])


def _short_lines(stream: IO[bytes]) -> Iterator[bytes]:
    """The lines that are not blank, up to one that is too long to be looked at."""
    while line := stream.readline(_LONGEST_LINE):
        if len(line) == _LONGEST_LINE:
            return
        if line.strip():
            yield line


def _is_container(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line.decode("utf-8-sig")), dict | list)
    except (ValueError, RecursionError):
        return False


def _json_lines(path: Path, place: Place, bad: Bad) -> Iterator[Entry]:
    with opened(path) as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                here = place.at(f"line {number}")
                try:
                    entry = Entry(_parsed(_decoded(line, here), here), here)
                except InputError as error:
                    bad(error)
                else:
                    yield entry


def _text_lines(path: Path, place: Place, bad: Bad) -> Iterator[Entry]:
    filled = False
    with opened(path) as stream:
        for number, line in enumerate(stream, start=1):
            filled = filled or bool(line.strip())
            here = place.at(f"line {number}")
            try:
                entry = Entry(_decoded(line, here).rstrip("\r\n"), here)
            except InputError as error:
                bad(error)
            else:
                yield entry
    if not filled:
        raise InputError(place, "the file is empty")


def _document(path: Path, place: Place) -> Iterator[Entry]:
    with opened(path) as stream:
        reader = ListReader(stream, place)
        if reader.begins():
            for number, item in enumerate(reader, start=1):
                yield Entry(item, place.at(f"item {number}"))
            return
    with opened(path) as stream:
        yield Entry(_parsed(_decoded(stream.read(), place), place), place)


def _decoded(data: bytes, place: Place) -> str:
    """The text. A byte order mark is not a part of it."""
    try:
        if data.startswith(_WIDE_BOMS):
            raise UnicodeDecodeError("utf-8", data, 0, 2, "UTF-16")
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(place, f"not UTF-8 (byte {error.start}): convert the file to UTF-8") from error


def _parsed(text: str, place: Place) -> Any:
    if not text.strip():
        raise InputError(place, "the file is empty")
    try:
        return loads(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InputError(place, f"not JSON at {where}: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(place, f"cannot be read as JSON: {error}") from error
