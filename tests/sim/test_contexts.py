"""An agent's contexts, with any one fault at any call, with trouble everywhere, and with two agents at once."""

from functools import partial
from itertools import islice

import pytest

from tests.sim import cases
from tests.sim.agents import two_agents
from tests.sim.cases import Case
from tests.sim.faults import Often
from tests.sim.history import Given
from tests.sim.scenarios import ALICE
from tests.sim.scheduler import Pct

EVERY = 5  # of the faults one in so many
SEEDS = range(8)


def test_without_a_fault_there_are_compactions_and_working_memories_ahead_of_time() -> None:
    world = cases.of("context").run()
    given = [each.made for each in world.history.of(Given)]
    assert len(given) == 8
    assert given[-1].covered_through > 0 and given[-1].state.failures == 0
    assert {each.status for each in given} >= {"none", "scheduled"}
    assert [key for key in world.objects.everything() if "/working/" in key]


def test_any_single_fault_is_survived() -> None:
    assert cases.failures(islice(cases.matrix("context"), 0, None, EVERY)) == []


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rate", [0.0, 0.05])
def test_two_agents_at_once_in_any_order(seed: int, rate: float) -> None:
    scenario = partial(two_agents, owner=ALICE)
    Case(f"two agents {seed}", scenario, Pct(seed, depth=3, steps=400), Often(seed, rate), seed).run()
