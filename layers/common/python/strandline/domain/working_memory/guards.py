"""What no update may do to a document, whoever makes it."""

from strandline.domain.graphemes import beginning
from strandline.domain.working_memory.document import Document, Section
from strandline.domain.working_memory.limits import SHORT

MOST = 0.5
"""The part of the facts that may be gone after one update."""

FEW = 4
"""Facts, of fewer of which any may go."""

_KEPT: tuple[tuple[Section, str], ...] = (
    ("errors", "an error"),
    ("files", "a file"),
    ("open", "an open issue"),
)
_FACTS: tuple[Section, ...] = ("task", "facts", "learnings", "results")


def refusal(before: Document, after: Document) -> str | None:
    """Why `after` may not take the place of `before`; None when it may.

    Errors and corrections only grow, files do not vanish, and an open issue is settled in the key results; what a
    section has let go of for want of room is counted in it. Most of the facts stay.
    """
    for name, what in _KEPT:
        if _missing(before, after, name):
            return f"{what} would be forgotten"
    facts = sum(len(before.of(name)) for name in _FACTS)
    gone = sum(_missing(before, after, name) for name in _FACTS)
    return "most of the facts would be forgotten" if facts >= FEW and gone > MOST * facts else None


def _missing(before: Document, after: Document, name: Section) -> int:
    """How many items of a section are gone without being counted as left out."""
    there = {_known_by(text, name) for text in after.of(name)}
    settled = "\n".join(after.of("results")) if name == "open" else ""
    gone = [text for text in before.of(name) if _known_by(text, name) not in there]
    gone = [text for text in gone if _known_by(text, name) not in settled]
    return max(0, len(gone) - (after.left.get(name, 0) - before.left.get(name, 0)))


def _known_by(text: str, name: Section) -> str:
    """What an item is known by: a file by its path, anything else by how it begins, since an old error is shortened."""
    return (
        text.partition(" ")[0].rstrip(":,;") if name == "files" else beginning(text, SHORT - 1).rstrip("… ")
    )
