"""Conversation files as sessions. One file a format, and its line in FORMATS."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from strandline_sdk.importers import anthropic, claude_code, locomo, openai, plain, sharegpt, tau
from strandline_sdk.importers.imported import Bad as Bad
from strandline_sdk.importers.imported import Entry as Entry
from strandline_sdk.importers.imported import ImportedSession as ImportedSession
from strandline_sdk.importers.imported import InputError as InputError
from strandline_sdk.importers.imported import Place as Place
from strandline_sdk.importers.imported import attempts
from strandline_sdk.importers.source import holds_json, json_entries, text_lines

# How much of a file tells its format: the first entries of its list, or its first lines.
_SAMPLE = 50


@dataclass(frozen=True)
class Importer:
    """A format: whether a file's first entries are of it, and the sessions of its entries, lazily.

    The entries are lines of text where `is_text`, JSON values otherwise.
    """

    recognises: Callable[[Sequence[Entry]], bool]
    sessions: Callable[[Iterable[Entry], Bad], Iterator[ImportedSession]]
    is_text: bool = False


FORMATS = {
    "openai": Importer(
        lambda sample: openai.recognises(sample) and not tau.recognises(sample), openai.sessions
    ),
    "anthropic": Importer(anthropic.recognises, anthropic.sessions),
    "sharegpt": Importer(sharegpt.recognises, sharegpt.sessions),
    "claude-code": Importer(claude_code.recognises, claude_code.sessions),
    "locomo": Importer(locomo.recognises, locomo.sessions),
    "tau": Importer(tau.recognises, tau.sessions),
    "plain": Importer(plain.recognises, plain.sessions, is_text=True),
}


def refuse(error: InputError) -> None:
    """What stops at the first thing that cannot be imported."""
    raise error


def read_sessions(
    path: Path, format_name: str | None = None, *, bad: Bad = refuse, shown_as: Path | None = None
) -> Iterator[ImportedSession]:
    """The sessions of a file, of the named format or of the one that its beginning shows.

    `bad` hears of everything that cannot be imported, with its place, when it is reached; without it, that is raised
    as InputError. `shown_as` stands for the file's name in places and in session ids. Raises OSError.
    """
    place = Place(shown_as or path)
    as_text = FORMATS[format_name].is_text if format_name else not holds_json(path)
    rest = itertools.dropwhile(_is_blank, (text_lines if as_text else json_entries)(path, place, bad))
    first = list(itertools.islice(rest, _SAMPLE))
    for name in attempts(
        lambda sample: format_name or _format_of(sample, as_text), [first] if first else [], bad
    ):
        yield from FORMATS[name].sessions(itertools.chain(first, rest), bad)


def _is_blank(entry: Entry) -> bool:
    return isinstance(entry.value, str) and not entry.value.strip()


def _format_of(sample: Sequence[Entry], as_text: bool) -> str:
    """The one format that recognises the sample. Raises InputError."""
    found = [name for name, i in FORMATS.items() if i.is_text == as_text and i.recognises(sample)]
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError(
            Place(sample[0].place.path), f"could be {' or '.join(found)}: say which with --format"
        )
    raise InputError(sample[0].place, f"not one of the known formats ({', '.join(FORMATS)})")
