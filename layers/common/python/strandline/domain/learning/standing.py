"""How experiences stand to each other: which ask the same, which has taken the place of which.

Each of these is a link on both sides, and beside it a value in both files that says which lesson it comes from. So
the lesson can be taken back, and the link goes when no other lesson says it.

    related_to   their cases ask the same thing in other words: a reader of one is shown the runs of both
    supersedes   the other's case is of another kind now, or a model has said that this one's lesson takes its place

An experience that a case has left is superseded only when no other case is left to it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from strandline.domain.field_value import FieldValue
from strandline.domain.learning.run import is_run
from strandline.domain.link import Link
from strandline.domain.memory import Memory

RELATED, SUPERSEDES, BELONGS = "related_to", "supersedes", "belongs_to"
ALIKE, TAKES, TAKEN = "related_", "supersedes_", "superseded_"
"""What the fields begin with whose values name the other: of both, of the one that supersedes, of the superseded."""

EVERY = "*"
"""In place of the case that has left an experience: all have."""

MAX_RELATED = 20
"""Experiences that are linked to one as related."""


def left_by(path: str, case: str) -> str:
    """The value of a superseded experience: what takes its place, and for which case."""
    return f"{path} {case}"


def is_aside(values: Sequence[FieldValue]) -> bool:
    """Whether all that is said of an experience is how it stands to others, and that it was read: that alone is
    none."""
    return bool(values) and all(value.field.startswith(("used_", ALIKE, TAKES, TAKEN)) for value in values)


def names(values: Iterable[FieldValue], path: str) -> bool:
    """Whether a lesson says of the experience at the path that it stands to this one somehow."""
    marks = (value for value in values if value.field.startswith((ALIKE, TAKES, TAKEN)))
    return any(str(value.value).partition(" ")[0] == path for value in marks)


def unsaid(links: Iterable[Link], before: Iterable[FieldValue], after: Iterable[FieldValue]) -> list[Link]:
    """The links of which only what was said before told that experiences stand to each other so."""
    told, tells = list(before), list(after)
    return [
        link
        for link in links
        if link.type in (RELATED, SUPERSEDES) and names(told, link.path) and not names(tells, link.path)
    ]


def related(memory: Memory) -> list[str]:
    """Paths of the experiences that ask the same."""
    return sorted({link.path for link in memory.links if link.type == RELATED})


def supersedes(memory: Memory) -> list[str]:
    """Paths of the experiences that it may have taken the place of; each knows whether that holds."""
    return [link.path for link in memory.links if link.type == SUPERSEDES and not link.back]


def superseded_by(memory: Memory) -> list[str]:
    """Paths of what has taken the place of an experience; none while a case is left to it."""
    by = [link.path for link in memory.links if link.type == SUPERSEDES and link.back]
    left = {mark.case for mark in _left(memory)}
    cases = {link.path for link in memory.links if link.type == BELONGS and not link.back}
    if not by or not (EVERY in left or cases <= left):
        return []
    return [path for path in by if not _taken_back(memory, path)]


def superseded_at(memory: Memory) -> str:
    """The time of the conversation since which it is."""
    return max((mark.value.at for mark in _left(memory)), default=memory.updated_at)


def has_left(memory: Memory, case: str, for_path: str) -> bool:
    """Whether it is known already that a case has left an experience for that other."""
    known = any(mark.case == case and mark.path == for_path for mark in _left(memory))
    linked = Link(True, SUPERSEDES, for_path) in memory.links
    return known and linked and not _taken_back(memory, for_path)


@dataclass(frozen=True)
class _Left:
    """What a lesson says of a superseded experience: by which other, for which case."""

    path: str
    case: str
    value: FieldValue


def _left(memory: Memory) -> Iterator[_Left]:
    for value in memory.values:
        if value.field.startswith(TAKEN):
            path, _, case = str(value.value).partition(" ")
            yield _Left(path, case, value)


def _taken_back(memory: Memory, path: str) -> bool:
    """Where each says that it has taken the other's place: whether this one has. Of what models say the newest holds;
    a case is of the kind that its oldest conversation says."""
    takes = [value.rank for value in memory.values if value.field.startswith(TAKES) and value.value == path]
    left = [mark for mark in _left(memory) if mark.path == path]
    if not takes or not left:
        return False
    told = [mark.value.rank for mark in left if mark.case == EVERY]
    return max(takes) > max(told) if told else min(takes) < min(mark.value.rank for mark in left)


def with_runs(memory: Memory, others: Iterable[Memory]) -> tuple[FieldValue, ...]:
    """The values of an experience, and the runs that others remember."""
    return (*memory.values, *(value for other in others for value in other.values if is_run(value)))
