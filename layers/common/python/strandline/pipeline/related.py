"""Experiences that stand to one another, as far as what is stored tells: those that ask the same as a case, those
that it has left for another kind, and the text of one together with those that ask the same.

cost           of finding, while the experience remembers few runs: the index, a GET for each of `LOOKED_AT` cases at
               most, and for the experience of each that asks the same; of reading: a GET for each of `BESIDE` at most
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from strandline.domain.expiry import alive
from strandline.domain.learning.anchor import alike, may_hold
from strandline.domain.learning.case import Case
from strandline.domain.learning.run import KEPT, runs
from strandline.domain.learning.standing import (
    MAX_RELATED,
    has_left,
    related,
    superseded_by,
    supersedes,
    with_runs,
)
from strandline.domain.memory import Memory
from strandline.domain.memory_types.cases import CASES
from strandline.domain.merging import made_of
from strandline.domain.ranking import Conditions, search_all
from strandline.domain.times import stamp
from strandline.pipeline.catalogue import read_file
from strandline.pipeline.library import Library
from strandline.storage.layout import User

LOOKED_AT = 10
"""Cases whose requests are compared with that of a lesson's: those that a search by its words finds first, of those
that have words enough of it."""

HITS = 200
ADDED = 5
"""Experiences that one lesson links to its own as related."""

LEFT = 5
"""Experiences that a case has belonged to before, and that one lesson looks at."""

BESIDE = 10
"""Experiences whose runs are shown with one that is read."""


@dataclass(frozen=True)
class Stored:
    """A case as it is stored, its file, and the experience of its kind, if there is one yet."""

    case: Case
    file: Memory
    experience: Memory | None


def present(services: Library, owner: User, path: str) -> Memory | None:
    """The memory as it is now; None also where it has expired."""
    return alive(read_file(services, owner, path), stamp(services.clock.now()))


def left(services: Library, owner: User, stored: Stored) -> dict[str, str]:
    """The experiences, with their titles, that the case belonged to before it was known to be of another kind, and
    that do not know it. One without runs is the owner's, who has renamed it."""
    here = stored.case.experience
    before = [
        link.path for link in stored.file.links if link.path.startswith("experiences/") and link.path != here
    ]
    found = ((path, present(services, owner, path)) for path in before[:LEFT])
    return {
        path: there.title
        for path, there in found
        if there is not None and runs(there.values) and not has_left(there, stored.case.path, here)
    }


def asking_the_same(services: Library, owner: User, stored: Stored) -> dict[str, str]:
    """The experiences, with their titles, of other cases that ask the same in other words. None of a kind that
    somebody has said, where this is of one that somebody has said, too: then they are told apart on purpose."""
    known = set(related(stored.experience)) if stored.experience else set()
    if len(known) >= MAX_RELATED or (stored.experience and len(runs(stored.experience.values)) >= KEPT):
        return {}
    found = dict.fromkeys(_near(services, owner, stored.case))
    fresh = (path for path in found if path not in known and path != stored.case.experience)
    there = ((path, present(services, owner, path)) for path in fresh)
    some = [(path, memory.title) for path, memory in there if memory is not None and _has_room(memory)]
    return dict(sorted(some[: min(ADDED, MAX_RELATED - len(known))]))


def _has_room(there: Memory) -> bool:
    return len(related(there)) < MAX_RELATED and not superseded_by(there)


def _near(services: Library, owner: User, case: Case) -> Iterator[str]:
    for path in _found(services, owner, case):
        there = present(services, owner, path)
        other = Case.stored(path, there) if there else None
        if other and not (case.is_of_a_kind and other.is_of_a_kind) and alike(case.input, other.input):
            yield other.experience


def _found(services: Library, owner: User, case: Case) -> list[str]:
    """Other cases by the words of the request, best first."""
    index = services.indexes.read_warm(owner.index("memories"))
    wanted = Conditions(
        HITS, lambda each: each.attributes.get("type") == CASES.name, stamp(services.clock.now())
    )
    hits = search_all([index.value.index], case.input, wanted) if index else []
    near = [hit.document.group for hit in hits if may_hold(case.input, hit.document.text)]
    return [path for path in dict.fromkeys(near) if path != case.path][:LOOKED_AT]


@dataclass(frozen=True)
class Together:
    """An experience with the runs of those that it has taken the place of, and of those that ask the same (`beside`, by
    path, as they are stored)."""

    memory: Memory
    beside: dict[str, Memory]


def together(services: Library, owner: User, found: Memory) -> Together:
    """The experience as it is shown. Its file says of its own runs only."""
    ends = list(dict.fromkeys((*supersedes(found), *related(found))))[:BESIDE]
    there = {path: memory for path in ends if (memory := present(services, owner, path)) is not None}
    beside = {path: memory for path, memory in there.items() if _counts(path, memory, found)}
    if not beside:
        return Together(found, {})
    whole = with_runs(found, beside.values())
    shown = made_of(replace(found, values=whole), found.lines)
    return Together(shown or found, beside)


def _counts(path: str, memory: Memory, found: Memory) -> bool:
    """Whether its runs are those of a reader of the other: it asks the same, or the other has taken its place."""
    return found.path in superseded_by(memory) or (path in related(found) and not superseded_by(memory))
