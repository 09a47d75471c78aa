"""A memory that its owner has deleted stays deleted, whatever is delivered again; a later session may begin it anew."""

import json
from collections.abc import Callable, Iterator

import pytest

from strandline.domain.contracts import MergeRequested
from strandline.domain.errors import NotFound
from strandline.domain.memory import Memory
from strandline.pipeline import memory
from strandline.pipeline.merge import run_merge
from strandline.pipeline.restore import run_restore
from strandline.storage.markdown import parse
from tests.pipeline.faults import FAULTS, going_on
from tests.pipeline.trips import Killed
from tests.pipeline.world import ALICE, World

TEA = "preferences/tea.md"

anything = memory.matching(None, absent=False)


def delete(world: World) -> None:
    memory.delete(world.services(), ALICE, TEA, anything)


def stored(world: World) -> Memory:
    return parse(world.body(ALICE.memory(TEA)).decode())


def lines(world: World) -> list[str]:
    return [line.text for line in memory.read(world.services(), ALICE, TEA).lines]


def expect_gone(world: World, hint: str = "") -> None:
    with pytest.raises(NotFound):
        memory.read(world.services(), ALICE, TEA)
    assert list(memory.list_memories(world.services(), ALICE, "")) == [], hint
    assert world.find("green tea glass", limit=50) == [], hint


def dying_merges(kind: str) -> Iterator[tuple[int, World]]:
    """Worlds whose merge has gone wrong at one of its calls, and whose owner then deleted what it had written."""
    for at in range(40):
        world = World()
        world.append("s", "tea: I like green tea")
        world.commit("s")
        world.extract_next()
        FAULTS[kind](world, at)
        with going_on():
            world.merge_next()
        fired = world.calls.trip is None
        world.mend()
        if not fired:
            return
        if world.stored(TEA):
            delete(world)
            yield at, world
    raise AssertionError("a merge of so many calls")


@pytest.mark.parametrize("kind", FAULTS)
def test_a_redelivered_merge_does_not_bring_back_what_was_deleted(kind: str) -> None:  # B-B17 B-C6 B-C10
    died = list(dying_merges(kind))
    assert len(died) > 3
    for at, world in died:
        world.heal(3)
        assert (world.head("s").completed, world.head("s").pending) == (1, ()), f"call {at}"
        expect_gone(world, f"call {at}")
        (diff,) = world.bodies("memory_diff.json").values()
        operations = json.loads(diff)["operations"]
        assert operations["updates"] == operations["deletes"] == [], f"call {at}"
        assert len(operations["adds"]) <= 1, f"call {at}"


def test_the_merge_died_between_the_file_and_the_diff(world: World) -> None:  # B-B17
    """The very case: the file is written, the diff is not, the owner deletes, the message comes again."""
    world.append("s", "tea: I like green tea")
    world.commit("s")
    world.extract_next()
    while world.calls.trip is None and not world.stored(TEA):
        world.next(0, _die_after_the_file(world), before=False)
        with going_on():
            world.merge_next()
    world.mend()
    assert not world.stored("memory_diff.json")
    delete(world)

    world.heal()

    expect_gone(world)
    assert world.head("s").completed == 1


def _die_after_the_file(world: World) -> Callable[[], None]:
    def look() -> None:
        if world.stored(TEA):
            raise Killed
        world.next(0, look, before=False)

    return look


def test_an_archive_that_is_merged_again_without_its_diff(world: World) -> None:  # B-C6
    world.remember("s", "tea: I like green tea")
    (request,) = [m for m in world.merge_queue.sent if isinstance(m, MergeRequested)]
    (key,) = world.stored("memory_diff.json")
    world.objects.delete(key)
    delete(world)

    assert run_merge(world.services(), [request]) == [None]

    expect_gone(world)
    assert json.loads(world.body(key))["summary"]["by_type"] == {"total": 0}


def test_a_later_session_begins_the_memory_anew(world: World) -> None:
    world.remember("s", "tea: I like green tea")
    delete(world)
    world.remember("later", "tea: from a glass")
    assert lines(world) == ["from a glass"]
    found = stored(world)
    assert (found.version, found.is_new, len(found.applied)) == (3, True, 2)
    (*_, last) = [event for event in world.journal() if event["type"] == "MemoryChanged"]
    assert last["added"] == ["viking://user/alice/memories/preferences/tea.md"]


def test_one_batch_with_what_is_old_and_what_is_new(world: World) -> None:
    world.remember("s", "tea: I like green tea")
    (old,) = [m for m in world.merge_queue.sent if isinstance(m, MergeRequested)]
    (key,) = world.stored("memory_diff.json")
    world.objects.delete(key)
    delete(world)
    world.append("later", "tea: from a glass")
    world.commit("later")
    world.extract_next()
    (new,) = [d.message for d in world.merge_queue.receive(1)]

    assert run_merge(world.services(), [old, new]) == [None, None]  # type: ignore[list-item]

    assert lines(world) == ["from a glass"]
    first, second = (
        json.loads(world.body(k))["operations"] for k in sorted(world.stored("memory_diff.json"))
    )
    assert {len(first["adds"]), len(second["adds"])} == {0, 1}


def test_the_owner_begins_it_anew(world: World) -> None:
    world.remember("s", "tea: I like green tea")
    delete(world)
    memory.write(world.services(), ALICE, TEA, "# Tea\n\nblack\n", memory.matching(None, absent=True))
    found = memory.read(world.services(), ALICE, TEA)
    assert (found.body, found.version, found.title) == ("# Tea\n\nblack\n", 3, "Tea")
    delete(world)
    expect_gone(world)
    assert stored(world).version == 4


def test_a_gravestone_says_nothing_of_what_was_there(world: World) -> None:
    world.remember("s", "tea: I like green tea")
    memory.write(world.services(), ALICE, TEA, "# My secret\n\nblack\n", anything)
    delete(world)
    text = world.body(ALICE.memory(TEA)).decode()
    assert "green" not in text and "secret" not in text and "black" not in text
    assert "deleted_at: '2026-01-01T00:00:00.000Z'" in text
    assert (stored(world).body, stored(world).deleted_at) == ("", "2026-01-01T00:00:00.000Z")


def test_an_index_that_is_made_again_leaves_gravestones_out(world: World) -> None:
    world.remember("s", "tea: I like green tea", "sport: I row")
    delete(world)
    world.objects.delete(ALICE.index("memories"))
    run_restore(world.services())
    assert list(memory.list_memories(world.services(), ALICE, "")) == ["preferences/sport.md"]


def test_what_is_deleted_twice_is_not_found(world: World) -> None:
    world.remember("s", "tea: I like green tea")
    delete(world)
    writes = world.writes(ALICE.memory(TEA))
    with pytest.raises(NotFound):
        delete(world)
    assert world.writes(ALICE.memory(TEA)) == writes
