"""An agent's contexts, with any one fault at any call, with trouble everywhere, and with two agents at once."""

from itertools import islice

import pytest

from tests.sim.cases import Case
from tests.sim.contexts import Agent, Given, case, scenario, wrong
from tests.sim.faults import Often
from tests.sim.scenarios import ALICE
from tests.sim.scheduler import Pct
from tests.sim.world import World

EVERY = 5  # of the faults one in so many
SEEDS = range(8)


def failure(tried: Case) -> str | None:
    try:
        world = tried.run()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told with the name of its case
        return f"{tried.name}: {type(error).__name__}: {str(error)[:500]}"
    return next((f"{tried.name}: {found}" for found in wrong(world)), None)


def test_without_a_fault_there_are_compactions_and_all_is_as_promised() -> None:
    world = case().run()
    assert list(wrong(world)) == []
    given = [each.made for each in world.history.of(Given)]
    assert len(given) == 8
    assert given[-1].covered_through > 0 and given[-1].state.failures == 0
    assert {each.status for each in given} >= {"none", "scheduled"}


def test_any_single_fault_is_survived() -> None:
    calls = [call for call, _ in case().run().network.calls]
    faults = [(call.number, kind) for call in calls for kind in call.kinds]
    tried = islice(faults, 0, None, EVERY)
    assert [found for fault in tried if (found := failure(case(fault)))] == []


def two_agents(world: World) -> None:
    """Both speak in the same session, each asks before its own call."""
    scenario(world)
    other = Agent(world, "bea", ALICE)

    def live() -> None:
        for _ in range(3):
            other.turn("s")
        world.clients.discard("bea")

    world.clients.add("bea")
    world.scheduler.spawn("bea", live)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rate", [0.0, 0.05])
def test_two_agents_at_once_in_any_order(seed: int, rate: float) -> None:
    tried = Case(f"two agents {seed}", two_agents, Pct(seed, depth=3, steps=400), Often(seed, rate), seed)
    assert failure(tried) is None
