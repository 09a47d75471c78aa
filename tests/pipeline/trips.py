"""Every call to a store or queue is counted, and at any one of them something can be made to happen."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from tests.fakes import Faults

T = TypeVar("T")


class Killed(BaseException):
    """The process is gone: nothing of it runs any more, and nobody may catch this."""


@dataclass
class Trip:
    """What happens at one call of any store or queue, counted from 0 in the order they are made."""

    at: int
    before: bool
    action: Callable[[], object]

    def __str__(self) -> str:
        return f"{'before' if self.before else 'after'} call {self.at}"


@dataclass
class Calls:
    """Every call to the outside so far, as `objects.put`, and the trip that is armed."""

    names: list[str] = field(default_factory=list)
    trip: Trip | None = None

    def pass_by(self, number: int, *, before: bool) -> None:
        trip = self.trip
        if trip is not None and trip.at == number and trip.before == before:
            self.trip = None
            trip.action()

    def since(self, start: int) -> Counter[str]:
        return Counter(self.names[start:])


class WatchedFaults(Faults):
    """The faults of one store, which also count for all of them together."""

    def __init__(self, store: str, calls: Calls) -> None:
        super().__init__()
        self._store = store
        self._all = calls

    def run(self, operation: str, effect: Callable[[], T]) -> T:
        number = len(self._all.names)
        self._all.names.append(f"{self._store}.{operation}")
        self._all.pass_by(number, before=True)
        result = super().run(operation, effect)
        self._all.pass_by(number, before=False)
        return result


def die() -> None:
    raise Killed
