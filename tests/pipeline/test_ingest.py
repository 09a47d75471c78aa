"""The ingest queue under faults: whatever dies, the queue delivers again, and each message is there once, in order."""

import pytest

from strandline.pipeline.append import AppendRequest
from strandline.pipeline.ingest import run_ingest
from tests.pipeline.faults import FAULTS, going_on
from tests.pipeline.world import ALICE, World, said

BIG = "x" * 40_000


def requests() -> list[AppendRequest]:
    """Three requests, without ids, that fill the tail twice and need two appends."""
    sizes = [(1, BIG), (60, "a"), (60, "b")]
    return [
        AppendRequest(
            ALICE, "s", [m.model_copy(update={"id": None}) for m in said([text] * count)], repeat_key=f"r{n}"
        )
        for n, (count, text) in enumerate(sizes)
    ]


def deliver(world: World) -> bool:
    return run_ingest(world.services(), requests()) == [None, None, None]


@pytest.mark.parametrize("kind", FAULTS)
def test_a_batch_that_dies_anywhere_is_stored_once(kind: str) -> None:  # B-A17 B-B17
    wanted = [BIG, *["a"] * 60, *["b"] * 60]
    for at in range(30):
        world = World()
        world.append("s", BIG, ids="first")
        FAULTS[kind](world, at)
        done = False
        with going_on():
            done = deliver(world)
        fired = world.calls.trip is None
        world.mend()
        assert done or deliver(world)
        assert [text for _, text in world.log("s")] == [BIG, *wanted], f"call {at}"
        if not fired:
            return
    raise AssertionError("a batch of so many calls")
