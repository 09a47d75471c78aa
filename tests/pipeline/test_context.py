"""POST context: what fits, decided once, and made shorter ahead of time."""

import json
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from strandline.domain.errors import ContextBlocked, ExtractionFailed, NotFound
from strandline.pipeline import task
from strandline.pipeline.prompt import Prompt
from strandline.storage.layout import Life
from strandline.storage.log import ref
from tests.pipeline.context_talk import ask, everything, say, seqs, talk, words
from tests.pipeline.models import Refusing
from tests.pipeline.trips import Killed
from tests.pipeline.world import ALICE, World, counted


@pytest.fixture
def world() -> World:
    return World()


def state_of(world: World) -> Any:
    (body,) = world.bodies("/context.json").values()
    return json.loads(body)


def full(world: World, texts: int = 9, each: int = 15) -> None:
    """Nine messages of 15 + 4 tokens: 171 of a window of 200, at the warning threshold."""
    talk(world, [words(each, f"t{n}x") for n in range(texts)])


def shown(made: Prompt) -> tuple[Any, ...]:
    """Everything that a model is given."""
    return list(made.assembled.messages), made.beside.summary, made.beside.memories.text, made.left


def test_a_short_session_is_shown_whole_and_nothing_is_asked_for(world: World) -> None:
    talk(world, ["hello there", "hi"])
    made = ask(world)
    assert seqs(made) == [1, 2]
    assert (made.assembled.tokens, made.assembled.estimate.tokens, made.status) == (11, 11, "none")
    assert not len(world.commit_queue)


def test_no_session_no_context(world: World) -> None:
    with pytest.raises(NotFound):
        ask(world)


def test_at_the_warning_threshold_a_compaction_is_queued_and_later_it_is_there(world: World) -> None:
    full(world)
    made = ask(world)
    assert (made.assembled.pressure, made.status) == ("warning", "scheduled")
    assert seqs(made) == list(range(1, 10))
    assert len(world.commit_queue) == 1
    world.settle()
    after = ask(world)
    assert (after.covered_through, seqs(after), after.status) == (7, [8, 9], "none")
    assert "Messages 1 to 7." in after.beside.summary.splitlines()
    assert (after.state.generation, after.state.compaction) == (1, None)
    assert after.assembled.tokens < made.assembled.tokens  # D8: by the same estimate
    assert everything(after) == list(range(1, 10))


def test_below_the_threshold_none_is(world: World) -> None:
    full(world, each=14)  # 9 x 18 = 162
    assert ask(world).status == "none"


def test_twenty_callers_queue_one_compaction(world: World) -> None:
    full(world)
    made = [ask(world) for _ in range(20)]
    assert len(world.commit_queue) == 1
    assert {each.status for each in made} == {"scheduled"}
    assert all(shown(each) == shown(made[0]) for each in made)
    world.settle()
    assert world.head("s").commit_count == 1


def test_nothing_new_said_nothing_asked_nothing_written_the_same_again(world: World) -> None:  # D6
    full(world)
    first = ask(world)
    world.settle()
    asked = world.model.asked  # type: ignore[attr-defined]
    second, third = ask(world), ask(world)
    writes = world.writes(Life(ref(world.head("s"))).context)
    fourth = ask(world)
    assert shown(second) == shown(third) == shown(fourth)
    assert world.model.asked == asked  # type: ignore[attr-defined]
    assert world.writes(Life(ref(world.head("s"))).context) == writes
    assert shown(first) != shown(second)


def test_what_a_warm_call_costs_with_nothing_new(world: World) -> None:
    full(world)
    ask(world)
    world.settle()
    known = world.services()
    ask(world, by=known)
    before = world.objects.bytes["get"]
    _, calls = counted(world, lambda: ask(world, by=known))
    assert calls == {"objects.get": 2}  # the head and the state: neither has changed
    assert world.objects.bytes["get"] == before


