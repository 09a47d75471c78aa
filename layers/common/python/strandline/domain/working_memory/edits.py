"""What a language model wants changed in a document, and what comes of it.

It edits instead of writing anew: an answer is short however long the document has become, and what it does not speak of
stays as it is. Items go by number; those of sections that only grow cannot go, a file or an open issue that goes is
counted or stands in the key results.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from strandline.domain.errors import ExtractionFailed
from strandline.domain.working_memory.document import SECTIONS, Document, Section
from strandline.domain.working_memory.guards import refusal
from strandline.domain.working_memory.limits import within_limits
from strandline.domain.working_memory.steps import steps, touched
from strandline.domain.working_memory.update import Update

Place = tuple[Section, int]

_STAY: frozenset[Section] = frozenset({"errors", "worklog", "state"})
"""Sections whose items do not go by number: they only grow, or are written anew each time."""


@dataclass(frozen=True)
class Edits:
    """A new title (empty: as it was) and current state; what is added to each other section; the numbers of items that
    hold no longer; and of open issues that are settled, with how."""

    title: str
    state: Sequence[str]
    added: Mapping[Section, Sequence[str]] = field(default_factory=dict)
    outdated: frozenset[int] = frozenset()
    settled: Mapping[int, str] = field(default_factory=dict)


def numbered(document: Document) -> dict[int, Place]:
    """Every item's number, from 1, and its place."""
    places = ((name, n) for name in SECTIONS for n in range(len(document.of(name))))
    return dict(enumerate(places, 1))


def apply(update: Update, edits: Edits) -> Document:
    """The document as edited, within its limits, with every file that the messages name.

    Raises ExtractionFailed when nothing is said of the current state, or when too much would be lost.
    """
    if not any(text.strip() for text in edits.state):
        raise ExtractionFailed("the model's answer says nothing of the current state")
    places = numbered(update.before)
    gone = {places[n] for n in (*edits.outdated, *edits.settled) if n in places}
    document = update.before.named(edits.title or update.before.title).with_items("state", edits.state)
    for name in SECTIONS:
        if name != "state":
            document = _edited(document, name, edits.added.get(name, ()), gone)
    document = _with_files(_with_settled(document, update.before, gone, edits), update)
    why = refusal(update.before, document)
    if why:
        raise ExtractionFailed(f"the model's answer is refused: {why}")
    return within_limits(replace(document, through=update.through))


def _edited(document: Document, name: Section, added: Sequence[str], gone: set[Place]) -> Document:
    kept = [
        text
        for n, text in enumerate(document.of(name))
        if name in _STAY or (name, n) not in gone or (name, n) == ("task", 0)
    ]
    lost = len(document.of(name)) - len(kept) if name == "files" else 0
    return document.with_items(name, [*kept, *added], document.left.get(name, 0) + lost)


def _with_settled(document: Document, before: Document, gone: set[Place], edits: Edits) -> Document:
    """Open issues that are gone stand in the key results, with how they were settled."""
    places = numbered(before)
    how = {places[n]: text.strip() for n, text in edits.settled.items() if n in places}
    settled = [
        f"{before.of(name)[n]} — settled{': ' if how.get((name, n)) else ''}{how.get((name, n), '')}"
        for name, n in sorted(gone)
        if name == "open"
    ]
    return document.with_items("results", [*document.of("results"), *settled])


def _with_files(document: Document, update: Update) -> Document:
    """With those files that tools worked on and the model has not named."""
    named = "\n".join(document.of("files"))
    tools: dict[str, list[str]] = {}
    for path, tool in touched(update.messages, steps(update.messages)):
        if tool and path not in named and tool not in tools.setdefault(path, []):
            tools[path].append(tool)
    more = [f"{path} ({', '.join(names)})" for path, names in tools.items()]
    return document.with_items("files", [*document.of("files"), *more])
