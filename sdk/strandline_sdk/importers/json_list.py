"""A top-level JSON list read item by item, so that only one item need be in memory."""

import codecs
import json
import re
from collections.abc import Iterator
from typing import IO, Any

from strandline_sdk.importers.imported import InputError, Place

_CHUNK = 1 << 16
_SPACE = re.compile(r"[ \t\r\n]*")


class ListReader:
    """The items of a list. Iterating raises InputError, with line and column, where it stops being one."""

    def __init__(self, stream: IO[bytes], place: Place) -> None:
        self._stream = stream
        self._place = place
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._bytes = 0
        self._ended = False
        self._failure: InputError | None = None
        self._text = ""  # of the file, from line and column on; what stands before the position is done with
        self._position = 0
        self._line, self._column = 1, 0

    def begins(self) -> bool:
        """Whether the document is a list; its bracket is passed."""
        return self._passes("[")

    def __iter__(self) -> Iterator[Any]:
        if not self._passes("]"):
            yield self._item()
            while self._passes(","):
                yield self._item()
            if not self._passes("]"):
                raise self._broken("Expecting ',' or ']'")
        if self._next():
            raise self._broken("Something follows the list")

    def _item(self) -> Any:
        self._next()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._position)
                if end < len(self._text) or self._ended:
                    break
            except json.JSONDecodeError as error:
                if self._ended:
                    self._position = error.pos
                    raise self._broken(error.msg) from error
            except (ValueError, RecursionError) as error:
                raise InputError(self._place, f"cannot be read as JSON: {error}") from error
            self._read()
        raw = self._text[self._position : end]
        self._position = end
        return _repaired(value) if _may_hold_surrogates(raw) else value

    def _passes(self, mark: str) -> bool:
        """Passes the mark if it comes next."""
        found = self._next() == mark
        self._position += found
        return found

    def _next(self) -> str:
        """The next character that is no space; empty at the end."""
        while True:
            space = _SPACE.match(self._text, self._position)
            self._position = space.end() if space else self._position
            if self._position < len(self._text) or self._ended:
                return self._text[self._position : self._position + 1]
            self._read()

    def _read(self) -> None:
        """As much again as there is, so that a large item is not tried too often; up to a broken byte if one is met."""
        if self._failure:
            raise self._failure
        self._forget()
        held = len(self._decoder.getstate()[0])
        data = self._stream.read(max(_CHUNK, len(self._text)))
        self._ended = not data
        try:
            self._text += self._decoder.decode(data, final=self._ended)
        except UnicodeDecodeError as error:
            problem = f"not UTF-8 (byte {self._bytes - held + error.start}): convert the file to UTF-8"
            self._failure = InputError(self._place, problem)
            self._text += error.object[: error.start].decode()
        self._bytes += len(data)

    def _forget(self) -> None:
        done = self._text[: self._position]
        self._line += done.count("\n")
        self._column = len(done) - done.rfind("\n") - 1 if "\n" in done else self._column + len(done)
        self._text, self._position = self._text[self._position :], 0

    def _broken(self, problem: str) -> InputError:
        self._forget()
        return InputError(self._place, f"not JSON at line {self._line}, column {self._column + 1}: {problem}")


def loads(text: str) -> Any:
    """The JSON value of a text. Raises ValueError, also for NaN and Infinity, or RecursionError."""
    value = _DECODER.decode(text)
    return _repaired(value) if _may_hold_surrogates(text) else value


def _may_hold_surrogates(raw: str) -> bool:
    return "\\ud" in raw or "\\uD" in raw


def _repaired(value: Any) -> Any:
    """The value with lone surrogates replaced."""
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


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
