"""Small scenarios, each about one thing that several do at once: what a mistake in just that thing needs to be seen.

A case is named `commits~17`: the scenario and a seed, which says who goes on when and what goes wrong. Or, of `ALONE`,
`answers/17/lost`: the scenario and which of its calls go wrong.
"""

import random
from collections.abc import Iterator, Mapping, Sequence

from tests.sim import cases, workers
from tests.sim.cases import Case
from tests.sim.clients import Client
from tests.sim.faults import Exactly, Often
from tests.sim.scenarios import ALICE, Op, Scenario, act
from tests.sim.scheduler import InTurn, Pct, Strategy, Uniform
from tests.sim.world import HEAL_SECONDS, World

ATTEMPTS = 4
RATES = (0.0, 0.0, 0.03, 0.08)


def at_once(*clients: Sequence[Op], before: Sequence[Op] = (), ticks: int = 1) -> Scenario:
    """These clients of Alice's do these things, after one of them has done what comes `before`."""

    def play(world: World) -> None:
        def begin(_: Client) -> None:
            for n, ops in enumerate(clients):
                act(world, f"c{n}", ALICE, ops)

        act(world, "first", ALICE, [*before, begin])
        workers.ticks(world, ticks)

    return play


def append(name: str = "a", count: int = 1, **how: bool) -> Op:
    return lambda c: c.append(name, count, **how)


def commit(keep: int = 0, name: str = "a") -> Op:
    return lambda c: c.commit(name, keep)


def delete(c: Client) -> None:
    c.delete("a")


def delete_b(c: Client) -> None:
    c.delete("b")


def read(c: Client) -> None:
    c.read("a")


def later(seconds: float) -> Op:
    """Time goes on, and several sweeps come by at once."""

    def jump(c: Client) -> None:
        c.world.network.jump(seconds)
        for number in (1, 2):
            c.world.scheduler.spawn(f"sweep{seconds}/{number}", lambda: workers.sweep(c.world))

    return jump


SOON = later(HEAL_SECONDS + 10)
TOMORROW = later(86_400 + 10)
"""When gravestones may go."""


RACES: Mapping[str, Scenario] = {
    "writers": at_once(
        [append(), append("a", 2), read],
        [append("a", 3), append(), read],
        [append("a", 2, twin=True), append()],
    ),
    "commits": at_once(
        [commit(), commit()], [commit(1), read], [append(), commit()], before=[append("a", 3)]
    ),
    "files": at_once(
        [append("a", 3), commit()], [append("b", 3), commit(0, "b")], [append("a", 2), commit()], ticks=2
    ),
    "lives": at_once(
        [append("a", 2), commit(), append("a", 4)],
        [delete, append(), append("a", 3)],
        [append("a", of_tool=True), commit()],
        before=[append("a", 3)],
    ),
    "spills": at_once([append("a", 4), append("a", 4)], [append("a", 3), commit()], [delete, append("a", 4)]),
    "outputs": at_once(
        [append("a", of_tool=True), append("a", of_tool=True)],
        [delete, append()],
        [delete],
        before=[append()],
    ),
    "reborn": at_once(
        [commit(), append()], [delete, append("a", 4), append("a", 2)], before=[append("a", 3)]
    ),
    "sweeps": at_once(
        [append(), commit(), SOON, append(), commit(), SOON, SOON],
        [append("b", 2), commit(0, "b"), append("b"), commit(0, "b")],
    ),
    "graves": at_once(
        [delete, TOMORROW, append(), SOON],
        [append(), TOMORROW, append("a", 2), delete, SOON],
        before=[append("a", 2), commit()],
    ),
}


ALONE: Mapping[str, Scenario] = {
    "answers": at_once(
        [
            step
            for op in (append("a", 2), commit(), append("a", 2), commit(1), append("b", 2), delete_b)
            for step in (op, Client.rest)
        ],
        ticks=0,
    )
}
"""One client, who is told at once what has become of each request."""


def of(name: str) -> Case:
    """The case of this name, be it one of these or of `cases`."""
    scenario, race, number = name.partition("~")
    alone, *faults = name.split("/")
    if alone in ALONE:
        planned = {int(n): kind for n, kind in zip(faults[::2], faults[1::2], strict=True)}
        return Case(name, ALONE[alone], InTurn(), Exactly(planned))
    if not race:
        return cases.of(name)
    seed = int(number)
    chance = random.Random(f"race {name}")
    strategy: Strategy = Uniform(seed)
    if chance.random() < 0.7:
        strategy = Pct(seed, depth=chance.randint(2, 5), steps=chance.choice((50, 100, 200)))
    return Case(name, RACES[scenario], strategy, Often(seed, chance.choice(RATES)), seed)


def alone() -> Iterator[str]:
    """Every fault at every call of `ALONE`; and writes that land late while those that follow are refused."""
    for scenario in ALONE:
        calls = [call for call, _ in of(scenario).run().network.calls]
        for call in calls:
            if call.site == "objects.put":
                refused = (f"{call.number + 3 * n}/contended" for n in range(1, ATTEMPTS + 1))
                yield "/".join((scenario, f"{call.number}/late", *refused))
        for call in calls:
            yield from (f"{scenario}/{call.number}/{kind}" for kind in call.kinds)
