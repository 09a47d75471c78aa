"""One run: everything goes wrong that the plan says, then nothing any more, then all must be as promised."""

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

from tests.sim import workers
from tests.sim.faults import Plan
from tests.sim.invariants import check
from tests.sim.scenarios import Scenario
from tests.sim.scheduler import Strategy
from tests.sim.world import World

ROUNDS = 60

_SMALL = {
    "strandline.domain.session.SPILL_BYTES": 900,
    "strandline.domain.tool_output.MAX_INLINE_CHARS": 200,
    "strandline.domain.tool_output.PREVIEW_CHARS": 60,
    "strandline.domain.working_memory.thresholds.FIRST_TOKENS": 40,
    "strandline.domain.working_memory.thresholds.NEXT_TOKENS": 20,
    "strandline.storage.journal.RUN": 4,
    "strandline.storage.document.WRITES_KEPT": 3,
    "strandline.storage.document.Retry.__init__.__defaults__": (4, 0.1, 0.8, 15.0),
}


@contextmanager
def small() -> Iterator[None]:
    """Limits so low that a few messages pass them; and nothing is logged, as much goes wrong."""
    with ExitStack() as patches:
        logging.disable(logging.CRITICAL)
        patches.callback(logging.disable, logging.NOTSET)
        for name, value in _SMALL.items():
            patches.enter_context(patch(name, value))
        yield


def play(scenario: Scenario, strategy: Strategy, plan: Plan, seed: int = 0) -> World:
    """Runs it to its end. Raises AssertionError when something promised does not hold."""
    world = World(seed, strategy, plan)
    with small():
        try:
            _play(world, scenario)
        except BaseException as error:
            error.world = world  # type: ignore[attr-defined]
            raise
        finally:
            world.scheduler.close()
    return world


def _play(world: World, scenario: Scenario) -> None:
    workers.start(world)
    scenario(world)
    world.scheduler.run(lambda: not world.clients and world.scheduler.now >= world.chaos_ends)
    world.network.heal()
    world.scheduler.run()
    for _ in range(ROUNDS):
        due = world.next_due()
        if due is None:
            break
        world.network.jump(max(due - world.scheduler.now, 0) + 2)
        world.expire()
        world.scheduler.spawn("healing sweep", lambda: workers.sweep(world))
        world.scheduler.run()
    check(world.objects, world.items, world.queues, world.history, world.bus.published)
