"""The session list shows every session once, whatever happens at the same time."""

from collections.abc import Callable
from contextlib import suppress

import pytest

from strandline.domain.errors import AlreadyExists
from strandline.pipeline import session
from tests.pipeline.world import ALICE, World


def listed(world: World, limit: int = 100, *, newest_first: bool = True) -> list[list[str]]:
    """The pages, as a client goes through them."""
    pages: list[list[str]] = []
    after: str | None = None
    while True:
        page = session.page(world.services(), ALICE, after=after, limit=limit, newest_first=newest_first)
        pages.append([item["session_id"] for item in page.items])
        after = page.next
        if after is None:
            return pages


@pytest.mark.parametrize("newest_first", [True, False])
@pytest.mark.parametrize("apart", [0, 1])
def test_250_sessions_in_pages_of_100(newest_first: bool, apart: int) -> None:  # B-A16
    world = World()
    for n in range(250):
        world.create(f"s{n:03d}")
        world.clock.advance(apart)

    pages = listed(world, newest_first=newest_first)

    assert [len(page) for page in pages] == [100, 100, 50]
    names = [f"s{n:03d}" for n in range(250)]
    assert [name for page in pages for name in page] == (names[::-1] if newest_first else names)


@pytest.mark.parametrize("newest_first", [True, False])
def test_no_session_comes_twice_while_others_are_created_and_deleted(newest_first: bool) -> None:  # B-A16
    world = World()
    for n in range(25):
        world.create(f"s{n:02d}")
        world.clock.advance(1)
    seen: list[str] = []
    after: str | None = None
    while True:
        page = session.page(world.services(), ALICE, after=after, limit=4, newest_first=newest_first)
        seen += [item["session_id"] for item in page.items]
        after = page.next
        if after is None:
            break
        if len(seen) < 40:
            world.create(f"late{len(seen):02d}")
        with suppress(Exception):
            session.delete(world.services(), ALICE, seen[-1])
        world.clock.advance(1)

    assert len(seen) == len(set(seen))
    assert {f"s{n:02d}" for n in range(25)} <= set(seen)


def test_a_session_shows_its_commits_in_the_list(world: World) -> None:
    world.remember("s", "tea: green")
    (item,) = session.page(world.services(), ALICE, after=None, limit=10).items
    assert item["commit_count"] == 1


def create(world: World) -> None:
    with suppress(AlreadyExists):
        world.create("s")


def append(world: World) -> None:
    world.append("s", "hello")


@pytest.mark.parametrize("apart", [0, 1])
@pytest.mark.parametrize("first", [create, append])
@pytest.mark.parametrize("second", [create, append])
def test_of_two_that_create_a_session_at_once_one_line_is_left(
    first: Callable[[World], None], second: Callable[[World], None], apart: int
) -> None:  # B-A1 B-A16
    """The second comes at every call of the first; both began `apart` seconds from each other."""
    for at in range(20):
        world = World()

        def intrude(world: World = world) -> None:
            world.clock.advance(apart)
            second(world)

        world.next(at, intrude)
        first(world)
        if world.calls.trip is not None:
            return
        assert listed(world) == [["s"]], f"call {at}"
    raise AssertionError("so many calls")


def test_a_refused_create_leaves_the_list_alone(world: World) -> None:  # B-A1
    world.create("s")
    with pytest.raises(AlreadyExists):
        world.create("s")
    assert listed(world) == [["s"]]
