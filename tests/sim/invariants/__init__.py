"""What must be true of the raw stores whatever has gone wrong, once everything has healed.

Each invariant is a small function that yields what it finds wrong; `check` raises at the first. What was promised to
whom is in the `History`, what came of it in the stores; nothing is asked of the product's own way of reading.

    messages   every acknowledged message once, in order, batches whole; reads agree with each other and with the end
    contexts   what an agent's model is given is whole, fits, and never goes back
    archives   one archive per commit, equal to its range; counters equal a recount; models asked once
    memories   each extraction applied once to each file; diff, journal and index agree with the files
    lessons    every case is learnt from once, and nothing else
    learnt     cases, trajectories and experiences are the same in any order, count each run once, are linked both ways
    lives      nothing of a deleted session is left or comes back; no tenant's byte under another's prefix
    auto       commits that nobody asked for
    ends       nothing is pending for ever
"""

from collections.abc import Callable, Iterator, Sequence

from strandline.domain.events import Event
from tests.fakes import MemoryItems, MemoryObjects
from tests.sim.history import History
from tests.sim.invariants import (
    archives,
    auto,
    contexts,
    ends,
    journal,
    learnt,
    lessons,
    lives,
    memories,
    messages,
)
from tests.sim.invariants.raw import Queues, Raw

Invariant = Callable[[Raw, History], Iterator[str]]

INVARIANTS: tuple[Invariant, ...] = (
    *messages.INVARIANTS,
    *contexts.INVARIANTS,
    *archives.INVARIANTS,
    *memories.INVARIANTS,
    *lessons.INVARIANTS,
    *learnt.INVARIANTS,
    *journal.INVARIANTS,
    *lives.INVARIANTS,
    *auto.INVARIANTS,
    *ends.INVARIANTS,
)


class Violation(AssertionError):
    """An invariant does not hold. `invariant` is its name."""

    def __init__(self, invariant: str, found: str) -> None:
        super().__init__(f"{invariant}: {found}")
        self.invariant = invariant


def check(
    objects: MemoryObjects,
    items: MemoryItems,
    queues: Queues,
    history: History,
    published: Sequence[Event] | None = None,
) -> None:
    """Raises Violation when anything that was promised is not so. `published` is what the bus has taken."""
    raw = Raw(objects, items, queues, published)
    for invariant in INVARIANTS:
        for found in invariant(raw, history):
            raise Violation(invariant.__name__, found)
