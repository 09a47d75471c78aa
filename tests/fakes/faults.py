"""What goes wrong in a fake, and at which of its calls."""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import TypeVar

from strandline.ports import Ambiguous, StoreError

T = TypeVar("T")
Action = Callable[[], object] | BaseException


@dataclass
class _Plan:
    """What happens at one future call: run or raised before it, after it took effect, or it is held back."""

    before: list[Action] = field(default_factory=list)
    after: list[Action] = field(default_factory=list)
    late: bool = False


class Faults:
    """Counts calls by operation and makes them fail as planned. `nth` counts the operation's calls from now on.

    faults.before("put", Ambiguous("down"))         fails, and nothing has happened
    faults.after("put", Ambiguous("lost"))          has happened, the answer is lost
    faults.before("put", Contended("race"))         refused for now
    faults.before("put", lambda: other.append(...)) another writer comes first
    faults.late("put"), then faults.land()          no answer; it happens when `land` is called
    """

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self._seen: Counter[str] = Counter()  # apart, so that a test may clear `calls`
        self._plans: dict[tuple[str, int], _Plan] = {}
        self._held: list[Callable[[], object]] = []
        self._lock = Lock()

    def before(self, operation: str, action: Action, *, nth: int = 1) -> None:
        self._plan(operation, nth).before.append(action)

    def after(self, operation: str, action: Action, *, nth: int = 1) -> None:
        self._plan(operation, nth).after.append(action)

    def late(self, operation: str, *, nth: int = 1) -> None:
        self._plan(operation, nth).late = True

    def land(self) -> None:
        """What was held back arrives now; nobody hears its answer."""
        held, self._held = self._held, []
        for effect in held:
            with suppress(StoreError):
                effect()

    def run(self, operation: str, effect: Callable[[], T]) -> T:
        """One call of a fake, with whatever is planned for it."""
        with self._lock:
            self.calls[operation] += 1
            self._seen[operation] += 1
            plan = self._plans.pop((operation, self._seen[operation]), None) if self._plans else None
        if plan is None:
            return effect()
        for action in plan.before:
            _act(action)
        if plan.late:
            self._held.append(effect)
            raise Ambiguous(f"{operation}: no answer yet")
        result = effect()
        for action in plan.after:
            _act(action)
        return result

    def _plan(self, operation: str, nth: int) -> _Plan:
        return self._plans.setdefault((operation, self._seen[operation] + nth), _Plan())


def _act(action: Action) -> None:
    if isinstance(action, BaseException):
        raise action
    action()
