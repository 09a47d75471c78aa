"""A model edits a file by the memory tool while a merge is writing to it, and while the store falls silent."""

from collections.abc import Callable
from contextlib import suppress

import pytest

from strandline.domain.errors import StrandlineError
from strandline.domain.memory_tool import Refusal
from strandline.pipeline import memory
from strandline.pipeline.memory_tool import MemoryTool
from strandline.ports import Ambiguous
from tests.pipeline.test_memory_races import MINE, TEA, expect_index_like_files, races
from tests.pipeline.trips import Killed
from tests.pipeline.world import ALICE, World

PATH = f"/memories/{TEA}"
MOVED = "preferences/green.md"
GLASS, GREEN = "from a glass", "I like green tea"


def tool(world: World) -> MemoryTool:
    return MemoryTool(world.services(), ALICE)


def insert(world: World) -> None:
    tool(world).insert(PATH, 0, f"{MINE}\n")


def replace(world: World) -> None:
    tool(world).str_replace(PATH, f"- {GLASS}", MINE)


def rename(world: World) -> None:
    tool(world).rename(PATH, f"/memories/{MOVED}")


def lines_of(world: World) -> str:
    listed = memory.list_memories(world.services(), ALICE, "")
    return "\n".join(memory.read(world.services(), ALICE, path).body for path in listed)


@pytest.mark.parametrize(("act", "kept"), [(insert, GLASS), (replace, MINE), (rename, GLASS)])
def test_an_edit_during_a_merge_loses_nothing(act: Callable[[World], None], kept: str) -> None:  # B-C10
    for at, world in races(act):
        body = lines_of(world)
        assert [body.count(text) for text in (kept, GREEN)] == [1, 1], f"call {at}"
        assert body.count(MINE) == (0 if act is rename else 1), f"call {at}"
        expect_index_like_files(world)


@pytest.mark.parametrize("act", [insert, replace, rename])
def test_a_merge_during_an_edit_loses_nothing(act: Callable[[World], None]) -> None:  # B-C10
    for at in range(60):
        world = World()
        world.remember("old", "tea: from a glass")
        world.append("new", "tea: I like green tea")
        world.commit("new")
        world.extract_next()
        world.next(at, world.merge_next)
        act(world)
        if world.calls.trip is not None:
            return
        body = lines_of(world)
        assert body.count(GREEN) == 1, f"call {at}"
        assert body.count(MINE) == (0 if act is rename else 1), f"call {at}"
        expect_index_like_files(world)
    raise AssertionError("so many calls")


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("error", [Killed, Ambiguous])
@pytest.mark.parametrize("act", [replace, rename])
def test_an_edit_that_died_is_done_once_or_can_be_done(
    act: Callable[[World], None], error: type[BaseException], before: bool
) -> None:  # B-B17
    """The model that sends it again is told when it was done before; nothing is lost, nothing doubled."""

    def fail() -> None:
        raise error

    for at in range(60):
        world = World()
        world.remember("old", "tea: from a glass")
        world.next(at, fail, before=before)
        with suppress(Killed, StrandlineError):
            act(world)
        fired = world.calls.trip is None
        world.mend()
        with suppress(Refusal):
            act(world)
        world.heal()
        body = lines_of(world)
        assert body.count(MINE if act is replace else GLASS) >= 1, f"call {at}"
        if act is replace:
            assert body.count(MINE) == 1
            assert GLASS not in body
        expect_index_like_files(world)
        if not fired:
            return
    raise AssertionError("so many calls")


def test_an_insertion_whose_answer_was_lost_is_there_once(world: World) -> None:
    """The store falls silent after each call in turn; the tool finds out by itself."""

    def fail() -> None:
        raise Ambiguous

    for at in range(60):
        world = World()
        world.remember("old", "tea: from a glass")
        world.next(at, fail, before=False)
        failed = False
        try:
            insert(world)
        except StrandlineError:
            failed = True
        fired = world.calls.trip is None
        world.mend()
        assert lines_of(world).count(MINE) in ((0, 1) if failed else (1,)), f"call {at}"
        if not fired:
            return
    raise AssertionError("so many calls")
