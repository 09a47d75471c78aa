"""The single-fault matrix over AWS's own protocol: every place that calls AWS, and every way in which it can go wrong.

The calls are recorded from a run in which nothing goes wrong; one fault at a time, the run is made again. Whatever died
is repeated as its caller would, and afterwards the world must look as if nothing had happened.

Each place is tried where it is reached first, with the faults that are not another's equal for the core. It is the
adapters that make the others equal: those are tried once with each form of a call, an operation and its condition.
`make sim` tries every call with every fault (`STRANDLINE_SIM=full`).
"""

import os
from collections.abc import Sequence
from functools import cache

import pytest

from tests.sim.moto.faults import FAULTS, harms_reads
from tests.sim.moto.journeys import ByItself, Deleted, Erased, Journey, Remembering, days_later
from tests.sim.moto.wire import Call
from tests.sim.moto.world import MotoWorld

pytestmark = pytest.mark.sim

EVERY_CALL = os.environ.get("STRANDLINE_SIM") == "full"
JOURNEYS: Sequence[type[Journey]] = (Remembering, ByItself, Deleted, Erased)
# a refusal and a 5xx mean to the core what no answer means, and a kill before a write what one after the last means
BRIEF = ("not sent", "no answer, done", "killed after", "duplicated", "late", "very late")
# the way out is long, and its fakes' matrix tries the others
PARTING = ("no answer, done", "killed after", "late")
# what lands after an erasure is over stays: `docs/GUARANTEES.md`
IN_TIME = tuple(kind for kind in FAULTS if kind != "very late")


def tried(*journeys: type[Journey]) -> list[tuple[type[Journey], str]]:
    """Which journey is broken by which faults."""
    return [
        (journey, kind)
        for journey in journeys
        for kind in (IN_TIME if journey is Erased else FAULTS)
        if EVERY_CALL or journey is Remembering or kind in (BRIEF if journey is ByItself else PARTING)
    ]


@cache
def calls(journey: type[Journey]) -> list[Call]:
    """The calls of a run in which nothing goes wrong."""
    world = MotoWorld()
    made = journey(world)
    start = len(world.wire.calls)
    made.go()
    found = world.wire.calls[start:]
    made.expect()
    return found


@cache
def places(journey: type[Journey]) -> list[tuple[int, Call]]:
    """Where to break it: (index, call). A place that another journey passes before is tried there."""
    earlier = JOURNEYS[: JOURNEYS.index(journey)]
    known = {call for other in earlier for call in calls(other)}
    found = []
    for at, call in enumerate(calls(journey)):
        if EVERY_CALL or call not in known:
            known.add(call)
            found.append((at, call))
    return found


def places_of(journey: type[Journey], kind: str) -> list[tuple[int, Call]]:
    """Where to break it in this way."""
    found = [(at, call) for at, call in places(journey) if harms_reads(kind) or not call.reads]
    if EVERY_CALL or kind in BRIEF:
        return found
    first = {call.form: at for at, call in reversed(found)}
    return [(at, call) for at, call in found if first[call.form] == at]


def break_everywhere(journey: type[Journey], kind: str, subtests: pytest.Subtests) -> None:
    for at, call in places_of(journey, kind):
        with subtests.test(str(call), at=at):
            world = MotoWorld()
            made = journey(world)
            world.break_call(at, FAULTS[kind])
            made.go()
            assert world.wire.fired
            if world.land():
                days_later(world)
                days_later(world)  # a grave is looked at again a day after it was first seen
            made.expect()


@pytest.mark.parametrize(("journey", "kind"), tried(Remembering, ByItself))
def test_one_fault_anywhere_changes_nothing_in_the_end(
    journey: type[Journey], kind: str, subtests: pytest.Subtests
) -> None:  # B-B17
    break_everywhere(journey, kind, subtests)


@pytest.mark.parametrize(("journey", "kind"), tried(Deleted, Erased))
def test_one_fault_anywhere_leaves_nothing_of_what_was_deleted(
    journey: type[Journey], kind: str, subtests: pytest.Subtests
) -> None:  # B-A15 B-B17
    break_everywhere(journey, kind, subtests)
