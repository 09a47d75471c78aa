"""A user writes or deletes a memory while a merge is writing to it, at every single call of the merge.

Nothing is lost, and in the end the index says what the files say.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from strandline.domain.errors import FailedPrecondition, NotFound
from strandline.domain.memory import Memory
from strandline.pipeline import memory
from strandline.pipeline.catalogue import read_file, reindex
from strandline.ports import Ambiguous
from strandline.storage.document import Change
from strandline.storage.parsing import memory_path
from tests.pipeline.trips import Killed
from tests.pipeline.world import ALICE, World

TEA = "preferences/tea.md"
MINE = "I only say this myself"
Act = Callable[[World], object]

anything = memory.matching(None, absent=False)


def put(world: World, text: str, sha256: str | None = None) -> Memory:
    return memory.write(world.services(), ALICE, TEA, text, memory.matching(sha256, absent=False))


def add_a_line(world: World) -> None:
    """What a careful client does: read, change, write on condition, and again when somebody was faster."""
    for _ in range(10):
        found = memory.read(world.services(), ALICE, TEA)
        with suppress(FailedPrecondition):
            put(world, f"# Tea\n\n{MINE}\n{found.body}", found.sha256)
            return
    raise AssertionError("never written")


def replace_all(world: World) -> None:
    put(world, f"# Tea\n\n{MINE}\n")


def remove(world: World) -> None:
    with suppress(NotFound):
        memory.delete(world.services(), ALICE, TEA, anything)


def begun(world: World) -> None:
    """A memory of one line, and an archive with another waiting to be merged."""
    world.remember("old", "tea: from a glass")
    world.append("new", "tea: I like green tea")
    world.commit("new")
    world.extract_next()


def races(act: Act) -> Iterator[tuple[int, World]]:
    for at in range(50):
        world = World()
        begun(world)
        world.next(at, lambda world=world: act(world))  # type: ignore[misc]
        world.merge_next()
        if world.calls.trip is not None:
            return
        world.settle()
        yield at, world
    raise AssertionError("so many calls")


def expect_index_like_files(world: World) -> None:
    files: dict[str, Memory] = {}
    for key in world.stored("/memories/"):
        parsed = memory_path(key)
        assert parsed is not None
        there = read_file(world.services(), ALICE, parsed[1])
        files |= {parsed[1]: there} if there else {}  # a gravestone is no memory
    listed = memory.list_memories(world.services(), ALICE, "")
    assert {p: (r["sha256"], r["version"]) for p, r in listed.items()} == {
        p: (m.sha256, m.version) for p, m in files.items()
    }
    found = world.find("glass green tea say myself", limit=50)
    lines = [line.text for m in files.values() for line in m.lines]
    mine = [MINE for m in files.values() for _ in range(m.body.count(MINE))]
    assert sorted(found) == sorted([*lines, *mine])


@pytest.mark.parametrize("act", [add_a_line, replace_all, remove])
def test_the_index_agrees_with_the_files_in_the_end(act: Act) -> None:  # B-C10 B-C15
    for _, world in races(act):
        expect_index_like_files(world)
        assert world.head("new").completed == 1


def test_a_careful_writer_and_a_merge_lose_nothing() -> None:  # B-C10
    for at, world in races(add_a_line):
        body = memory.read(world.services(), ALICE, TEA).body
        assert [body.count(t) for t in (MINE, "from a glass", "I like green tea")] == [1, 1, 1], f"call {at}"


def test_a_file_that_is_replaced_keeps_what_was_merged_after_it() -> None:  # B-C10
    for at, world in races(replace_all):
        body = memory.read(world.services(), ALICE, TEA).body
        assert body.count(MINE) == 1, f"call {at}"


def test_a_file_that_is_deleted_comes_back_with_what_is_new_only() -> None:  # B-C10
    for at, world in races(remove):
        there = read_file(world.services(), ALICE, TEA)
        lines = [line.text for line in there.lines] if there else []
        assert lines in ([], ["I like green tea"]), f"call {at}"


@pytest.mark.parametrize("act", [add_a_line, replace_all, remove])
def test_a_merge_that_comes_in_between_at_any_call_of_the_user(act: Act) -> None:  # B-C10
    for at in range(40):
        world = World()
        begun(world)
        world.next(at, world.merge_next)
        act(world)
        if world.calls.trip is not None:
            return
        expect_index_like_files(world)
    raise AssertionError("so many calls")


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("error", [Killed, Ambiguous])
@pytest.mark.parametrize("act", [add_a_line, replace_all, remove])
def test_a_user_whose_request_died_repeats_it(act: Act, error: type[BaseException], before: bool) -> None:
    def fail() -> None:
        raise error

    for at in range(30):
        world = World()
        world.remember("old", "tea: from a glass")
        world.next(at, fail, before=before)
        with suppress(Killed, Exception):
            act(world)
        fired = world.calls.trip is None
        world.mend()
        with suppress(NotFound):
            act(world)
        expect_index_like_files(world)
        if not fired:
            return
    raise AssertionError("so many calls")


def test_a_stale_hash_is_refused_with_the_current_one(world: World) -> None:  # B-C10
    world.remember("old", "tea: from a glass")
    stale = memory.read(world.services(), ALICE, TEA).sha256
    current = put(world, "# Tea\n\nnew\n").sha256
    writes = world.writes(ALICE.memory(TEA))

    with pytest.raises(FailedPrecondition) as refused:
        put(world, "# Tea\n\nnewer\n", stale)

    assert refused.value.details == {"sha256": current}
    assert world.writes(ALICE.memory(TEA)) == writes


def test_an_expired_memory_is_gone_from_search_list_and_read_at_once(world: World) -> None:  # B-C15
    world.remember("old", "tea: from a glass", "sport: I row")
    services = world.services()

    def expire(memory: Memory | None) -> Change[Memory, None]:
        from dataclasses import replace

        assert memory is not None
        return Change(replace(memory, expires_at="2026-01-01T00:01:00.000Z", edits=1), None)

    base = services.indexes.read(ALICE.index("memories"))
    services.memories.update(ALICE.memory(TEA), expire)
    reindex(services, ALICE, [TEA], base=base, known={})
    assert world.find("glass") == ["from a glass"]

    world.clock.advance(60)

    assert world.find("glass row", limit=50) == ["I row"]
    assert list(memory.list_memories(world.services(), ALICE, "")) == ["preferences/sport.md"]
    with pytest.raises(NotFound):
        memory.read(world.services(), ALICE, TEA)


def test_a_deleted_memory_is_gone_from_search_at_once(world: World) -> None:  # B-C15
    world.remember("old", "tea: from a glass", "sport: I row")
    warm = world.services()
    memory.list_memories(warm, ALICE, "")
    remove(world)
    assert world.find("glass row", limit=50) == ["I row"]
    assert list(memory.list_memories(warm, ALICE, "")) == ["preferences/sport.md"]
