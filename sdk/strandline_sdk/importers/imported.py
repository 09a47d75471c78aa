"""What every importer yields, and how it says that a file cannot be imported."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strandline_sdk.model import Message

_LONGEST_PEER = 128


@dataclass(frozen=True)
class ImportedSession:
    """One session to store. `conversation` names the conversation that it is a part of."""

    session_id: str
    conversation: str
    messages: list[Message]


@dataclass(frozen=True)
class Place:
    """Where in a file something stands: `chat.json, item 3, message 7`."""

    path: Path
    steps: tuple[str, ...] = ()

    def at(self, step: str) -> "Place":
        return Place(self.path, (*self.steps, step))

    def __str__(self) -> str:
        return ", ".join((str(self.path), *self.steps))


class InputError(Exception):
    """A file that cannot be imported: where, why, and what to do about it."""

    def __init__(self, place: Place, problem: str) -> None:
        super().__init__(f"{place}: {problem}")


@dataclass(frozen=True)
class Entry:
    """A JSON value of a file: an item of its top-level list, one of its lines, or the whole of it."""

    value: Any
    place: Place


def peer(speaker: str, place: Place) -> str:
    """The speaker's name as a peer id, unchanged. Raises InputError for a name that the service refuses."""
    if "/" in speaker or speaker in (".", "..") or not speaker.isprintable() or len(speaker) > _LONGEST_PEER:
        problem = (
            f"speaker {speaker!r} cannot name a peer: at most {_LONGEST_PEER} printable characters, no '/'"
        )
        raise InputError(place, problem)
    return speaker