def test_an_append_while_a_compaction_runs_is_there_once(world: World) -> None:  # D9
    full(world)
    ask(world)
    talk(world, ["said meanwhile"])
    world.commit_next()
    between = ask(world)
    assert everything(between) == list(range(1, 11))
    assert between.covered_through == 0 and 10 in seqs(between)
    world.settle()
    after = ask(world)
    assert (after.covered_through, seqs(after)) == (7, [8, 9, 10])


def test_the_archive_of_a_compaction_goes_up_to_where_it_was_asked(world: World) -> None:
    """Whatever came since, and whatever the session's policy says."""
    full(world)
    ask(world)
    talk(world, ["one", "two", "three"])
    world.settle()
    assert world.head("s").live_from == 8


def test_a_compaction_that_comes_twice_makes_one_archive(world: World) -> None:
    full(world)
    ask(world)
    (delivery,) = world.commit_queue.receive(1)
    world.commit_queue.back(delivery)
    world.settle()
    world.commit_queue.send(delivery.message)
    world.settle()
    assert world.head("s").commit_count == 1
    assert ask(world).state.compaction is None


# ---- failures


def failing(world: World, times: int = 99) -> Refusing:
    world.model = Refusing(times)
    return world.model


def attempt(world: World) -> bool:
    """One delivery to the extract function; False when there was none."""
    if not len(world.extract_queue):
        return False
    with suppress(ExtractionFailed):
        world.extract_next()
    return True


def attempts(world: World) -> int:
    return sum(1 for _ in iter(lambda: attempt(world), False))


def broken(world: World) -> Refusing:
    """The context is at its limit, and three attempts at making it shorter have failed."""
    model = failing(world)
    full(world)
    ask(world)
    talk(world, [words(16, "more")])  # 191
    world.commit_next()
    assert attempts(world) == 3
    return model


def test_three_failures_at_the_limit_block_the_context(world: World) -> None:  # D7
    model = broken(world)
    with pytest.raises(ContextBlocked) as refusal:
        ask(world)
    assert model.refused == 3
    assert refusal.value.details["last_error"] == model.reason
    assert (refusal.value.details["failures"], refusal.value.retry_after) == (3, 60)
    assert len(world.extract_queue) == len(world.commit_queue) == 0


def test_the_breaker_outlives_the_table(world: World) -> None:  # D7
    broken(world)
    for row in list(world.items.rows()):
        world.items.delete(row["pk"], row["sk"])
    with pytest.raises(ContextBlocked):
        ask(world)
    world.clock.advance(61)
    world.model = type(world.model)(0)
    with pytest.raises(ContextBlocked):
        ask(world)  # which makes the trial
    world.settle()
    assert ask(world).covered_through == 7


def test_below_the_limit_it_is_served_and_no_model_is_asked_until_half_open(world: World) -> None:  # D7
    model = broken(world)
    made = ask(world, window=220)  # 191 of 220: over the warning of 187
    assert (made.assembled.pressure, made.degraded, made.status) == ("warning", True, "open")
    assert everything(made) == list(range(1, 11))
    world.clock.advance(59)
    assert ask(world, window=220).status == "open"
    assert attempts(world) == 0 and model.refused == 3


def test_when_half_open_one_trial_is_made_whoever_asks(world: World) -> None:  # D7
    model = broken(world)
    world.clock.advance(60)
    for _ in range(3):
        with pytest.raises(ContextBlocked) as refusal:
            ask(world)
    assert refusal.value.retry_after == 10  # by then it is known how it went
    assert len(world.extract_queue) == 1
    assert attempts(world) == 1 and model.refused == 4
    with pytest.raises(ContextBlocked) as refusal:
        ask(world)
    assert (refusal.value.details["failures"], refusal.value.retry_after) == (4, 60)


def test_a_trial_that_succeeds_closes_it(world: World) -> None:  # D7
    broken(world)
    world.clock.advance(60)
    failing(world, 0)
    with pytest.raises(ContextBlocked):
        ask(world)
    world.settle()
    after = ask(world)
    assert (after.covered_through, after.status, after.degraded) == (7, "none", False)
    assert (after.state.failures, after.state.last_error, after.state.retry_at) == (0, None, None)


