"""The outside of the functions, simulated: stores, queues, a bus, a model, clocks; and the functions themselves.

A function is an instance of `Library` with what it remembers. Of each there are several, one invocation at a time; one
that is killed is never used again.
"""

import math
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from strandline.domain.auto_commit import Triggers
from strandline.domain.times import parse
from strandline.pipeline.library import Library
from strandline.pipeline.services import Ports, Rules
from strandline.storage.codec import HeadCodec
from strandline.storage.layout import User
from tests.fakes import FakeIds, MemoryBus, MemoryDeadLetters, WordCounter
from tests.pipeline.models import Notes
from tests.sim.faults import Plan
from tests.sim.history import Analysed, History, Killed, ModelCall
from tests.sim.network import Invocation, Kill, Network
from tests.sim.outside import CountedModel, Port, WatchedItems, WatchedObjects
from tests.sim.queues import TimedQueue
from tests.sim.scheduler import Actor, Scheduler, Strategy

T = TypeVar("T")

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
HEAL_SECONDS = 900
MAX_AGE_SECONDS = 7 * 86_400
SKEW = 1.0
WARM = 2

TIMEOUTS = {
    "append": 29,
    "api": 29,
    "commit": 60,
    "extract": 120,
    "merge": 120,
    "learn": 120,
    "erase": 29,
    "sweep": 55,
}
VISIBILITY = {"ingest": 174, "commit": 360, "extract": 720, "merge": 720, "learn": 720, "erase": 180}
GROUPS: dict[str, Callable[[Any], str]] = {
    "ingest": lambda message: f"{message.account_id}/{message.user_id}/{message.session_id}",
    "merge": lambda message: str(message.session.owner),
    "learn": lambda message: str(message.session.owner),
}


class NoAnswer(Exception):
    """Whoever called a function hears nothing: it may have done its work or not."""


class SimClock:
    """`ports.Clock` of one function, `skew` seconds off."""

    def __init__(self, world: "World", skew: float) -> None:
        self._world = world
        self._skew = timedelta(seconds=skew)

    def now(self) -> datetime:
        return self._world.now() + self._skew

    def sleep(self, seconds: float) -> None:
        pause = partial(self._world.scheduler.sleep, seconds)
        self._world.network.call("clock.sleep", f"{seconds:.2f}", pause)


