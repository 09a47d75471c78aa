"""Reads a file's JSON: one document, or JSON lines, told apart by whether the first line is a whole value."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from strandline_sdk.importers.imported import Entry, InputError, Place


def entries(path: Path) -> Iterator[Entry]:
    """The items of a top-level list, the lines of JSON lines (read lazily), or the document itself.

    Raises InputError, with its line, for what is not JSON or not UTF-8. Lone surrogates, which cannot be stored,
    become U+FFFD.
    """
    if _is_json_lines(path):
        yield from _lines(path)
        return
    place = Place(path)
    document = _parse(path.read_bytes(), place)
    if not isinstance(document, list):
        yield Entry(document, place)
        return
    for number, item in enumerate(document, start=1):
        yield Entry(item, place.at(f"item {number}"))


def loads(text: str) -> Any:
    """The JSON value of a text. Raises ValueError, also for NaN and Infinity, or RecursionError."""
    value = json.loads(text, parse_constant=_refuse_constant)
    return _repaired(value) if "\\ud" in text.lower() else value


def _parse(data: bytes, place: Place) -> Any:
    if not data.strip():
        raise InputError(place, "the file is empty")
    try:
        return loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(place, f"not UTF-8 (byte {error.start}): convert the file to UTF-8") from error
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InputError(place, f"not JSON at {where}: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(place, f"cannot be read as JSON: {error}") from error


def _is_json_lines(path: Path) -> bool:
    with path.open("rb") as stream:
        filled = (line for line in stream if line.strip())
        first, second = next(filled, b""), next(filled, b"")
    return bool(second) and _is_container(first)


def _is_container(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line.decode("utf-8-sig")), dict | list)
    except (ValueError, RecursionError):
        return False


def _lines(path: Path) -> Iterator[Entry]:
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                place = Place(path).at(f"line {number}")
                yield Entry(_parse(line, place), place)


def _repaired(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case list():
            return [_repaired(item) for item in value]
        case dict():
            return {_repaired(name): _repaired(item) for name, item in value.items()}
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON: replace it by null or a string")
