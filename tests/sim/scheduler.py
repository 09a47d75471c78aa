"""Who goes on next, and what time it is: real, synchronous code of several actors, one step at a time.

Each actor runs in a greenlet. It goes on until its next call to the outside (`point`), its sleep or its waiting; then a
strategy says who is next. Nothing else decides anything, so the same strategy with the same seed gives the same run.

Time is counted in seconds from 0. Each step takes `STEP`; when nobody can go on, time goes to when somebody can.
"""

import heapq
import random
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Protocol, cast

from greenlet import GreenletExit, getcurrent, greenlet

STEP = 0.02


class Stuck(AssertionError):
    """A run that does not come to its end."""


@dataclass(eq=False)
class Actor:
    """One thread of events. `context` is what its owner wants to know of it."""

    name: str
    fiber: greenlet = field(repr=False)
    priority: float = 0.0
    context: Any = None


class Strategy(Protocol):
    """Chooses among those who can go on."""

    def begin(self, actor: Actor) -> None:
        """The actor is new, or begins a new piece of work."""

    def choose(self, ready: Sequence[Actor], current: Actor | None, step: int) -> Actor:
        """One of `ready`; `current` is who went on last."""


class InTurn:
    """Everybody goes on as long as possible: what happens without any concurrency."""

    def begin(self, actor: Actor) -> None:
        """All are alike."""

    def choose(self, ready: Sequence[Actor], current: Actor | None, step: int) -> Actor:
        return current if current in ready else ready[0]


class Uniform:
    """Anybody, at each step."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(f"uniform {seed}")

    def begin(self, actor: Actor) -> None:
        """All are alike."""

    def choose(self, ready: Sequence[Actor], current: Actor | None, step: int) -> Actor:
        return ready[int(self._random.random() * len(ready))]


class Pct:
    """Probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010): random priorities, the highest goes on; at
    `depth - 1` random steps among the first `steps`, whoever would go on falls below all others. A bug that needs
    `depth` orderings is found with a probability of at least 1 / (actors * steps ** (depth - 1))."""

    def __init__(self, seed: int, *, depth: int, steps: int) -> None:
        self._random = random.Random(f"pct {seed}")
        self._changes = {self._random.randrange(steps) for _ in range(depth - 1)}
        self._lowest = count(-1, -1)

    def begin(self, actor: Actor) -> None:
        actor.priority = self._random.random()

    def choose(self, ready: Sequence[Actor], current: Actor | None, step: int) -> Actor:
        first = max(ready, key=_priority)
        if step in self._changes:
            first.priority = next(self._lowest)
            first = max(ready, key=_priority)
        return first


def _priority(actor: Actor) -> float:
    return actor.priority


class Scheduler:
    """Runs actors until all are done or wait for what does not come."""

    def __init__(self, strategy: Strategy) -> None:
        self.now = 0.0
        self.step = 0
        self.strategy = strategy
        self._hub = getcurrent()
        self._current: Actor | None = None
        self._actors: dict[greenlet, Actor] = {}
        self._ready: list[Actor] = []
        self._waiting: dict[Hashable, list[Actor]] = {}
        self._later: list[tuple[float, int, Callable[[], object]]] = []
        self._order = count()

    # ---- from outside

    def spawn(self, name: str, work: Callable[[], object]) -> Actor:
        """A new actor; it begins when it is chosen."""
        actor = Actor(name, greenlet(lambda: self._live(work), self._hub))
        self._actors[actor.fiber] = actor
        self.strategy.begin(actor)
        self._ready.append(actor)
        return actor

    def _live(self, work: Callable[[], object]) -> None:
        try:
            work()
        finally:
            actor = self._actors.pop(cast(greenlet, getcurrent()))
            if actor in self._ready:
                self._ready.remove(actor)

    def run(self, enough: Callable[[], bool] = lambda: False, *, steps: int = 50_000) -> None:
        """Goes on until it is `enough`, or nothing can happen any more. Raises Stuck after so many steps, and whatever
        an actor raises."""
        last = self.step + steps
        while not enough():
            if self.step >= last:
                raise Stuck(f"still going on after {steps} steps: {[a.name for a in self._ready]}")
            if not self._ready and not self._next_event():
                return
            self._due()
            if self._ready:
                self._go_on()

    def _go_on(self) -> None:
        self._current = self.strategy.choose(self._ready, self._current, self.step)
        self.step += 1
        self.now += STEP
        self._current.fiber.switch()

    def _next_event(self) -> bool:
        """Time goes to the next thing that happens by itself."""
        if not self._later:
            return False
        self.now = max(self.now, self._later[0][0])
        return True

    def _due(self) -> None:
        while self._later and self._later[0][0] <= self.now:
            heapq.heappop(self._later)[2]()

    def jump(self, seconds: float) -> None:
        """Time goes on while nobody does anything."""
        self.now += seconds

    def close(self) -> None:
        """Whoever still waits for anything ends."""
        for actor in list(self._actors.values()):
            actor.fiber.throw(GreenletExit)

    # ---- from within an actor

    @property
    def actors(self) -> Sequence[Actor]:
        """All who have not ended."""
        return list(self._actors.values())

    @property
    def current(self) -> Actor | None:
        """Who is running now; None outside."""
        return self._actors.get(cast(greenlet, getcurrent()))

    def point(self) -> None:
        """Somebody else may go on here."""
        self._hub.switch()

    def sleep(self, seconds: float) -> None:
        """The current actor goes on later."""
        actor = self._leave()
        self.at(self.now + seconds, lambda: self._ready.append(actor))
        self._hub.switch()

    def wait(self, key: Hashable) -> None:
        """The current actor goes on after somebody's `wake`, with a new piece of work."""
        actor = self._leave()
        self._waiting.setdefault(key, []).append(actor)
        self._hub.switch()
        self.strategy.begin(actor)

    def _leave(self) -> Actor:
        actor = self._actors[cast(greenlet, getcurrent())]
        self._ready.remove(actor)
        return actor

    # ---- from anywhere

    def wake(self, key: Hashable) -> None:
        """All who wait for this go on."""
        self._ready += self._waiting.pop(key, ())

    def at(self, when: float, action: Callable[[], object]) -> None:
        """Does something at that time, when it is seen to have come."""
        heapq.heappush(self._later, (when, next(self._order), action))
