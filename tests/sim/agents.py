"""Agents: each asks for a context before each of its model's calls."""

from contextlib import suppress

from strandline.domain.compaction.assembly import Room
from strandline.domain.errors import ContextBlocked, StrandlineError
from strandline.domain.message import MessageIn
from strandline.pipeline.append import AppendRequest
from strandline.pipeline.prompt import Wanted, run_prompt
from strandline.storage.layout import User
from tests.sim import history, workers
from tests.sim.clients import Client, Unclear
from tests.sim.history import Given
from tests.sim.world import World

WINDOW = 120
LIMITS = {"auto_compact": {"keep_recent": 2, "cool_down_seconds": 30}}
TURNS = 3
WORDS = 18
LOST = 1_200  # seconds: more than the lease of a commit and the time to heal


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
        started, acked = self.world.scheduler.step, list(self.world.history.of(history.Acked))
        wanted = Wanted(Room(WINDOW), compaction=LIMITS, memories=None)
        self.world.history.append(history.Compacted(self.owner, name))
        with suppress(Unclear, ContextBlocked, StrandlineError):
            made = self._ask("api", lambda library: run_prompt(library, self.owner, name, wanted))
            life, ended = made.state.incarnation, self.world.scheduler.step
            last = max((seq for a in acked if a.incarnation == life for _, seq in a.receipts), default=0)
            self.world.history.append(Given(self.owner, name, life, started, ended, last, made, WINDOW))


def one_agent(world: World, owner: User, name: str = "s") -> None:
    """The queues run empty between its turns. In the end it waits, and asks twice more."""
    agent = Agent(world, "ann", owner)

    def live() -> None:
        for _ in range(TURNS):
            agent.turn(name)
        world.scheduler.sleep(LOST)  # whatever has died by then is given up
        agent.given(name)
        agent.rest()
        agent.given(name)
        world.clients.discard("ann")

    world.clients.add("ann")
    world.scheduler.spawn("ann", live)
    workers.ticks(world, 2)


def two_agents(world: World, owner: User, name: str = "s") -> None:
    """Both speak in the same session, each asks before its own call."""
    one_agent(world, owner, name)
    other = Agent(world, "bea", owner)

    def live() -> None:
        for _ in range(TURNS):
            other.turn(name)
        world.clients.discard("bea")

    world.clients.add("bea")
    world.scheduler.spawn("bea", live)
