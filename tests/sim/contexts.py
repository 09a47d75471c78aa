"""An agent that asks for a context before each of its calls, and what must be true of the contexts it was given.

Apart from the other scenarios: a context is an answer, so what is promised of it is held against the answers.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from strandline.domain.compaction.assembly import Room
from strandline.domain.errors import ContextBlocked, StrandlineError
from strandline.domain.message import MessageIn
from strandline.pipeline.append import AppendRequest
from strandline.pipeline.prompt import Prompt, Wanted, run_prompt
from tests.sim import history, workers
from tests.sim.cases import Case
from tests.sim.clients import Client, Unclear
from tests.sim.faults import Exactly, Plan
from tests.sim.scenarios import ALICE
from tests.sim.scheduler import InTurn
from tests.sim.world import World

NAME = "contexts"
WINDOW = 120
LIMITS = {"auto_compact": {"keep_recent": 2, "cool_down_seconds": 30}}
TURNS = 3
WORDS = 18
LOST = 1_200  # seconds: more than the lease of a commit and the time to heal


@dataclass(frozen=True)
class Given(history.Of):
    """A context that was answered; `last` is the newest message that had been acknowledged before it was asked for."""

    started_step: int
    ended_step: int
    last: int
    made: Prompt


class Agent(Client):
    """A client that says something, and then asks what its model is to be given."""

    def turn(self, name: str) -> None:
        """A question and an answer, and a context after each."""
        for role in ("user", "assistant"):
            self._made += 1
            identity = f"{self.name}-{self._made}"
            text = f"{self._canary} {identity} " + " ".join(f"{identity}w{n}" for n in range(WORDS))
            said = MessageIn(role=role, content=text, id=identity)  # type: ignore[arg-type]
            self._append(AppendRequest(self.owner, name, [said]), twin=False)
            self.rest()
            self.given(name)

    def given(self, name: str) -> None:
        before, started = self.world.life(self.owner, name), self.world.scheduler.step
        last = self._acknowledged(before)
        wanted = Wanted(Room(WINDOW), compaction=LIMITS, memories=None)
        with suppress(Unclear, ContextBlocked, StrandlineError):
            made = self._ask("api", lambda library: run_prompt(library, self.owner, name, wanted))
            ended = self.world.scheduler.step
            self.world.history.append(Given(self.owner, name, before, started, ended, last, made))

    def _acknowledged(self, incarnation: str) -> int:
        acked = (each for each in self.world.history.of(history.Acked) if each.incarnation == incarnation)
        return max((seq for each in acked for _, seq in each.receipts), default=0)


def scenario(world: World) -> None:
    """One agent; the queues run empty between its turns. In the end it waits, and asks twice more."""
    agent = Agent(world, "ann", ALICE)

    def live() -> None:
        for _ in range(TURNS):
            agent.turn("s")
        world.scheduler.sleep(LOST)  # whatever has died by then is given up
        agent.given("s")
        agent.rest()
        agent.given("s")
        world.clients.discard("ann")

    world.clients.add("ann")
    world.scheduler.spawn("ann", live)
    workers.ticks(world, 2)


def case(*faults: tuple[int, str]) -> Case:
    """The scenario with these faults, by the number of the call."""
    plan: Plan = Exactly(dict(faults))  # type: ignore[arg-type]
    return Case("/".join([NAME, *(f"{n}/{kind}" for n, kind in faults)]), scenario, InTurn(), plan)


def wrong(world: World) -> Iterator[str]:
    """What is not as it was promised of the contexts, and of what they have asked for."""
    given = list(world.history.of(Given))
    for each in given:
        yield from _of_one(each)
    for index, earlier in enumerate(given):
        for later in given[index + 1 :]:
            if later.incarnation == earlier.incarnation and later.started_step > earlier.ended_step:
                yield from _of_two(earlier, later)


def _of_one(given: Given) -> Iterator[str]:
    made = given.made
    if made.assembled.tokens > WINDOW:
        yield f"over the room: {made.assembled.tokens}"
    everything = sorted([*range(1, made.covered_through + 1), *_shown(made), *_left(made)])
    if everything != list(range(1, len(everything) + 1)):
        yield f"covered, shown and dropped are not all messages, each once: {everything}"
    if len(everything) < given.last:
        yield f"{given.last} were acknowledged, the context knows of {len(everything)}"


def _shown(made: Prompt) -> Sequence[int]:
    return [m["seq"] for m in made.assembled.messages if m["seq"] > made.covered_through]


def _left(made: Prompt) -> Sequence[int]:
    return [seq for row in made.left for seq in range(row.seq_from, row.seq_to + 1)]


def _of_two(earlier: Given, later: Given) -> Iterator[str]:
    one, two = earlier.made.state, later.made.state
    if (two.generation, two.covered_through) < (one.generation, one.covered_through):
        yield f"the boundary went back from {one.covered_through} to {two.covered_through}"
    for place, decision in one.decisions.items():
        if place[0] > two.covered_through and two.decisions.get(place) != decision:
            yield f"the decision about {place} was undone"
