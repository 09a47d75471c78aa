"""Conversation files as sessions. One file a format, and its line in FORMATS."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from strandline_sdk.importers import locomo, openai
from strandline_sdk.importers.imported import Entry as Entry
from strandline_sdk.importers.imported import ImportedSession as ImportedSession
from strandline_sdk.importers.imported import InputError as InputError
from strandline_sdk.importers.imported import Place as Place
from strandline_sdk.importers.source import entries


@dataclass(frozen=True)
class Importer:
    """A format: whether a file's first entry is of it, and the sessions of its entries, lazily."""

    recognises: Callable[[Entry], bool]
    sessions: Callable[[Iterable[Entry]], Iterator[ImportedSession]]


FORMATS = {
    "locomo": Importer(locomo.recognises, locomo.sessions),
    "openai": Importer(openai.recognises, openai.sessions),
}


def read_sessions(path: Path, format_name: str | None = None) -> Iterator[ImportedSession]:
    """The sessions of a file, of the named format or of the one that its first entry shows.

    Raises InputError, with the place in the file, when it is reached.
    """
    rest = entries(path)
    first = next(rest, None)
    if first is None:
        return iter(())
    importer = FORMATS[format_name or _format_of(first)]
    return importer.sessions(itertools.chain([first], rest))


def _format_of(first: Entry) -> str:
    for name, importer in FORMATS.items():
        if importer.recognises(first):
            return name
    raise InputError(first.place, f"not one of the known formats ({', '.join(FORMATS)})")
