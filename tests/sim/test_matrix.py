"""Every fault at every call of the fixed scenarios, and some of the pairs of faults."""

from itertools import islice

import pytest

from tests.sim import cases
from tests.sim.scenarios import FIXED

PAIRS = 100


@pytest.mark.parametrize("scenario", FIXED)
def test_without_a_fault_everything_is_as_promised(scenario: str) -> None:
    world = cases.of(scenario).run()
    assert all(fault is None for _, fault in world.network.calls)


def test_together_they_call_everything_that_can_go_wrong() -> None:
    sites = {call.site for scenario in FIXED for call, _ in cases.of(scenario).run().network.calls}
    queues = {
        f"{name}.{done}"
        for name in ("ingest", "commit", "extract", "merge", "learn", "erase")
        for done in QUEUE
    }
    assert sites == queues | CALLS


QUEUE = ("send", "take", "delete")
CALLS = {
    *(
        f"objects.{operation}"
        for operation in ("get", "get_unless", "put", "list", "versions_below", "erase")
    ),
    "objects.delete",
    *(f"items.{operation}" for operation in ("get", "put", "update", "delete", "query")),
    "bus.put",
    "model.extract",
    "model.analyse",
    "client.answer",
}


@pytest.mark.parametrize("scenario", sorted(FIXED.keys() - {"context"}))  # of that: test_contexts.py
def test_any_single_fault_is_survived(scenario: str) -> None:  # B-B17
    assert cases.failures(cases.matrix(scenario)) == []


@pytest.mark.parametrize("scenario", sorted(FIXED.keys() - {"context"}))
def test_two_faults_are_survived(scenario: str) -> None:  # B-B17
    assert cases.failures(islice(cases.pairs(scenario, PAIRS), PAIRS)) == []
