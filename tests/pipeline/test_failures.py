"""What happens when there is no extraction to be had, and how an archive comes out of it."""

import pytest

from strandline.domain.errors import ExtractionFailed, FailedPrecondition, NotFound
from strandline.pipeline import archive, task
from strandline.pipeline.commit import Committed
from strandline.pipeline.context import run_context
from tests.pipeline.models import Refusing
from tests.pipeline.world import ALICE, BOB, World

PROSE = "the answer is prose: 'Sure, I can help with that'"


def committed(world: World) -> Committed:
    world.append("s", "tea: I like green tea", "sport: I row")
    done = world.commit("s")
    assert isinstance(done, Committed)
    return done


def until_given_up(world: World) -> int:
    """Delivers the request until it is taken off the queue; answers how often."""
    for attempt in range(1, 20):
        try:
            world.extract_next()
        except ExtractionFailed:
            continue
        return attempt
    raise AssertionError("never given up")


def failed(world: World) -> Committed:
    done = committed(world)
    until_given_up(world)
    return done


@pytest.mark.parametrize(("final", "attempts"), [(False, 5), (True, 1)])
def test_an_extraction_that_fails_for_good_fails_the_task_and_the_archive(final: bool, attempts: int) -> None:
    # B-B15
    world = World(model=Refusing(times=99, final=final))
    done = committed(world)

    assert until_given_up(world) == attempts

    found = task.get(world.services(), ALICE, done.task_id)
    assert (found["status"], found["error"], found["stage"]) == ("failed", PROSE, "extract")
    head = world.head("s")
    assert [(a.number, a.reason) for a in head.failed] == [(1, PROSE)]
    assert (head.pending, head.completed, head.latest_done) == ((), 0, 0)
    assert archive.read(world.services(), ALICE, "s", "archive_001")["status"] == "failed"
    assert world.find("tea") == []


def test_the_text_of_a_failed_archive_stays_in_the_context() -> None:  # B-B15 B-D1
    world = World(model=Refusing(times=99))
    failed(world)
    world.append("s", "live", ids="n")

    context = run_context(world.services(), ALICE, "s")

    assert [m["content"] for m in context.messages] == ["tea: I like green tea", "sport: I row", "live"]
    assert (context.total_archives, context.failed_archives, context.overview) == (1, 1, "")


def test_the_next_commit_is_accepted_and_completes() -> None:  # B-B15
    world = World(model=Refusing(times=5))
    failed(world)

    world.remember("s", "music: I play the oboe", ids="n")

    head = world.head("s")
    assert ([a.number for a in head.failed], head.completed, head.latest_done) == ([1], 1, 2)
    assert world.find("oboe") == ["I play the oboe"]
    context = run_context(world.services(), ALICE, "s")
    shown = [m["content"] for m in context.messages]  # behind what is not done, everything is visible
    assert (context.overview, shown) == (
        "",
        ["tea: I like green tea", "sport: I row", "music: I play the oboe"],
    )


def test_a_retry_completes_the_task() -> None:  # B-B15
    world = World(model=Refusing(times=5))
    done = failed(world)

    shown = task.retry(world.services(), ALICE, done.task_id)
    assert (shown["status"], shown["error"]) == ("pending", None)
    world.settle()

    assert task.get(world.services(), ALICE, done.task_id)["status"] == "completed"
    assert world.find("green tea") == ["I like green tea"]
    head = world.head("s")
    assert (head.pending, head.failed, head.completed) == ((), (), 1)
    assert run_context(world.services(), ALICE, "s").messages == []
    assert (
        len(world.stored("done.json")) == len(world.stored("failed.json")) == 1
    )  # archives keep what they have


def test_a_retry_that_fails_again_can_be_retried_again() -> None:  # B-B15
    world = World(model=Refusing(times=10))
    done = failed(world)
    task.retry(world.services(), ALICE, done.task_id)
    until_given_up(world)
    assert task.get(world.services(), ALICE, done.task_id)["status"] == "failed"

    task.retry(world.services(), ALICE, done.task_id)
    world.settle()

    assert task.get(world.services(), ALICE, done.task_id)["status"] == "completed"


def test_two_retries_at_once_extract_once() -> None:  # B-B15 B-B16
    model = Refusing(times=5)
    world = World(model=model)
    done = failed(world)
    task.retry(world.services(), ALICE, done.task_id)

    with pytest.raises(FailedPrecondition):
        task.retry(world.services(), ALICE, done.task_id)
    world.settle()

    assert model.echo.asked == 1


def test_only_a_failed_task_is_retried(world: World) -> None:  # B-B15
    done = committed(world)
    with pytest.raises(FailedPrecondition):
        task.retry(world.services(), ALICE, done.task_id)
    world.settle()
    with pytest.raises(FailedPrecondition):
        task.retry(world.services(), ALICE, done.task_id)


def test_nobody_retries_for_another_user() -> None:  # B-A14
    world = World(model=Refusing(times=5))
    done = failed(world)
    with pytest.raises(NotFound):
        task.retry(world.services(), BOB, done.task_id)
    assert len(world.extract_queue) == 0


def test_a_long_reason_is_cut(world: World) -> None:
    world.model = Refusing(times=99, final=True, reason="x" * 5_000)
    done = failed(world)
    assert task.get(world.services(), ALICE, done.task_id)["error"] == "x" * 500


def vanish(world: World) -> Committed:
    """The archive's messages are gone from the bucket before they were extracted."""
    done = committed(world)
    (key,) = world.stored("/messages.")
    world.objects.delete(key)
    return done


def test_an_archive_that_vanished_fails_at_once_with_its_reason(world: World) -> None:  # B-B15
    done = vanish(world)

    assert until_given_up(world) == 1

    found = task.get(world.services(), ALICE, done.task_id)
    assert (found["status"], found["error"]) == ("failed", "the archive's messages are not in the bucket")


def test_after_a_vanished_archive_the_session_goes_on(world: World) -> None:  # B-B15
    vanish(world)
    until_given_up(world)

    world.remember("s", "music: I play the oboe", ids="n")

    assert world.head("s").latest_done == 2
    assert world.find("oboe") == ["I play the oboe"]


def test_the_context_with_a_vanished_archive_shows_what_is_there(world: World) -> None:  # B-B15
    vanish(world)
    until_given_up(world)
    world.append("s", "live", ids="n")

    context = run_context(world.services(), ALICE, "s")

    assert [m["content"] for m in context.messages] == ["live"]
    assert context.failed_archives == 1


def test_a_message_search_with_a_vanished_archive_finds_what_is_there(world: World) -> None:  # B-B15
    vanish(world)
    until_given_up(world)
    world.append("s", "still here", ids="n")
    assert world.find("still", context_type="message", session_id="s") == ["still here"]


def test_the_log_around_a_vanished_archive(world: World) -> None:  # B-B15
    for n in range(3):
        world.remember("s", f"text {n}", ids=f"m{n}-")
    world.objects.delete(world.stored("/archives/000000000002/messages.")[0])

    log = archive.log(world.services(), ALICE, "s", archive.Window(limit=10))

    assert [m["content"] for m in log] == ["text 0", "text 2"]


def test_a_vanished_archive_is_not_found(world: World) -> None:  # B-B15
    vanish(world)
    with pytest.raises(NotFound):
        archive.read(world.services(), ALICE, "s", "archive_001")
