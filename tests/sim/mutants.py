"""Deliberate mistakes, each of which the simulation must find: what the product's care is good for.

Two kinds. Generated: every call of `storage` and `pipeline` that passes a condition (`when=`), for each kind of thing
that it writes, without the condition. Written by hand (`mutants_said`, `mutants_kept`): a check that is skipped, an
order that is turned round. `mutants_known` has those that no run shows, and why.
"""

from collections.abc import Callable, Iterator
from functools import partial

from tests.sim import cases, mutants_kept, mutants_said
from tests.sim.mutants_code import Mutant, conditions
from tests.sim.scenarios import FIXED

LIKELY = {
    "learning:": "lessons",
    "archives/learn": "learn",
    "used.json": "learning",
    "context.json": "agents",
    "working if": "agents",
    "clear_grave": "cleared",
    "index/": "first",
    "memories if": "owners",
    "journal": "files",
    "archives/": "files",
    "LEASES": "bursts",
    "TASKS": "sweeps",
    "SessionRef": "sweeps",
}
"""Where a mutant of a condition is looked for first, by what is in its name."""
LOOKED_AT = 60
"""So many seeds, beside the fixed scenarios, show which conditional calls there are."""


# ---- without a condition


def without_condition() -> Iterator[Mutant]:
    """A mutant for every condition that a run without faults, or one of the first seeds, makes use of."""
    for place, what in sorted(conditions_met()):
        name = f"{place}, {what}: unconditional"
        race = next((race for part, race in LIKELY.items() if part in name), "")
        yield Mutant(name, partial(conditions, _all_but(place, what)), race)


def conditions_met() -> set[tuple[str, str]]:
    """(place, what it is about) of each conditional call that was made."""
    met: set[tuple[str, str]] = set()

    def note(place: str, what: str) -> bool:
        met.add((place, what))
        return True

    with conditions(note):
        for name in (*FIXED, *map(str, range(LOOKED_AT))):
            cases.of(name).run()
    return met


def _all_but(place: str, what: str) -> Callable[[str, str], bool]:
    return lambda a, b: (a, b) != (place, what)


BY_HAND = (*mutants_said.BY_HAND, *mutants_kept.BY_HAND)


def mutants() -> dict[str, Mutant]:
    """All of them by name."""
    return {mutant.name: mutant for mutant in (*BY_HAND, *without_condition())}
