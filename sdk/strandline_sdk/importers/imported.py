"""What every importer yields, and how it says that something cannot be imported."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

from strandline_sdk.importers.session_ids import accepted
from strandline_sdk.model import Message

T = TypeVar("T")
S = TypeVar("S")


@dataclass(frozen=True)
class Place:
    """Where in a file something stands: `chat.json, item 3, message 7`."""

    path: Path
    steps: tuple[str, ...] = ()

    @property
    def stem(self) -> str:
        """The file's name without what says that it is JSON or packed."""
        return Path(self.path.name.removesuffix(".gz")).stem

    def at(self, step: str) -> "Place":
        return Place(self.path, (*self.steps, step))

    def __str__(self) -> str:
        return ", ".join((str(self.path), *self.steps))


@dataclass(frozen=True)
class ImportedSession:
    """One session to store, its messages each with its place. `conversation` names what it is a part of."""

    session_id: str
    conversation: str
    messages: list[Message]
    places: list[Place] = field(default_factory=list, compare=False)


class InputError(Exception):
    """Something that cannot be imported: where it stands, why, and what to do about it."""

    def __init__(self, place: Place, problem: str) -> None:
        super().__init__(f"{place}: {problem}")


Bad = Callable[[InputError], None]
"""Hears of everything that cannot be imported. Reading goes on behind it, unless it raises the error."""


@dataclass(frozen=True)
class Entry:
    """A value of a file: an item of its top-level list, one of its lines, or the whole of it."""

    value: Any
    place: Place


def attempts(convert: Callable[[T], S], items: Iterable[T], bad: Bad) -> Iterator[S]:
    """What the items convert to, without those that cannot be imported."""
    for item in items:
        try:
            converted = convert(item)
        except InputError as error:
            bad(error)
        else:
            yield converted


def word(owner: object, name: str) -> str:
    """The string in a field of an object; empty where there is no such thing."""
    value = owner.get(name) if isinstance(owner, dict) else None
    return value if isinstance(value, str) else ""


def peer(speaker: str, place: Place) -> str:
    """The speaker's name as a peer id, unchanged. Raises InputError for a name that the service refuses."""
    plain = unquote(unquote(speaker))
    if not plain.isprintable() or accepted(speaker) != speaker or accepted(plain) != plain:
        printable = "at most 128 printable characters (192 bytes), no '/', '?' or backslash"
        raise InputError(place, f"speaker {speaker!r} cannot name a peer: {printable}")
    return speaker
