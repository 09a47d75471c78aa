"""The document: a title and ten sections of lines, as a value and as markdown.

    # marshmallow, TimeDelta, precision

    Messages 1 to 24.

    ## Errors and corrections
    - (3 earlier ones are left out)
    - [6] bash `python reproduce.py`: ModuleNotFoundError: No module named 'marshmallow'

A line of text never becomes a heading, since every item stands behind a dash. A section that says nothing is not shown.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, get_args

from strandline.domain.text import one_line

Section = Literal["state", "task", "facts", "files", "errors", "open", "learnings", "results", "worklog"]
SECTIONS: tuple[Section, ...] = get_args(Section)
"""In the order of the document. The tenth is the title."""

HEADINGS: Mapping[Section, str] = {
    "state": "Current state",
    "task": "Task and goals",
    "facts": "Key facts and decisions",
    "files": "Files and context",
    "errors": "Errors and corrections",
    "open": "Open issues",
    "learnings": "Learnings",
    "results": "Key results",
    "worklog": "Worklog",
}
UNTITLED = "conversation"
MAX_TITLE = 120
MAX_ITEM = 400
"""Characters of one item."""

_BY_HEADING: Mapping[str, Section] = {text.casefold(): name for name, text in HEADINGS.items()}
_THROUGH = re.compile(r"Messages 1 to (\d{1,12})\.")
_LEFT = re.compile(r"\((\d{1,9}) earlier ones? (?:is|are) left out\)")
_MARK = re.compile(r"\A(?:[-*+]|\d{1,3}[.)]) +")

Items = Mapping[Section, tuple[str, ...]]


@dataclass(frozen=True)
class Document:
    """`through`: the seq of the last message it takes in (0: none). `items` by section, in order, without empty ones;
    `left`: how many older items each section has let go of."""

    title: str = ""
    through: int = 0
    items: Items = field(default_factory=lambda: MappingProxyType({}))
    left: Mapping[Section, int] = field(default_factory=lambda: MappingProxyType({}))

    def of(self, section: Section) -> tuple[str, ...]:
        return self.items.get(section, ())

    def with_items(self, section: Section, items: Iterable[str], left: int | None = None) -> "Document":
        """The same with these items in a section, each one line and bounded, no two alike; `left` as it was unless it
        is given."""
        lines = tuple(dict.fromkeys(filter(None, (item(text) for text in items))))
        counts = {**self.left, section: self.left.get(section, 0) if left is None else left}
        return replace(
            self,
            items={name: kept for name in SECTIONS if (kept := lines if name == section else self.of(name))},
            left={name: count for name, count in counts.items() if count},
        )

    def named(self, title: str) -> "Document":
        """The same under this title."""
        name = one_line(title, MAX_TITLE).lstrip("# ")
        return replace(self, title="" if name == UNTITLED else name)

    @property
    def is_empty(self) -> bool:
        return not self.items


def item(text: str) -> str:
    """A text as an item: one bounded line that nobody takes for the count of what is left out. May be empty."""
    line = one_line(text, MAX_ITEM)
    return f"“{line}”"[:MAX_ITEM] if _LEFT.fullmatch(line) else line


def render(document: Document) -> str:
    """The document as markdown, ending with a line end."""
    blocks = [f"# {document.title or UNTITLED}\n"]
    if document.through:
        blocks.append(f"Messages 1 to {document.through}.\n")
    blocks += [_block(document, name) for name in SECTIONS if name in document.items or name in document.left]
    return "\n".join(blocks)


def _block(document: Document, name: Section) -> str:
    count = document.left.get(name, 0)
    lines = [left_out(count)] if count else []
    return "".join(f"{line}\n" for line in [f"## {HEADINGS[name]}", *lines, *map(_dash, document.of(name))])


def left_out(count: int) -> str:
    """What a section says of items that it has let go of."""
    return f"- ({count} earlier {'one is' if count == 1 else 'ones are'} left out)"


def _dash(text: str) -> str:
    return f"- {text}"


def parse(text: str) -> Document:
    """The document that a text is. Any text is one: what stands under a heading that is none of these, or under none,
    counts among the key facts."""
    title, through, rows = "", 0, list[tuple[Section, str]]()
    left: dict[Section, int] = {}
    section: Section = "facts"
    for line in text.splitlines():
        found = _THROUGH.fullmatch(line)
        if line.startswith("# ") and not title:
            title = line[2:]
        elif line.startswith("#"):
            section = _BY_HEADING.get(line.lstrip("#").strip().casefold(), "facts")
        elif found and not rows and not through:
            through = int(found[1])
        elif said := _MARK.sub("", line.strip()):
            count = _LEFT.fullmatch(said)
            if count:
                left[section] = left.get(section, 0) + int(count[1])
            else:
                rows.append((section, said))
    return _document(title, through, rows, left)


def _document(
    title: str, through: int, rows: Sequence[tuple[Section, str]], left: Mapping[Section, int]
) -> Document:
    document = Document("", through).named(title)
    for name in SECTIONS:
        document = document.with_items(name, (said for at, said in rows if at == name), left.get(name, 0))
    return document
