"""The table and the indexes are lost; what is derived is made again from the bucket."""

from collections.abc import Sequence

import pytest

from strandline.pipeline import memory, session, task
from strandline.pipeline.commit import Committed
from strandline.pipeline.restore import run_restore
from tests.pipeline.faults import FAULTS, going_on
from tests.pipeline.world import ALICE, BOB, World

MINE = "# Mine\n\nI play the oboe\n"


@pytest.fixture
def world() -> World:
    """Two users: merged, pending, live and deleted sessions, and a memory written by hand."""
    world = World()
    world.remember("done", "tea: I like green tea")
    world.remember("gone", "rain: I like rain", ids="g")
    session.delete(world.services(), ALICE, "gone")
    world.remember("his", "sport: I row", owner=BOB)
    memory.write(world.services(), ALICE, "notes/mine.md", MINE, memory.matching(None, absent=False))
    world.append("waiting", "wool: I knit", ids="w")
    assert isinstance(world.commit("waiting"), Committed)
    world.append("live", "said and not committed", ids="l")
    lose(world)
    return world


def lose(world: World) -> None:
    """The table, the queues and the indexes."""
    for row in world.items.rows():
        world.items.delete(row["pk"], row["sk"])
    for queue in (world.extract_queue, world.merge_queue):
        for delivery in queue.receive(10):
            queue.done(delivery)
    for key in world.stored(".idx"):
        world.objects.delete(key)


def listed(world: World) -> Sequence[str]:
    page = session.page(world.services(), ALICE, after=None, limit=100)
    return sorted(item["session_id"] for item in page.items)


def expect_everything(world: World) -> None:
    world.heal()
    assert listed(world) == ["done", "live", "waiting"]
    assert world.find("tea") == ["I like green tea"]
    assert world.find("oboe") == ["I play the oboe"]
    assert world.find("knit") == ["I knit"]
    assert world.find("green", context_type="message") == ["tea: I like green tea"]
    assert world.find("knit", context_type="message") == ["wool: I knit"]
    assert world.find("row", owner=BOB) == ["I row"]
    assert world.find("tea", owner=BOB) == []
    assert world.head("waiting").completed == 1
    assert world.find("rain", context_type="message") == []


def test_what_is_derived_is_made_again(world: World) -> None:
    found = run_restore(world.services())
    assert found == {"users": 2, "sessions": 4, "pending": 1, "deleted": 1, "indexes": 4}
    expect_everything(world)
    (waiting,) = task.page(world.services(), ALICE, {}, after=None, limit=9).items
    assert (waiting["resource_id"], waiting["status"]) == ("waiting", "completed")


def test_again_changes_nothing(world: World) -> None:
    run_restore(world.services())
    expect_everything(world)
    indexes = world.bodies(".idx")
    assert run_restore(world.services())["indexes"] == 0
    assert world.bodies(".idx") == indexes
    expect_everything(world)


def test_one_user_alone(world: World) -> None:
    assert run_restore(world.services(), BOB.prefix)["users"] == 1
    assert world.find("row", owner=BOB) == ["I row"]
    assert listed(world) == []


def test_an_empty_bucket() -> None:
    counts = run_restore(World().services())
    assert counts == {"users": 0, "sessions": 0, "pending": 0, "deleted": 0, "indexes": 0}


@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("at", range(0, 42, 3))
def test_a_restore_that_died_is_run_again(world: World, at: int, kind: str) -> None:  # B-B17
    FAULTS[kind](world, at)
    with going_on():
        run_restore(world.services())
    world.mend()
    run_restore(world.services())
    expect_everything(world)
