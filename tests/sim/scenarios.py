"""What the clients of a run do: a few fixed scenarios, and any number of others that follow from a seed."""

import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from strandline.storage.layout import User
from tests.sim import agents, learners, workers
from tests.sim.clients import Client
from tests.sim.world import World

ALICE = User("acme", "alice")
RIVAL = User("rival", "alice")
"""Another account's user of the same name."""

BY_ITSELF = {"message_count_threshold": 4, "idle_timeout_seconds": 3_600, "keep_recent_count": 1}

Scenario = Callable[[World], None]
Op = Callable[[Client], None]


def act(world: World, name: str, owner: User, ops: Sequence[Op]) -> None:
    """An actor that does these one after the other."""
    client = Client(world, name, owner)

    def live() -> None:
        for op in ops:
            op(client)
        world.clients.discard(name)

    world.clients.add(name)
    world.scheduler.spawn(name, live)


def _in_turn(*ops: Op, ticks: int = 0) -> Scenario:
    """One client of Alice's, which lets the queues run empty after each request; and some ticks of the schedule."""

    def play(world: World) -> None:
        act(world, "ann", ALICE, [step for op in ops for step in (op, Client.rest)])
        workers.ticks(world, ticks)

    return play


def _two_tenants(world: World) -> None:
    """The same session and user name in two accounts, at once."""
    for name, owner in (("ann", ALICE), ("eve", RIVAL)):
        act(world, name, owner, [lambda c: c.append("s", 2), lambda c: c.commit("s"), lambda c: c.read("s")])


FIXED: Mapping[str, Scenario] = {
    "append": _in_turn(
        lambda c: c.create("s"),
        lambda c: c.append("s", 2),
        lambda c: c.append("s", 3),
        lambda c: c.append_keyed("s", 2),
        lambda c: c.append("s", 3),
        lambda c: c.append("t", of_tool=True),
        lambda c: c.read("s"),
        lambda c: c.context("s"),
    ),
    "ingest": _in_turn(
        lambda c: c.ingest("s", 2),
        lambda c: c.ingest("s", 3),
        lambda c: c.read("s"),
    ),
    "commit": _in_turn(
        lambda c: c.append("s", 3),
        lambda c: c.commit("s", keep=1, keyed=True),
        lambda c: c.append("s", of_tool=True),
        lambda c: c.context("s"),
        lambda c: c.commit_later("s"),
        lambda c: c.read("s"),
        ticks=2,
    ),
    "auto commit": _in_turn(
        lambda c: c.create("s", **BY_ITSELF),
        lambda c: c.append("s", 2),
        lambda c: c.append("s", 3),
        lambda c: c.append("s"),
        lambda c: c.read("s"),
    ),
    "delete": _in_turn(
        lambda c: c.append("s", 2),
        lambda c: c.append("s", of_tool=True),
        lambda c: c.commit("s"),
        lambda c: c.delete("s"),
        lambda c: c.append("s"),
        lambda c: c.read("s"),
    ),
    "delete for good": _in_turn(
        lambda c: c.append("s"),
        lambda c: c.delete("s"),
    ),
    "call off": _in_turn(
        lambda c: c.append("s", 2),
        lambda c: c.commit("s"),
        lambda c: c.call_off("s", again=True),
    ),
    "edit": _in_turn(
        lambda c: c.append("s", 2),
        lambda c: c.commit("s"),
        lambda c: c.edit("tea"),
        lambda c: c.forget("tea"),
    ),
    "learn": _in_turn(
        learners.run("s", "book"),
        lambda c: c.commit("s"),
        learners.run("t", "rebook", 1, reads=True),
        lambda c: c.commit("t"),
    ),
    "two tenants": _two_tenants,
    "context": lambda world: agents.one_agent(world, ALICE),
}
"""Every call of these is tried with every fault."""

STAGE: Mapping[str, str] = {"learn": "learn"}
"""But of these only what one stage calls, and its queue: what else they do, others of them do."""


LEARNING, AGENTS = 0.08, 0.02
"""How many scenarios by chance are of agents that learn, and how many have agents besides that ask for contexts."""


