"""Requests that are lost, come late or come again, and what the sweep makes of them."""

from collections.abc import Callable

import pytest

from strandline.domain.contracts import ExtractRequested
from strandline.domain.errors import NotFound
from strandline.pipeline import outcome, task
from strandline.pipeline.services import Rules
from strandline.pipeline.sweep import run_sweep
from tests.pipeline.models import Refusing
from tests.pipeline.test_failures import committed, failed
from tests.pipeline.world import ALICE, HEAL_SECONDS, World


def lose(world: World) -> None:
    for queue in (world.extract_queue, world.merge_queue):
        for delivery in queue.receive(10):
            queue.done(delivery)


def extract(world: World) -> None:
    world.extract_next()


@pytest.mark.parametrize("first", [lambda world: None, extract], ids=["extract", "merge"])
def test_a_request_that_was_lost_is_sent_again(world: World, first: Callable[[World], None]) -> None:
    committed(world)
    first(world)
    lose(world)

    world.heal()

    assert world.head("s").completed == 1
    assert world.find("green tea") == ["I like green tea"]
    assert world.rows("DUE#") == []


def test_before_its_time_the_sweep_leaves_an_archive_alone(world: World) -> None:
    committed(world)
    lose(world)
    world.clock.advance(HEAL_SECONDS - 1)
    run_sweep(world.services())
    assert len(world.extract_queue) == 0


def test_an_archive_that_never_gets_through_fails_in_the_end_and_can_be_retried(
    world: World,
) -> None:  # B-B15
    done = committed(world)
    for _ in range(10):
        lose(world)
        world.clock.advance(HEAL_SECONDS + 1)
        run_sweep(world.services())

    found = task.get(world.services(), ALICE, done.task_id)
    assert (found["status"], found["error"]) == ("failed", "no progress after repeated attempts")
    assert world.rows("DUE#") == []

    task.retry(world.services(), ALICE, done.task_id)
    world.settle()
    assert task.get(world.services(), ALICE, done.task_id)["status"] == "completed"


def test_a_late_success_wins_over_a_failure(world: World) -> None:  # B-B15
    """The archive was given up while its merge was still on the way."""
    done = committed(world)
    request = world.extract_queue.sent[0]
    assert isinstance(request, ExtractRequested)
    world.extract_next()
    outcome.fail(world.services(), request, "sweep", "no progress")

    world.settle()

    head = world.head("s")
    assert (head.failed, head.pending, head.completed) == ((), (), 1)
    assert task.get(world.services(), ALICE, done.task_id)["status"] == "completed"


def test_a_late_failure_changes_nothing(world: World) -> None:  # B-B15
    done = committed(world)
    request = world.extract_queue.sent[0]
    assert isinstance(request, ExtractRequested)
    world.settle()

    outcome.fail(world.services(), request, "sweep", "no progress")

    head = world.head("s")
    assert (head.failed, head.completed) == ((), 1)
    assert task.get(world.services(), ALICE, done.task_id)["status"] == "completed"


@pytest.mark.parametrize("times", [1, 3])
def test_a_request_delivered_again_after_completion_changes_nothing(
    world: World, times: int
) -> None:  # B-B16
    done = committed(world)
    world.settle()
    before = {key: (world.writes(key), world.body(key)) for key in world.stored()}
    head = world.head("s")
    shown = task.get(world.services(), ALICE, done.task_id)
    for _ in range(times):
        world.extract_queue.send(world.extract_queue.sent[0])
        world.merge_queue.send(world.merge_queue.sent[0])
    world.clock.advance(60)

    world.settle()

    assert {key: (world.writes(key), world.body(key)) for key in world.stored()} == before
    assert world.head("s") == head
    assert world.model.asked == 1  # type: ignore[attr-defined]
    again = task.get(world.services(), ALICE, done.task_id)
    assert {k: v for k, v in again.items() if k not in ("updated_at", "expires_at", "ended_at")} == {
        k: v for k, v in shown.items() if k not in ("updated_at", "expires_at", "ended_at")
    }


def test_a_task_is_gone_after_its_time(world: World) -> None:
    done = committed(world)
    world.settle()
    world.clock.advance(24 * 3600 - 1)
    assert task.get(world.services(), ALICE, done.task_id)["status"] == "completed"
    world.clock.advance(2)
    with pytest.raises(NotFound):
        task.get(world.services(), ALICE, done.task_id)


def test_a_failed_task_is_kept_a_week() -> None:
    world = World(Rules(heal_seconds=HEAL_SECONDS), model=Refusing(times=99, final=True))
    done = failed(world)
    world.clock.advance(7 * 24 * 3600 - 1)
    assert task.get(world.services(), ALICE, done.task_id)["status"] == "failed"
    world.clock.advance(2)
    with pytest.raises(NotFound):
        task.get(world.services(), ALICE, done.task_id)
