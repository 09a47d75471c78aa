"""The process dies, or a store falls silent, at every single call of the way from message to memory.

Whatever died is repeated as its caller would: the client sends its request again, the queue delivers again, the sweep
comes by. Afterwards the world must look as if nothing had happened.
"""

import json
from collections.abc import Iterator
from functools import cache

import pytest

from strandline.pipeline import memory
from strandline.ports import Contended
from tests.pipeline.faults import FAULTS, Step, run
from tests.pipeline.trips import Killed
from tests.pipeline.world import ALICE, World

TEXTS = ("tea: I like green tea", "sport: I row on Sundays", "no memory in this", "tea: never with milk")


def append(world: World) -> None:
    world.append("s", *TEXTS)


def append_more(world: World) -> None:
    world.append("s", "tea: from a glass", ids="more")


def commit(world: World) -> None:
    world.commit("s")


def extract(world: World) -> None:
    world.extract_next()


def merge(world: World) -> None:
    world.merge_next()


STEPS: tuple[Step, ...] = (append, commit, append_more, commit, extract, merge, extract, merge)


def play(at: int | None = None, kind: str = "killed before") -> World:
    """The whole way, with one fault at call `at`; then two rounds of the sweep."""
    world = World()
    world.create("s")
    if at is not None:
        FAULTS[kind](world, at)
    for step in STEPS:
        run(world, step)
    world.heal()
    return world


@cache
def undisturbed() -> World:
    return play()


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
    expect_as_if_nothing_had_happened(play(at, kind))


def expect_as_if_nothing_had_happened(world: World) -> None:
    assert [text for _, text in world.log("s")] == [*TEXTS, "tea: from a glass"]
    assert [seq for seq, _ in world.log("s")] == [1, 2, 3, 4, 5]
    expect_memories(world)
    expect_all_ended(world)


def expect_memories(world: World) -> None:
    """Every line once, and found once, wherever the cut between the archives came to lie."""
    calm = undisturbed()
    assert (
        texts(world)
        == texts(calm)
        == {
            "preferences/sport.md": ["I row on Sundays"],
            "preferences/tea.md": ["I like green tea", "never with milk", "from a glass"],
        }
    )
    assert sorted(world.find("green tea Sundays milk glass", limit=50)) == sorted(
        ["I row on Sundays", "I like green tea", "never with milk", "from a glass"]
    )
    assert sorted(world.find("tea sundays memory", limit=50, context_type="message")) == sorted(
        text for _, text in world.log("s")
    )


def texts(world: World) -> dict[str, list[str]]:
    found = memory.list_memories(world.services(), ALICE, "")
    return {path: [x.text for x in memory.read(world.services(), ALICE, path).lines] for path in found}


def expect_all_ended(world: World) -> None:
    head = world.head("s")
    assert (head.pending, head.failed) == ((), ())
    assert head.completed == head.commit_count
    assert head.live_count == 0 and head.pending_tokens == 0
    assert {row["status"] for row in world.rows("TASKS#")} == {"completed"}
    assert len(world.rows("TASKS#")) == head.commit_count
    assert world.rows("DUE#") == []
    expect_events(world)
    assert len(world.stored("memory_diff.json")) == head.commit_count


def expect_events(world: World) -> None:
    """Each commit and each change of memories is in the journal once, numbered without a gap, and the bus has it."""
    events = world.journal()
    assert [int(event["id"][:12]) for event in events] == list(range(1, len(events) + 1))
    assert {event.id for event in world.bus.published} == {event["id"] for event in events}
    committed = [event["archive"] for event in events if event["type"] == "SessionCommitted"]
    assert sorted(committed) == list(range(1, world.head("s").commit_count + 1))
    changed = [(e["archive"], e["added"], e["updated"]) for e in events if e["type"] == "MemoryChanged"]
    assert sorted(changed) == sorted(changes(world))
    assert len([e for e in events if e["type"] != "TaskFailed"]) == len(committed) + len(changed)


def changes(world: World) -> Iterator[tuple[int, list[str], list[str]]]:
    """(archive, added, updated) by the diffs of the archives that changed something."""
    for key, body in world.bodies("memory_diff.json").items():
        done = json.loads(body)["operations"]
        added, updated = ([op["uri"] for op in done[how]] for how in ("adds", "updates"))
        if added or updated:
            yield int(key.split("/")[-2]), added, updated


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