def by_chance(seed: int) -> Scenario:
    """Two to four clients with two to seven requests each; sometimes time jumps, or trouble lasts."""

    def play(world: World) -> None:
        chance = random.Random(f"scenario {seed}")
        deleting = chance.random() < 0.4
        kind = random.Random(f"kind {seed}").random()
        for n in range(chance.randint(2, 4)):
            owner = RIVAL if n == 3 or chance.random() < 0.2 else ALICE
            ops = [_any(chance, deleting=deleting) for _ in range(chance.randint(2, 7))]
            ops = [_learner(chance, deleting=deleting) if kind < LEARNING else op for op in ops]
            act(world, f"c{n}", owner, ops)
        if kind > 1 - AGENTS:
            agents.two_agents(world, ALICE, "a")
        workers.ticks(world, chance.choice((0, 1, 3)))
        world.chaos_ends = chance.choice((0, 0, 1_000, 4_000))
        for _ in range(chance.choice((0, 0, 0, 1, 2))):
            seconds = 10 ** chance.uniform(0, 5)
            world.scheduler.spawn("time", partial(_jump, world, chance.randint(20, 300), seconds))

    return play


def _jump(world: World, steps: int, seconds: float) -> None:
    for _ in range(steps):
        world.scheduler.point()
    world.network.jump(seconds)
    world.expire()


def _any(chance: random.Random, *, deleting: bool) -> Op:
    """One request, to one of two sessions. Twins only where nobody deletes: a request that is repeated after that
    begins a new life, as it should."""
    name = chance.choice("ab")
    twin = not deleting and chance.random() < 0.2
    ops: list[tuple[int, Op]] = [
        (5, lambda c: c.append(name, twin=twin)),
        (3, lambda c: c.append(name, 3, twin=twin)),
        (2, lambda c: c.append_keyed(name, 2, twin=twin)),
        (1, lambda c: c.append(name, of_tool=True, twin=twin)),
        (3, lambda c: c.ingest(name, 2)),
        (5, lambda c: c.commit(name, chance_keep)),
        (2, lambda c: c.commit(name, keyed=True)),
        (1, lambda c: c.commit_later(name, chance_keep)),
        (1, lambda c: c.call_off(name, again=chance_keep > 0)),
        (1, lambda c: c.edit("tea")),
        (1, lambda c: c.forget("tea")),
        (2, Client.rest),
        (2, lambda c: c.read(name)),
        (2, lambda c: c.context(name)),
        (1, lambda c: c.create(name)),
        (3, lambda c: c.create(name, **policy)),
        (4 if deleting else 0, lambda c: c.delete(name)),
    ]
    policy = {
        "message_count_threshold": chance.choice((0, 3, 5)),
        "pending_token_threshold": chance.choice((0, 20)),
        "idle_timeout_seconds": chance.choice((0, 120, 3_600)),
        "keep_recent_count": chance.choice((0, 1, 2)),
        "min_commit_interval_seconds": chance.choice((0, 0, 300)),
    }
    chance_keep = chance.choice((0, 0, 1, 2))
    return chance.choices([op for _, op in ops], [weight for weight, _ in ops])[0]


def _learner(chance: random.Random, *, deleting: bool) -> Op:
    """One request of an agent that learns."""
    name, case, end = (
        chance.choice("ab"),
        chance.choice(("book", "book", "rebook", "cancel")),
        chance.randrange(4),
    )
    twin, reads = not deleting and chance.random() < 0.1, chance.random() < 0.3
    ops: list[tuple[int, Op]] = [
        (8, learners.run(name, case, end, reads=reads, twin=twin)),
        (6, lambda c: c.commit(name)),
        (1, lambda c: c.commit_later(name, 1)),
        (2, Client.rest),
        (1, lambda c: c.append(name)),
        (1, learners.create(name, chance.choice(("cases", "experiences")))),
        (1, lambda c: c.call_off(name, again=True)),
        (2, learners.try_again),
        (1, learners.switch),
        (1, learners.take_back(name)),
        (3 if deleting else 0, lambda c: c.delete(name)),
    ]
    return chance.choices([op for _, op in ops], [weight for weight, _ in ops])[0]
