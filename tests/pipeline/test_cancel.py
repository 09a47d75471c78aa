"""A commit that is called off while it goes through extract and merge, with a kill anywhere."""

from collections.abc import Callable
from contextlib import suppress

import pytest

from strandline.domain.errors import FailedPrecondition, StrandlineError
from strandline.pipeline import task
from strandline.pipeline.commit import Committed
from tests.pipeline.test_failures import committed
from tests.pipeline.trips import Killed
from tests.pipeline.world import ALICE, World

Step = Callable[[World], None]
CALLS = 7


def nothing(world: World) -> None:
    pass


def extract(world: World) -> None:
    world.extract_next()


def cancel(world: World, done: Committed) -> None:
    task.cancel(world.services(), ALICE, done.task_id)


def expect_cancelled(world: World, done: Committed) -> None:
    assert world.find("tea") == []
    assert world.stored("/memories/") == []
    head = world.head("s")
    assert ([a.number for a in head.failed], head.pending, head.completed) == ([1], (), 0)
    assert task.get(world.services(), ALICE, done.task_id)["status"] == "cancelled"
    assert world.log("s") == [(1, "tea: I like green tea"), (2, "sport: I row")]


@pytest.mark.parametrize("before", [nothing, extract], ids=["before extract", "before merge"])
def test_what_is_cancelled_is_not_remembered(world: World, before: Step) -> None:  # B-B18
    done = committed(world)
    before(world)

    cancel(world, done)
    world.settle()
    world.heal()

    expect_cancelled(world, done)


def test_a_cancel_that_comes_too_late_says_so(world: World) -> None:  # B-B18
    """The merge ends between the cancel's look at the task and its own write."""
    done = committed(world)
    world.extract_next()
    world.next(2, world.settle)
    with pytest.raises(FailedPrecondition, match="completed"):
        cancel(world, done)
    assert task.get(world.services(), ALICE, done.task_id)["status"] == "completed"


def test_how_many_calls_a_cancel_makes(world: World) -> None:
    done = committed(world)
    before = len(world.calls.names)
    cancel(world, done)
    assert len(world.calls.names) - before == CALLS


@pytest.mark.parametrize("died", [True, False], ids=["killed before", "killed after"])
@pytest.mark.parametrize("at", range(CALLS))
@pytest.mark.parametrize("before", [nothing, extract], ids=["before extract", "before merge"])
def test_a_cancel_that_died_is_whole_or_did_not_happen(
    world: World, before: Step, at: int, died: bool
) -> None:  # B-B17 B-B18
    done = committed(world)
    before(world)
    world.kill(at, before=died)
    with suppress(Killed):
        cancel(world, done)
    world.mend()

    world.settle()
    world.heal()

    if world.head("s").completed:
        assert world.find("tea") == ["I like green tea"]
        assert task.get(world.services(), ALICE, done.task_id)["status"] == "completed"
    else:
        expect_cancelled(world, done)


@pytest.mark.parametrize("at", range(14))
def test_a_cancel_in_the_middle_of_a_merge(world: World, at: int) -> None:  # B-B17 B-B18
    """Either the merge sees it and nothing is remembered, or everything is."""
    done = committed(world)
    world.extract_next()

    def call_off() -> None:
        with suppress(StrandlineError):
            cancel(world, done)

    world.next(at, call_off)
    world.settle()
    world.mend()
    world.heal()

    found = task.get(world.services(), ALICE, done.task_id)["status"]
    assert (found, world.find("tea"), world.head("s").completed) in (
        ("cancelled", [], 0),
        ("completed", ["I like green tea"], 1),
    )
