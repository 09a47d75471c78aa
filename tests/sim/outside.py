"""The ports as the functions have them: each of their calls goes by the network, which hears what it is about."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from strandline.domain.extraction import Extraction, Transcript
from strandline.domain.learning.insight import Attempt, Insight
from strandline.domain.learning.insight import points as points_of
from strandline.ports import Clock, Item
from tests.fakes import MemoryItems, MemoryObjects
from tests.pipeline.models import Echo
from tests.sim.history import Analysed, ModelCall
from tests.sim.scheduler import Scheduler

MODEL = "sim/1"
_INCARNATION = re.compile(rb'"incarnation":"([^"]+)"')


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

    def __init__(self, clock: Clock, scheduler: Scheduler) -> None:
        super().__init__(clock)
        self.lives: dict[str, dict[str, int]] = {}
        self._scheduler = scheduler

    def put(self, key: str, body: bytes, **how: Any) -> str:
        etag = super().put(key, body, **how)
        found = _INCARNATION.search(body) if key.endswith("/head.json") else None
        if found:
            self.lives.setdefault(key, {}).setdefault(found[1].decode(), self._scheduler.step)
        return etag


class WatchedItems(MemoryItems):
    """A table that notes each change of a task's status: (task id, before, after)."""

    def __init__(self) -> None:
        super().__init__()
        self.turns: list[tuple[str, str, str]] = []

    def update(self, pk: str, sk: str, values: Item, **how: Any) -> None:
        before = self._rows.get((pk, sk), {}).get("status") if pk.startswith("TASKS#") else None
        super().update(pk, sk, values, **how)
        if before is not None and before != values.get("status", before):
            self.turns.append((sk, before, values["status"]))


class CountedModel:
    """Extracts as `Echo` does, and says the same of the same run; `asked` hears of each call."""

    def __init__(self, asked: Callable[[type[ModelCall] | type[Analysed]], object]) -> None:
        self._asked = asked
        self._echo = Echo()

    def extract(self, transcript: Transcript) -> Extraction:
        self._asked(ModelCall)
        return self._echo.extract(transcript)

    def analyse(self, attempt: Attempt) -> Insight:
        self._asked(Analysed)
        return seen_in(attempt)


def seen_in(attempt: Attempt) -> Insight:
    """What the model says of a run: nothing of what is known already."""
    points = points_of(attempt.told)
    return Insight(model=MODEL, approach=points[:1], reflect=(f"it ended in {attempt.verdict}",))
