"""Runs by name. A number is a seed: it says who does what, who goes on when, and what goes wrong. Any other name is a
fixed scenario, one step after the other, with faults at calls of a known number: `commit/17/lost`."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.sim.faults import BREAKABLE, Broken, Exactly, Often, Plan
from tests.sim.run import play
from tests.sim.scenarios import FIXED, STAGE, Scenario, by_chance
from tests.sim.scheduler import InTurn, Pct, Strategy, Uniform
from tests.sim.world import World

SEEDS = Path(__file__).with_name("seeds.txt")
RATES = (0.0, 0.01, 0.03, 0.08)
BROKEN = 0.1


@dataclass(frozen=True)
class Case:
    """One run that can be had again by its name."""

    name: str
    scenario: Scenario
    strategy: Strategy
    plan: Plan
    seed: int = 0

    def run(self) -> World:
        """Raises AssertionError when anything promised does not hold."""
        return play(self.scenario, self.strategy, self.plan, self.seed)


def of(name: str) -> Case:
    """The case of this name."""
    return by_seed(int(name)) if name.isdecimal() else _fixed(name)


def by_seed(seed: int) -> Case:
    chance = random.Random(f"case {seed}")
    strategy: Strategy = Uniform(seed)
    if chance.random() < 0.7:
        strategy = Pct(seed, depth=chance.randint(2, 5), steps=chance.choice((100, 200, 400)))
    rate = chance.choice(RATES)
    plan: Plan = Often(seed, rate)
    if chance.random() < BROKEN:
        plan = Broken(seed, *chance.choice(BREAKABLE), rate)
    return Case(str(seed), by_chance(seed), strategy, plan, seed)


def _fixed(name: str) -> Case:
    scenario, *parts = name.split("/")
    faults = {int(number): kind for number, kind in zip(parts[::2], parts[1::2], strict=True)}
    return Case(name, FIXED[scenario], InTurn(), Exactly(faults))


def matrix(scenario: str) -> Iterator[str]:
    """Every fault at every call of a fixed scenario, by what is called when nothing goes wrong; of one that is of a
    `STAGE`, at the calls of that."""
    stage = STAGE.get(scenario, "")
    for call, _ in of(scenario).run().network.calls:
        if not (call.actor.startswith(stage) or call.store == stage):
            continue
        yield from (f"{scenario}/{call.number}/{kind}" for kind in call.kinds)


def pairs(scenario: str, count: int, seed: int = 0) -> Iterator[str]:
    """Some of the pairs of faults; the second is one of what is called after the first."""
    chance = random.Random(f"pairs {scenario} {seed}")
    single = [name.split("/")[1:] for name in matrix(scenario)]
    for _ in range(count):
        first, second = sorted(
            (chance.choice(single), chance.choice(single)), key=lambda fault: int(fault[0])
        )
        yield "/".join((scenario, *first, *second))


def kept() -> Mapping[str, str]:
    """The cases that failed once, with a word why."""
    lines = (line.partition("#") for line in SEEDS.read_text().splitlines() if line.strip())
    return {name.strip(): why.strip() for name, _, why in lines if name.strip()}


def failure(name: str) -> str | None:
    """Runs a case; what went wrong, or None."""
    try:
        of(name).run()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told with the name of its case
        return f"{name}: {type(error).__name__}: {str(error)[:500]}\n    again: make sim SEED='{name}'"
    return None


def failures(names: Iterator[str]) -> list[str]:
    """What went wrong in these cases."""
    return [found for found in map(failure, names) if found is not None]
