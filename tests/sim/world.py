"""The outside of the functions, simulated: stores, queues, a bus, a model, clocks; and the functions themselves.

A function is an instance of `Library` with what it remembers. Of each there are several, one invocation at a time; one
that is killed is never used again. Every call of theirs to the outside passes `World.call`: another actor may go on
there, and the plan may let it go wrong.
"""

import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from strandline.domain.errors import ExtractionFailed
from strandline.domain.extraction import Extraction, Transcript
from strandline.domain.times import parse
from strandline.pipeline.library import Library
from strandline.pipeline.services import Ports, Rules
from strandline.ports import Ambiguous, Condition, Contended, StoreError
from strandline.storage.codec import HeadCodec
from strandline.storage.layout import User
from tests.fakes import FakeIds, MemoryBus, MemoryItems, MemoryObjects, WordCounter
from tests.pipeline.models import Echo
from tests.sim.faults import Call, Exactly, Plan
from tests.sim.history import History, Killed, ModelCall
from tests.sim.queues import TimedQueue
from tests.sim.scheduler import Actor, Scheduler, Strategy

T = TypeVar("T")

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
HEAL_SECONDS = 900
SKEW = 1.0
WARM = 2
LATE_STEPS = 200
LATE_SECONDS = 900
"""A signed request is refused a quarter of an hour after it was signed: nothing lands later than that."""
SLOW_CALLS = 12
_INCARNATION = re.compile(rb'"incarnation":"([^"]+)"')

TIMEOUTS = {"append": 29, "api": 29, "commit": 60, "extract": 120, "merge": 120, "erase": 29, "sweep": 55}
VISIBILITY = {"ingest": 174, "commit": 360, "extract": 720, "merge": 720, "erase": 180}


class Kill(BaseException):
    """The function is gone: nothing of it runs any more, and nobody may catch this."""


class NoAnswer(Exception):
    """Whoever called a function hears nothing: it may have done its work or not."""


@dataclass(eq=False)
class Instance:
    """A warm function: what it remembers, and how far its clock is off."""

    word: str
    services: Library


@dataclass(eq=False)
class Invocation:
    """One run of a function. Once it is dead, none of its calls has any effect. `archive` is what an extraction is of."""

    instance: Instance
    until: float
    dead: bool = False
    archive: str = ""


class SimClock:
    """`ports.Clock` of one function, `skew` seconds off."""

    def __init__(self, world: "World", skew: float) -> None:
        self._world = world
        self._skew = timedelta(seconds=skew)

    def now(self) -> datetime:
        return self._world.now() + self._skew

    def sleep(self, seconds: float) -> None:
        self._world.call("clock.sleep", f"{seconds:.2f}", partial(self._world.scheduler.sleep, seconds))


class Port:
    """Any port: each of its calls goes through `call`, as `name.operation`."""

    def __init__(self, name: str, inner: object, call: Callable[[str, str, Callable[[], Any]], Any]) -> None:
        self._name = name
        self._inner = inner
        self._call = call

    def __getattr__(self, operation: str) -> Any:
        site, method = f"{self._name}.{operation}", getattr(self._inner, operation)

        def called(*args: Any, **kwargs: Any) -> Any:
            return self._call(site, _what(args), lambda: method(*args, **kwargs))

        setattr(self, operation, called)
        return called

    def keys(self, prefix: str, *, after: str = "") -> Iterator[str]:
        listed = self._call("objects.list", prefix, lambda: list(self._inner.keys(prefix, after=after)))  # type: ignore[attr-defined]
        yield from listed


def _what(args: tuple[Any, ...]) -> str:
    """What a call is about, for a trace."""
    first = args[0] if args else ""
    if isinstance(first, dict):
        return f"{first['pk']} {first['sk']}"
    if len(args) > 1 and isinstance(args[1], str):
        return f"{first} {args[1]}"
    return first if isinstance(first, str) else f"{type(first).__name__}"


class WatchedObjects(MemoryObjects):
    """A bucket that remembers which lives each session has had, by the key of its head: (incarnation, step)."""

    def __init__(self, clock: SimClock, scheduler: Scheduler) -> None:
        super().__init__(clock)
        self.lives: dict[str, dict[str, int]] = {}
        self._scheduler = scheduler

    def _put(self, key: str, body: bytes | None, when: Condition | None) -> str:
        etag = super()._put(key, body, when)
        found = _INCARNATION.search(body) if body and key.endswith("/head.json") else None
        if found:
            self.lives.setdefault(key, {}).setdefault(found[1].decode(), self._scheduler.step)
        return etag


