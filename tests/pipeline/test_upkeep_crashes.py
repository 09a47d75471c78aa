"""A delete, a sweep or a retry dies at every single call; what it had begun is finished all the same."""

from collections.abc import Iterator

import pytest

from strandline.domain.contracts import ExtractRequested
from strandline.pipeline import outcome, session, task
from strandline.pipeline.sweep import run_sweep
from tests.pipeline.faults import FAULTS, going_on
from tests.pipeline.way import TEXTS, append, expect_all_ended, texts
from tests.pipeline.world import ALICE, DAY, HEAL_SECONDS, World


@pytest.mark.parametrize("kind", FAULTS)
def test_a_delete_that_dies_is_finished_by_the_sweep(kind: str) -> None:  # B-A15
    for world in dying_deletes(kind):
        world.heal()
        world.clock.advance(2 * DAY)
        world.heal()
        assert world.stored("/sessions/s/") == []
        assert world.rows("TASKS#") == world.rows("DUE#") == []
        assert world.find("tea sundays memory", limit=50, context_type="message") == []


def test_a_session_whose_delete_died_leaves_the_session_list() -> None:  # B-A15
    for world in dying_deletes("killed after"):
        with going_on():
            session.delete(world.services(), ALICE, "s")
        world.heal()
        assert world.rows("SESSIONS#") == []


def dying_deletes(kind: str) -> Iterator[World]:
    """Worlds in which a delete has died at one of its calls, after it had become true."""
    for at in range(40):
        world = World()
        world.remember("s", *TEXTS)
        world.append("s", "live", ids="live")
        FAULTS[kind](world, at)
        with going_on():
            session.delete(world.services(), ALICE, "s")
        if world.calls.trip is not None:
            return
        if world.head("s").buried_at:
            yield world
    raise AssertionError("a delete of so many calls")


@pytest.mark.parametrize("kind", FAULTS)
def test_a_sweep_that_dies_forgets_nothing(kind: str) -> None:  # B-B17
    for at in range(30):
        world = World()
        append(world)
        world.commit("s")
        lose_requests(world)
        world.clock.advance(HEAL_SECONDS + 1)
        FAULTS[kind](world, at)
        with going_on():
            run_sweep(world.services())
        fired = world.calls.trip is None
        world.mend()
        lose_requests(world)
        world.heal(3)
        assert texts(world)["preferences/sport.md"] == ["I row on Sundays"], f"call {at}"
        expect_all_ended(world)
        if not fired:
            return
    raise AssertionError("a sweep of so many calls")


def lose_requests(world: World) -> None:
    """Whatever was sent for extraction never arrives."""
    for delivery in world.extract_queue.receive(10):
        world.extract_queue.done(delivery)


@pytest.mark.parametrize("kind", ["killed before", "killed after"])
def test_a_retry_of_a_failed_task_that_dies_can_be_repeated(kind: str) -> None:  # B-B15
    for at in range(20):
        world = World()
        append(world)
        world.commit("s")
        (delivery,) = world.extract_queue.receive(1)
        assert isinstance(delivery.message, ExtractRequested)
        outcome.fail(world.services(), delivery.message, "extract", "prose")
        world.extract_queue.done(delivery)
        FAULTS[kind](world, at)
        with going_on():
            task.retry(world.services(), ALICE, delivery.message.task_id)
        fired = world.calls.trip is None
        world.mend()
        world.heal(3)
        if world.head("s").failed:  # it died before anything happened
            task.retry(world.services(), ALICE, delivery.message.task_id)
            world.heal()
        expect_all_ended(world)
        assert {e["stage"] for e in world.journal() if e["type"] == "TaskFailed"} >= {"extract"}
        assert len(world.stored("done.json")) == 1, f"call {at}"
        if not fired:
            return
    raise AssertionError("a retry of so many calls")
