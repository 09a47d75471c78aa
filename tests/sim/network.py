"""Every call from a function, a client or a poller to the outside: others may go on before it, and it may go wrong."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from strandline.domain.errors import ExtractionFailed
from strandline.ports import Ambiguous, Contended, StoreError
from tests.sim.faults import Call, Exactly, Plan
from tests.sim.queues import TimedQueue
from tests.sim.scheduler import STEP, Scheduler

T = TypeVar("T")

LATE_STEPS = 200
LATE_SECONDS = 900
"""A signed request is refused a quarter of an hour after it was signed: nothing lands later than that."""
SLOW_CALLS = 12


class Kill(BaseException):
    """The function is gone: nothing of it runs any more, and nobody may catch this."""


@dataclass(eq=False)
class Invocation:
    """One run of a function. Once it is dead, none of its calls has any effect. An extraction is of one `archive`."""

    word: str
    until: float
    dead: bool = False
    archive: str = ""


class Network:
    """`calls` lists what was called, and what went wrong with it."""

    def __init__(
        self, scheduler: Scheduler, plan: Plan, chance: random.Random, queues: Mapping[str, TimedQueue]
    ) -> None:
        self.calls: list[tuple[Call, str | None]] = []
        self._scheduler = scheduler
        self._plan = plan
        self._chance = chance
        self._queues = queues
        self._late: list[Callable[[], object]] = []
        self._slow: dict[str, int] = {}

    def call(self, site: str, what: str, effect: Callable[[], T]) -> T:
        """One call. From outside of the simulation it just happens."""
        actor = self._scheduler.current
        if actor is None:
            return effect()
        invocation: Invocation | None = actor.context
        self._expect_alive(invocation)
        self._scheduler.point()
        self._expect_alive(invocation)
        call = Call(len(self.calls), self._scheduler.now, actor.name, site, what, invocation is not None)
        kind = self._plan.kind(call)
        self.calls.append((call, kind))
        self._expect_quick(call)
        if kind is None:
            return effect()
        wrong: Callable[..., T] = _WRONG[kind]
        return wrong(self, call, effect)

    def _expect_alive(self, invocation: Invocation | None) -> None:
        if invocation is None:
            return
        if invocation.until < self._scheduler.now:  # its time is over, or time has jumped
            invocation.dead = True
        if invocation.dead:
            raise Kill

    def _expect_quick(self, call: Call) -> None:
        left = self._slow.get(call.store, 0)
        if left:
            self._slow[call.store] = left - 1
            raise Ambiguous("503 Slow Down")

    def jump(self, seconds: float) -> None:
        """Time goes on. What is on its way lands before, or never, when it would be too late."""
        if seconds > LATE_SECONDS:
            for effect in list(self._late):
                if self._chance.random() < 0.5:
                    self._land(effect)
            self._late.clear()
        self._scheduler.jump(seconds)

    def heal(self) -> None:
        """From here on nothing goes wrong; what is on its way has landed."""
        self._plan = Exactly({})
        self._slow.clear()
        for effect in list(self._late):
            self._land(effect)

    def _land(self, effect: Callable[[], object]) -> None:
        if effect in self._late:
            self._late.remove(effect)
            _quietly(effect)

    # ---- what goes wrong

    def _kill_before(self, call: Call, effect: Callable[[], T]) -> T:
        actor = self._scheduler.current
        assert actor is not None
        actor.context.dead = True
        raise Kill

    def _kill_after(self, call: Call, effect: Callable[[], T]) -> T:
        _quietly(effect)
        return self._kill_before(call, effect)

    def _fail(self, call: Call, effect: Callable[[], T]) -> T:
        raise _no_answer(call)

    def _lose(self, call: Call, effect: Callable[[], T]) -> T:
        _quietly(effect)
        raise _no_answer(call)

    def _delay(self, call: Call, effect: Callable[[], T]) -> T:
        self._late.append(effect)
        wait = STEP * self._chance.random() * LATE_STEPS
        self._scheduler.at(self._scheduler.now + wait, partial(self._land, effect))
        raise _no_answer(call)

    def _double(self, call: Call, effect: Callable[[], T]) -> T:
        result = effect()
        _quietly(effect)
        return result

    def _resend(self, call: Call, effect: Callable[[], T]) -> T:
        _quietly(effect)
        return effect()

    def _slow_down(self, call: Call, effect: Callable[[], T]) -> T:
        self._slow[call.store] = int(self._chance.random() * SLOW_CALLS)
        raise Ambiguous("503 Slow Down")

    def _contend(self, call: Call, effect: Callable[[], T]) -> T:
        raise Contended("409")

    def _deliver_twice(self, call: Call, effect: Callable[[], T]) -> T:
        """Whoever else looks into the queue finds the same messages, a moment later."""
        batch = effect()
        show = partial(self._queues[call.store].show, batch)  # type: ignore[arg-type]
        self._scheduler.at(self._scheduler.now + STEP, show)
        return batch


def _quietly(effect: Callable[[], object]) -> None:
    """It happens, or is refused, and nobody hears of it."""
    try:
        effect()
    except (StoreError, KeyError, ExtractionFailed):
        return


def _no_answer(call: Call) -> Exception:
    return ExtractionFailed("the model does not answer") if call.store == "model" else Ambiguous("no answer")


_WRONG: Mapping[str, Callable[..., Any]] = {
    "killed before": Network._kill_before,
    "killed after": Network._kill_after,
    "fails": Network._fail,
    "lost": Network._lose,
    "late": Network._delay,
    "doubled": Network._double,
    "resent": Network._resend,
    "slow down": Network._slow_down,
    "contended": Network._contend,
    "delivered twice": Network._deliver_twice,
}