def test_two_failures_and_a_success_open_nothing(world: World) -> None:  # D7
    failing(world, 2)
    full(world)
    ask(world)
    world.commit_next()
    assert attempts(world) == 3
    assert state_of(world)["failures"] == 2
    world.settle()
    assert ask(world).state.failures == 0


def test_a_failure_with_no_compaction_under_way_counts_nothing(world: World) -> None:
    failing(world)
    talk(world, ["a", "b"])
    ask(world)
    world.commit("s")
    assert attempts(world) == 5
    made = ask(world)
    assert (made.state.failures, made.degraded, seqs(made)) == (0, False, [1, 2])


@pytest.mark.parametrize("lost", ["commit", "extract"])
def test_a_worker_that_died_is_replaced(world: World, lost: str) -> None:  # D7
    """Its message is lost for good; the sweep sends another."""
    full(world)
    ask(world)
    if lost == "extract":
        world.commit_next()
    queue = world.commit_queue if lost == "commit" else world.extract_queue
    (delivery,) = queue.receive(1)
    queue.done(delivery)
    world.heal()
    made = ask(world)
    assert (made.covered_through, made.status, world.head("s").commit_count) == (7, "none", 1)


def test_a_compaction_of_which_nothing_is_left_is_asked_for_again(world: World) -> None:  # D7
    full(world)
    ask(world)
    (delivery,) = world.commit_queue.receive(1)
    world.commit_queue.done(delivery)
    for row in list(world.items.rows()):  # no marker, no lease, no task
        world.items.delete(row["pk"], row["sk"])
    world.clock.advance(1019)
    assert ask(world).status == "scheduled" and not len(world.commit_queue)
    world.clock.advance(1)
    assert ask(world).status == "scheduled" and len(world.commit_queue) == 1
    world.settle()
    assert ask(world).covered_through == 7


def test_a_cancelled_archive_is_not_extracted_against_its_owners_wish(world: World) -> None:
    full(world)
    asked = ask(world).state.compaction
    assert asked is not None
    world.commit_next()
    task.cancel(world.services(), ALICE, asked.task_id)
    world.settle()
    made = ask(world)
    assert (made.state.failures, made.degraded, made.covered_through) == (0, False, 0)
    assert not len(world.extract_queue)


@pytest.mark.parametrize("point", range(14))
@pytest.mark.parametrize("before", [True, False])
def test_a_call_that_died_leaves_nothing_that_the_next_does_not_mend(
    world: World, point: int, before: bool
) -> None:
    full(world)
    world.kill(point, before=before)
    with suppress(Killed):
        ask(world)
    world.mend()
    world.clock.advance(121)  # the lease of the dead is over
    ask(world)
    world.clock.advance(900)
    ask(world)
    world.settle()
    world.heal()
    made = ask(world)
    assert (made.covered_through, made.status, world.head("s").commit_count) == (7, "none", 1)
    assert everything(made) == list(range(1, 10))


def test_deleting_the_session_takes_its_context_along(world: World) -> None:
    full(world)
    ask(world)
    assert world.stored("context.json")
    world.delete("s")
    world.settle()
    assert not world.stored("/sessions/s/") or all("head.json" in key for key in world.stored("/sessions/s/"))


def test_the_newest_user_message_is_pinned_when_the_summary_covers_it(world: World) -> None:
    talk(world, ["the order of the day", "as you like"])
    for n in range(12):
        say(world, {"role": "assistant", "content": words(11, f"step{n}x")})
    ask(world)
    world.settle()
    made = ask(world)
    assert (made.covered_through, seqs(made)) == (12, [1, 13, 14])
    assert made.assembled.messages[0]["content"] == "the order of the day"
    again, calls = counted(world, lambda: ask(world))
    assert shown(again) == shown(made)
    assert calls == {"objects.get": 4}  # head, state, summary, and the archive with the message
    assert replace(again.state) == made.state
