"""The process dies, or a store falls silent, at every single call of the way from message to memory.

Whatever died is repeated as its caller would: the client sends its request again, the queue delivers again, the sweep
comes by. Afterwards the world must look as if nothing had happened.
"""

import pytest

from strandline.ports import Contended
from tests.pipeline.faults import FAULTS, run
from tests.pipeline.trips import Killed
from tests.pipeline.way import (
    STEPS,
    TEXTS,
    append,
    expect_as_if_nothing_had_happened,
    expect_events,
    play,
    undisturbed,
)
from tests.pipeline.world import World


def calls_of_the_way() -> int:
    world = World()
    world.create("s")
    before = len(world.calls.names)
    for step in STEPS:
        step(world)
    return len(world.calls.names) - before


@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("at", range(calls_of_the_way()))
def test_one_fault_anywhere_changes_nothing_in_the_end(at: int, kind: str) -> None:  # B-B17
    expect_as_if_nothing_had_happened(play(World(), lambda world: FAULTS[kind](world, at)))


def test_without_a_fault_there_are_two_archives(world: World) -> None:
    assert undisturbed().head("s").commit_count == 2
    expect_as_if_nothing_had_happened(undisturbed())


@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("step", [3, 4, 5])
def test_files_are_the_same_to_the_byte_after_a_fault_of_extract_or_merge(step: int, kind: str) -> None:
    """A commit that dies may cut elsewhere; from there on every byte is settled."""
    calm = undisturbed()
    for at in range(20):
        world = World()
        world.create("s")
        for n, done in enumerate(STEPS):
            if n == step + 1:
                FAULTS[kind](world, at)
            run(world, done)
        world.heal()
        for part in ("/memories/", "memory_diff.json", "candidates.json", "overview.md"):
            assert world.bodies(part) == calm.bodies(part), f"call {at}"
        expect_events(world)


@pytest.mark.parametrize("kind", FAULTS)
def test_a_session_that_is_created_by_its_first_message(kind: str) -> None:  # B-A2 B-A7
    for at in range(6):
        world = World()
        FAULTS[kind](world, at)
        run(world, append)
        assert world.log("s") == list(enumerate(TEXTS, start=1)), f"call {at}"
        assert [row["session_id"] for row in world.rows("SESSIONS#")] == ["s"], f"call {at}"


def test_a_session_whose_first_write_died_is_listed_once(world: World) -> None:  # B-A2 B-A16
    world.kill(2, before=True)  # the head's PUT; the line in the list is written
    with pytest.raises(Killed):
        append(world)
    world.clock.advance(2)

    append(world)

    assert [row["session_id"] for row in world.rows("SESSIONS#")] == ["s"]


@pytest.mark.parametrize("kind", FAULTS)
def test_a_tail_that_is_spilled(kind: str) -> None:  # B-A7
    big = "x" * 40_000
    for at in range(6):
        world = World()
        world.append("s", big)
        FAULTS[kind](world, at)
        run(world, lambda w: w.append("s", big + "2", ids="n"))
        run(world, lambda w: w.append("s", big + "3", ids="o"))
        assert world.log("s") == [(1, big), (2, big + "2"), (3, big + "3")], f"call {at}"


def test_contention_is_waited_out(world: World) -> None:
    world.append("s", "a")
    for nth in range(1, 6):
        world.objects.faults.before("put", Contended("409"), nth=nth)
    world.append("s", "b", ids="n")
    assert world.log("s") == [(1, "a"), (2, "b")]
    assert len(world.clock.slept) == 5
