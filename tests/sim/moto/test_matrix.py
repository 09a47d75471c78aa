"""The single-fault matrix over AWS's own protocol: every place that calls AWS, and every way in which it can go wrong.

The calls are recorded from a run in which nothing goes wrong; one fault at a time, the run is made again. Whatever died
is repeated as its caller would, and afterwards the world must look as if nothing had happened.

Each place is tried where it is reached first. `STRANDLINE_SIM=full` tries every call, the same place again included.
"""

import os
from collections.abc import Iterator
from functools import cache

import pytest

from tests.pipeline.way import expect_as_if_nothing_had_happened, play
from tests.sim.moto.farewell import Farewell
from tests.sim.moto.faults import FAULTS, harms_reads
from tests.sim.moto.wire import Call
from tests.sim.moto.world import MotoWorld

pytestmark = pytest.mark.sim

EVERY_CALL = os.environ.get("STRANDLINE_SIM") == "full"


@cache
def calls_of_the_way() -> list[Call]:
    world, start = MotoWorld(), 0

    def begun(_: object) -> None:
        nonlocal start
        start = len(world.wire.calls)

    play(world, begun)
    return world.wire.calls[start:]


@cache
def calls_of_the_farewell() -> list[Call]:
    world = MotoWorld()
    farewell, start = Farewell(world), len(world.wire.calls)
    farewell.go()
    farewell.expect()
    return world.wire.calls[start:]


def broken(found: list[Call], kind: str) -> Iterator[tuple[int, Call]]:
    """Where to break: (index, call)."""
    known: set[Call] = set()
    for at, call in enumerate(found):
        if (EVERY_CALL or call not in known) and (not call.reads or harms_reads(kind)):
            known.add(call)
            yield at, call


@pytest.mark.parametrize("kind", FAULTS)
def test_one_fault_anywhere_changes_nothing_in_the_end(kind: str, subtests: pytest.Subtests) -> None:  # B-B17
    for at, call in broken(calls_of_the_way(), kind):
        with subtests.test(str(call), at=at):
            world = MotoWorld()
            play(world, lambda world, at=at: world.break_call(at, FAULTS[kind]))
            assert world.wire.fired
            if world.land():
                world.heal()
            expect_as_if_nothing_had_happened(world)


# what lands after an erasure is over stays: `docs/GUARANTEES.md`
@pytest.mark.parametrize("kind", [kind for kind in FAULTS if kind != "very late"])
def test_one_fault_anywhere_leaves_nothing_of_what_was_deleted(  # B-A15 B-B17
    kind: str, subtests: pytest.Subtests
) -> None:
    for at, call in broken(calls_of_the_farewell(), kind):
        with subtests.test(str(call), at=at):
            world = MotoWorld()
            farewell = Farewell(world)
            world.break_call(at, FAULTS[kind])
            farewell.go()
            assert world.wire.fired
            farewell.expect()