class CountedModel:
    """Extracts as `Echo` does, and writes down which archive it was asked about."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self._echo = Echo()

    def extract(self, transcript: Transcript) -> Extraction:
        self._world.history.append(ModelCall(self._world.actor.context.archive))
        return self._echo.extract(transcript)


class World:
    """Everything that happens in one run follows from `seed`, the strategy, the plan and what the actors do."""

    def __init__(self, seed: int, strategy: Strategy, plan: Plan) -> None:
        self.chance = random.Random(f"world {seed}")
        self.scheduler = Scheduler(strategy)
        self.plan = plan
        self.history = History()
        self.clients: set[str] = set()
        self.calls: list[tuple[Call, str | None]] = []
        self.ids = FakeIds(seed)
        self.objects = WatchedObjects(SimClock(self, 0.0), self.scheduler)
        self.items = MemoryItems()
        self.bus = MemoryBus()
        self.queues = {
            "ingest": self._queue("ingest", lambda m: f"{m.account_id}/{m.user_id}/{m.session_id}"),
            "commit": self._queue("commit"),
            "extract": self._queue("extract"),
            "merge": self._queue("merge", lambda m: m.session.owner),
            "erase": self._queue("erase"),
        }
        self._late: list[Callable[[], object]] = []
        self._slow: dict[str, int] = {}
        self._free: dict[str, list[Instance]] = {}
        self.ports = {name: Port(name, queue, self.call) for name, queue in self.queues.items()}
        self._shared = {
            "objects": Port("objects", self.objects, self.call),
            "items": Port("items", self.items, self.call),
            "bus": Port("bus", self.bus, self.call),
            "model": Port("model", CountedModel(self), self.call),
        }

    def _queue(self, name: str, group: Callable[[Any], str] | None = None) -> TimedQueue:
        return TimedQueue(self.scheduler, self.chance, visibility=VISIBILITY[name], group=group)

    def now(self) -> datetime:
        return self.at(self.scheduler.now)

    def at(self, seconds: float) -> datetime:
        return BEGIN + timedelta(seconds=seconds)

    def life(self, owner: User, name: str) -> str:
        """The incarnation that a session lives in now; empty when it does not live. Nobody notices."""
        stored = self.objects.get(owner.head(name))
        head = HeadCodec().decode(stored.body)[0] if stored else None
        return "" if head is None or head.buried_at else head.incarnation

    def born(self, owner: User, name: str, since: int) -> list[str]:
        """The incarnations that a session has begun since that step."""
        lives = self.objects.lives.get(owner.head(name), {})
        return [incarnation for incarnation, step in lives.items() if step >= since]

    def next_due(self) -> float | None:
        """When the sweep has to look at something, in seconds; None when there is nothing left to look at."""
        markers = [row for row in self.items.rows() if row["pk"].startswith("DUE#")]
        times = [(parse(row["at"]) - BEGIN).total_seconds() for row in markers]
        return min(times) if times else None

    # ---- functions

    def instance(self, word: str) -> Instance:
        """A new function of this stage: it remembers nothing."""
        shared, queues = self._shared, self.ports
        ports = Ports(
            objects=lambda: shared["objects"],  # type: ignore[arg-type, return-value]
            items=lambda: shared["items"],  # type: ignore[arg-type, return-value]
            extract_queue=lambda: queues["extract"],  # type: ignore[arg-type, return-value]
            merge_queue=lambda: queues["merge"],  # type: ignore[arg-type, return-value]
            erase_queue=lambda: queues["erase"],  # type: ignore[arg-type, return-value]
            bus=lambda: shared["bus"],  # type: ignore[arg-type, return-value]
            model=lambda: shared["model"],  # type: ignore[arg-type, return-value]
            tokens=WordCounter(),
            clock=SimClock(self, self.chance.uniform(-SKEW, SKEW)),
            ids=self.ids,
        )
        return Instance(word, Library(ports, Rules(heal_seconds=HEAL_SECONDS)))

    def invoke(self, word: str, work: Callable[[Library], T]) -> T:
        """The current actor has a function do this. Raises NoAnswer when that dies, and whatever the work raises."""
        actor = self.actor
        with self._taken(word) as instance:
            invocation = Invocation(instance, self.scheduler.now + TIMEOUTS[word])
            actor.context = invocation
            try:
                return work(instance.services)
            except Kill:
                self.history.append(Killed(self.scheduler.step, word))
                raise NoAnswer from None
            finally:
                actor.context = None

    @contextmanager
    def _taken(self, word: str) -> Iterator[Instance]:
        """A free instance; it is free again afterwards, unless it was killed."""
        free = self._free.setdefault(word, [self.instance(word) for _ in range(WARM)])
        instance = free.pop(int(self.chance.random() * len(free))) if free else self.instance(word)
        try:
            yield instance
        except NoAnswer:
            raise
        except Exception:
            free.append(instance)
            raise
        free.append(instance)

    def running(self, word: str) -> list[Invocation]:
        """The runs of a function that are going on, but for the current actor's."""
        known = (actor.context for actor in self.scheduler.actors if actor is not self.scheduler.current)
        return [run for run in known if run is not None and run.instance.word == word]

    @property
    def actor(self) -> Actor:
        actor = self.scheduler.current
        assert actor is not None
        return actor

    # ---- calls to the outside

    def call(self, site: str, what: str, effect: Callable[[], T]) -> T:
        """One call: others may go on before it, and the plan may let it go wrong. From outside of the simulation it
        just happens."""
        actor = self.scheduler.current
        if actor is None:
            return effect()
        invocation: Invocation | None = actor.context
        self._live(invocation)
        self.scheduler.point()
        self._live(invocation)
        call = Call(len(self.calls), self.scheduler.now, actor.name, site, what, invocation is not None)
        kind = self.plan.kind(call)
        self.calls.append((call, kind))
        if self._is_slow(site):
            raise Ambiguous("503 Slow Down")
        return effect() if kind is None else self._go_wrong(kind, site, effect, invocation)

    def _live(self, invocation: Invocation | None) -> None:
        if invocation is None:
            return
        if invocation.until < self.scheduler.now:  # its time is over, or time has jumped
            invocation.dead = True
        if invocation.dead:
            raise Kill

    def _is_slow(self, site: str) -> bool:
        store = site.partition(".")[0]
        left = self._slow.get(store, 0)
        if left:
            self._slow[store] = left - 1
        return left > 0

    def _go_wrong(self, kind: str, site: str, effect: Callable[[], T], by: Invocation | None) -> T:
        match kind:
            case "killed before" | "killed after":
                assert by is not None
                by.dead = True
                if kind == "killed after":
                    _quietly(effect)
                raise Kill
            case "fails":
                raise _no_answer(site)
            case "lost":
                _quietly(effect)
                raise _no_answer(site)
            case "late":
                self._late.append(effect)
                steps = int(self.chance.random() * LATE_STEPS)
                self.scheduler.at(self.scheduler.now + steps * 0.02, partial(self._land, effect))
                raise _no_answer(site)
            case "doubled":
                result = effect()
                _quietly(effect)
                return result
            case "resent":
                _quietly(effect)
                return effect()
            case "slow down":
                self._slow[site.partition(".")[0]] = int(self.chance.random() * SLOW_CALLS)
                raise Ambiguous("503 Slow Down")
            case "contended":
                raise Contended("409")
            case "delivered twice":
                return self._deliver_twice(site.partition(".")[0], effect)
        raise AssertionError(kind)

    def _deliver_twice(self, queue: str, effect: Callable[[], T]) -> T:
        batch = effect()
        for delivery in batch:  # type: ignore[attr-defined]
            self.queues[queue].back(delivery)
        return batch

    def _land(self, effect: Callable[[], object]) -> None:
        if effect in self._late:
            self._late.remove(effect)
            _quietly(effect)

    def jump(self, seconds: float) -> None:
        """Time goes on. What is on its way lands before, or never, when it would be too late."""
        if seconds > LATE_SECONDS:
            for effect in list(self._late):
                if self.chance.random() < 0.5:
                    self._land(effect)
            self._late.clear()
        self.scheduler.jump(seconds)

    def heal(self) -> None:
        """From here on nothing goes wrong; what is on its way has landed."""
        self.plan = Exactly({})
        self._slow.clear()
        for effect in list(self._late):
            self._land(effect)


def _quietly(effect: Callable[[], object]) -> None:
    """It happens, or is refused, and nobody hears of it."""
    try:
        effect()
    except (StoreError, KeyError, ExtractionFailed):
        return


def _no_answer(site: str) -> Exception:
    return ExtractionFailed("the model does not answer") if site.startswith("model.") else Ambiguous("no answer")
