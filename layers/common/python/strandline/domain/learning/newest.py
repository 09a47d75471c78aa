"""What a case or an experience keeps of runs without end: the newest. Its counters tell of all of them, and every
trajectory has its own links, so what is left out here is found by them.

What is kept follows from what was said, in whatever order it came: the newest by the time of the conversation.
"""

from collections.abc import Iterable, Sequence

from strandline.domain.line import Line
from strandline.domain.link import Link
from strandline.domain.memory_types.cases import CASES

LINES = 200
"""Of a case: conversations in which it was asked."""

LINKS = 200
"""Of one kind, to trajectories."""


def newest_lines(memory_type: str, lines: Sequence[Line]) -> Sequence[Line]:
    """The lines (oldest first) that a memory of the type keeps."""
    return lines[-LINES:] if memory_type == CASES.name else lines


def newest_links(links: Iterable[Link]) -> tuple[Link, ...]:
    """The links that a memory keeps, in order. Those that do not say when they were made all stay."""
    kinds: dict[tuple[bool, str], list[Link]] = {}
    kept: list[Link] = []
    for link in links:
        (kinds.setdefault((link.back, link.type), []) if link.at else kept).append(link)
    for some in kinds.values():
        kept += sorted(some, key=lambda link: (link.at or "", link.path))[-LINKS:]
    return tuple(sorted(kept))
