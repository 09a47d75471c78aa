"""The four ways in which a call can go wrong, at any one call of the way; and what a caller does about it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from strandline.domain.errors import ExtractionFailed, StrandlineError
from strandline.ports import Ambiguous, StoreError
from tests.pipeline.trips import Killed
from tests.pipeline.world import World

Step = Callable[[World], object]
Fault = Callable[[World, int], None]


def fault(error: type[BaseException], *, before: bool) -> Fault:
    def action() -> None:
        raise error

    return lambda world, offset: world.next(offset, action, before=before)


FAULTS: dict[str, Fault] = {
    "killed before": fault(Killed, before=True),
    "killed after": fault(Killed, before=False),
    "no answer, not done": fault(Ambiguous, before=True),
    "no answer, done": fault(Ambiguous, before=False),
}


@contextmanager
def going_on() -> Iterator[None]:
    with suppress(Killed, StrandlineError, StoreError, ExtractionFailed):
        yield


def run(world: World, step: Step) -> None:
    """A step, and if it dies or is refused the same step again, as its caller would."""
    for _ in range(3):
        with going_on():
            step(world)
            return
    raise AssertionError("refused three times")
