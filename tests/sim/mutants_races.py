"""Small scenarios, each about one thing that several do at once: what a mistake in just that thing needs to be seen.

A case is named `commits~17`: the scenario and a seed, which says who goes on when and what goes wrong. Or, of `ALONE`,
`answers/17/lost`: the scenario and which of its calls go wrong.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial

from strandline.domain.errors import FailedPrecondition, NotFound
from strandline.pipeline import memory
from strandline.pipeline.library import Library
from strandline.storage.layout import User
from tests.sim import cases, workers
from tests.sim.agents import two_agents
from tests.sim.cases import Case
from tests.sim.clients import Client, Unclear
from tests.sim.faults import Exactly, Often
from tests.sim.history import Edited, Forgot, Noted
from tests.sim.learners import run, switch, take_back, try_again
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


RACES: dict[str, Scenario] = {
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


BURST = {"message_count_threshold": 3, "keep_recent_count": 1, "pending_token_threshold": 0}
SILENT = {"message_count_threshold": 0, "keep_recent_count": 0, "idle_timeout_seconds": 120}


def create(name: str = "a", **policy: int) -> Op:
    return lambda c: c.create(name, **policy)


PATH = "preferences/tea.md"


def note(c: Client) -> None:
    """A line of the owner's own in a memory, over what it has read; read again when that was changed meanwhile."""
    line = f"{c.name} notes {len(c.world.history.records)}"
    for _ in range(3):
        with suppress(FailedPrecondition):
            try:
                c._ask("api", partial(_noted, owner=c.owner, line=line))
            except (Unclear, NotFound):
                break
            c.world.history.append(Noted(c.owner, PATH, line))
            return
    c.world.history.append(Edited(c.owner, PATH))


def _noted(library: Library, *, owner: User, line: str) -> bool:
    there = memory.read(library, owner, PATH)
    if line not in there.body:
        guard = memory.matching(there.sha256, absent=False)
        memory.write(library, owner, PATH, f"{there.body}\n{line}\n", guard)
    return True


def forget(c: Client) -> None:
    """A memory is deleted, with what it has absorbed."""
    try:
        gone = c._ask("api", lambda library: memory.delete(library, c.owner, PATH, memory.anything))
    except NotFound:
        return
    except Unclear:
        c.world.history.append(Edited(c.owner, PATH))
        return
    c.world.history.append(Forgot(c.owner, PATH, gone.applied))


def jot(c: Client) -> None:
    """A memory of the owner's own."""
    path = f"preferences/{c.name}-{len(c.world.history.records)}.md"
    c.world.history.append(Edited(c.owner, path))
    with suppress(Unclear):
        c._ask("api", lambda library: memory.write(library, c.owner, path, "mine\n", memory.anything))


RACES.update(
    first=at_once([jot, delete_b], [jot, jot], [append("b", 2), commit(0, "b")]),
    cleared=at_once(
        [append("a", 2)],
        [append(), append()],
        [append()],
        before=[append(), delete, SOON, Client.rest, TOMORROW],
    ),
    owners=at_once(
        [append("a", 3), commit(), forget, note],
        [append("b", 3), commit(0, "b"), SOON, note],
        [note, append("a", 3), commit(), forget],
    ),
    bursts=at_once(
        [append("a", 2), append(), SOON],
        [append("a", 2), append("a", 2)],
        [append(), append("a", 3)],
        before=[create(**BURST)],
    ),
    silent=at_once(
        [append("a", 2), commit(), later(150), append(), later(150)],
        [append(), delete, create(**SILENT), append(), later(150)],
        before=[create(**SILENT)],
    ),
    emptied=at_once(
        [append("a", 2), commit(), later(150), append()],
        [append("b"), later(150), append(), append("b")],
        before=[create(**SILENT)],
    ),
)


def ingest(name: str = "a", count: int = 1) -> Op:
    return lambda c: c.ingest(name, count)


RACES["queued"] = at_once(
    [ingest("a", 2), ingest(), Client.rest, Client.rest, Client.rest, delete, ingest()],
    [append("a", 2), Client.rest, Client.rest, ingest(), Client.rest, Client.rest, Client.rest, delete],
    ticks=0,
)

RACES["ingests"] = at_once([ingest("a", 2), ingest()], [ingest("b"), ingest()], ticks=0)
RACES["endings"] = at_once(
    [delete, append("a", 3), commit(), SOON],
    [read, append("b"), commit(0, "b")],
    before=[append("a", 2), commit()],
)
RACES["deletes"] = at_once([delete], [delete, append("a", 2)], before=[append("a", 2)])

RACES.update(
    lessons=at_once(
        [run("a"), commit(), SOON, try_again, run("a", end=1), commit(), SOON, try_again],
        [
            run("b", "rebook", 1),
            commit(0, "b"),
            SOON,
            switch,
            run("b", reads=True),
            commit(0, "b"),
            try_again,
        ],
        ticks=2,
    ),
    unlearnt=at_once(
        [run("a"), commit(), delete, run("a"), commit(), SOON],
        [run("b", reads=True), commit(0, "b"), take_back("b"), SOON, delete_b],
    ),
)

RACES["agents"] = partial(two_agents, owner=ALICE)

ALONE: Mapping[str, Scenario] = {
    "learning": at_once(
        [
            step
            for op in (run("a"), commit(), run("b", reads=True), commit(0, "b"), SOON)
            for step in (op, Client.rest)
        ],
        ticks=0,
    ),
    "answers": at_once(
        [
            step
            for op in (append("a", 2), commit(), append("a", 2), commit(1), append("b", 2), delete_b)
            for step in (op, Client.rest)
        ],
        ticks=0,
    ),
    "sweeping": at_once(
        [append("a", 2), commit(), append("b"), delete_b, SOON, Client.rest, SOON, Client.rest, TOMORROW],
        ticks=0,
    ),
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
        strategy = Pct(seed, depth=chance.randint(2, 5), steps=chance.choice((25, 50, 100, 200)))
    return Case(name, RACES[scenario], strategy, Often(seed, chance.choice(RATES)), seed)


def alone(*names: str) -> Iterator[str]:
    """Every fault at every call of these `ALONE`; and writes that land late while those that follow are refused."""
    for scenario in names:
        calls = [call for call, _ in of(scenario).run().network.calls]
        for call in calls:
            if call.site == "objects.put":
                refused = (f"{call.number + 3 * n}/contended" for n in range(1, ATTEMPTS + 1))
                yield "/".join((scenario, f"{call.number}/late", *refused))
        for call in calls:
            yield from (f"{scenario}/{call.number}/{kind}" for kind in call.kinds)
