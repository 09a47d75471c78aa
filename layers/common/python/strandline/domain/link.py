"""Links between memories. Each is written on both sides: where it starts, and where it leads (`back`)."""

import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from urllib.parse import quote

from strandline.domain.line import DERIVED

MENTIONS = "mentions"
KINDS = (
    MENTIONS,
    "related_to",
    "belongs_to",
    "derived_from",
    "caused_by",
    "contradicts",
    "evolved_from",
    "supersedes",
    "used",
)
_BACK = {
    MENTIONS: "mentioned in",
    "related_to": "related to",
    "belongs_to": "has",
    "derived_from": "source of",
    "caused_by": "cause of",
    "contradicts": "contradicted by",
    "evolved_from": "became",
    "supersedes": "superseded by",
    "used": "used by",
}
_MARKUP = re.compile(r"[\[\]`*_<>\\]")


@dataclass(frozen=True, order=True)
class Link:
    """One end of a link: its type, the path of the memory at the other end, and whether it leads here (`back`). `at` is
    the time of the conversation that made it, where a memory keeps the newest of such links only."""

    back: bool
    type: str
    path: str
    at: str | None = field(default=None, compare=False)

    def other_end(self, here: str) -> "Link":
        """The same link as the memory at the other end has it; `here` is the path of the one that has this."""
        return Link(not self.back, self.type, here)


def remapped(links: Iterable[Link], gone: str, replacement: str | None, *, here: str) -> tuple[Link, ...]:
    """The links of the memory `here` when `gone` is deleted: they lead to the replacement, or are removed."""
    kept = [link for link in links if link.path != gone]
    moved = [replace(link, path=replacement) for link in links if link.path == gone and replacement]
    return tuple(sorted({*kept, *(link for link in moved if link.path != here)}))


def shown(links: Iterable[Link], here: str) -> list[str]:
    """The links as lines of markdown, with paths as they are from the memory at `here`."""
    rows = [f"- {_words(link)} {_target(link.path, here)} {DERIVED}" for link in sorted(links)]
    return [f"## Links {DERIVED}", *rows] if rows else []


def _words(link: Link) -> str:
    return _BACK.get(link.type, f"{link.type} of") if link.back else link.type.replace("_", " ")


def _target(path: str, here: str) -> str:
    relative = posixpath.relpath(path, posixpath.dirname(here) or ".")
    name = _MARKUP.sub(" ", path.rsplit("/", 1)[-1].removesuffix(".md"))
    return f"[{name}]({quote(relative, safe='/')})"