class World:
    """Everything that happens in one run follows from `seed`, the strategy, the plan and what the actors do."""

    def __init__(self, seed: int, strategy: Strategy, plan: Plan) -> None:
        self.chance = random.Random(f"world {seed}")
        self.scheduler = Scheduler(strategy)
        self.history = History(max_age_seconds=MAX_AGE_SECONDS, idle_commits=True)
        self.clients: set[str] = set()
        self.learning = True
        self.taught = seed % 2 == 0  # whether a model is asked what a run teaches
        self.chaos_ends = 0.0
        self.ids = FakeIds(seed)
        self.objects = WatchedObjects(SimClock(self, 0.0), self.scheduler)
        self.items = WatchedItems()
        self.bus = MemoryBus()
        self._dead_letters = MemoryDeadLetters(SimClock(self, 0.0))  # there are none
        self.queues = {
            name: TimedQueue(self.scheduler, self.chance, visibility=seconds, group=GROUPS.get(name))
            for name, seconds in VISIBILITY.items()
        }
        self.network = Network(self.scheduler, plan, self.chance, self.queues)
        stores = {"objects": self.objects, "items": self.items, "bus": self.bus, **self.queues}
        self.ports = {name: Port(name, store, self.network.call) for name, store in stores.items()}
        self.ports["model"] = Port("model", CountedModel(self._note), self.network.call)
        self._free: dict[str, list[Library]] = {}

    def now(self) -> datetime:
        return self.at(self.scheduler.now)

    def at(self, seconds: float) -> datetime:
        return BEGIN + timedelta(seconds=seconds)

    # ---- what is stored; nobody notices

    def life(self, owner: User, name: str) -> str:
        """The incarnation that a session lives in now; empty when it does not live."""
        stored = self.objects.get(owner.head(name))
        head = HeadCodec().decode(stored.body)[0] if stored else None
        return "" if head is None or head.buried_at else head.incarnation

    def born(self, owner: User, name: str, since: int) -> list[str]:
        """The incarnations that a session has begun since that step."""
        lives = self.objects.lives.get(owner.head(name), {})
        return [incarnation for incarnation, step in lives.items() if step >= since]

    def newest_task(self, owner: User, name: str) -> str | None:
        """The id of the newest task of a session, if there is any."""
        mine = f"TASKS#{owner.account_id}/{owner.user_id}"
        rows = [row for row in self.items.rows() if row["pk"] == mine and row["resource_id"] == name]
        return max((row["task_id"] for row in rows), default=None)

    def failed_lessons(self, owner: User) -> list[str]:
        """The ids of the tasks of lessons that have failed, or were called off."""
        mine = f"TASKS#{owner.account_id}/{owner.user_id}"
        rows = [row for row in self.items.rows() if row["pk"] == mine and "lesson" in row]
        return [row["task_id"] for row in rows if row["status"] not in ("pending", "running", "completed")]

    def expire(self) -> None:
        """The table deletes some of what has expired."""
        for row in self.items.rows():
            over = row.get("expires_at", math.inf) < self.now().timestamp()
            if over and self.chance.random() < 0.5:
                self.items.delete(row["pk"], row["sk"])

    def next_due(self) -> float | None:
        """When the sweep has to look at something, in seconds; None when there is nothing left to look at."""
        markers = [row for row in self.items.rows() if row["pk"].startswith(("DUE#", "IDLE#"))]
        times = [(parse(row["at"]) - BEGIN).total_seconds() for row in markers]
        return min(times) if times else None

    # ---- functions

    def function(self) -> Library:
        """A new function: it remembers nothing."""
        ports: Any = self.ports
        return Library(
            Ports(
                objects=lambda: ports["objects"],
                items=lambda: ports["items"],
                ingest_queue=lambda: ports["extract"],  # nobody comes by it here
                extract_queue=lambda: ports["extract"],
                dead_letters=lambda: self._dead_letters,
                commit_queue=lambda: ports["commit"],
                merge_queue=lambda: ports["merge"],
                learn_queue=lambda: ports["learn"],
                erase_queue=lambda: ports["erase"],
                bus=lambda: ports["bus"],
                model=lambda: ports["model"],
                analyst=(lambda: ports["model"]) if self.taught else None,
                summariser=Notes,
                tokens=WordCounter(),
                clock=SimClock(self, self.chance.uniform(-SKEW, SKEW)),
                ids=self.ids,
            ),
            Rules(
                heal_seconds=HEAL_SECONDS,
                triggers=Triggers(idle=True, max_age_seconds=MAX_AGE_SECONDS),
                learning=self.learning,
            ),
        )

    def deploy(self, *, learning: bool) -> None:
        """From here on other functions are called; those that are at work end theirs."""
        self.learning = learning
        self._free.clear()

    def invoke(self, word: str, work: Callable[[Library], T]) -> T:
        """The current actor has a function do this. Raises NoAnswer when that dies, and whatever the work raises."""
        actor = self.actor
        with self._warm(word) as function:
            actor.context = Invocation(word, self.scheduler.now + TIMEOUTS[word])
            try:
                return work(function)
            except Kill:
                self.history.append(Killed(self.scheduler.step, word))
                raise NoAnswer from None
            finally:
                actor.context = None

    @contextmanager
    def _warm(self, word: str) -> Iterator[Library]:
        """A function that has nothing to do; it can be used again afterwards, unless it was killed."""
        if word not in self._free:
            self._free[word] = [self.function() for _ in range(WARM)]
        free = self._free[word]
        function = free.pop(int(self.chance.random() * len(free))) if free else self.function()
        try:
            yield function
        except NoAnswer:
            raise
        except Exception:
            free.append(function)
            raise
        free.append(function)

    def running(self, word: str) -> list[Invocation]:
        """The runs of a function that are going on, but for the current actor's."""
        known = (actor.context for actor in self.scheduler.actors if actor is not self.scheduler.current)
        return [run for run in known if run is not None and run.word == word]

    def _note(self, kind: type[ModelCall] | type[Analysed]) -> None:
        self.history.append(kind(self.actor.context.archive))

    @property
    def actor(self) -> Actor:
        actor = self.scheduler.current
        assert actor is not None
        return actor
