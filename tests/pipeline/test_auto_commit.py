"""Sessions that are committed by their own policy: what asks for it, who does it, and what is made up for."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from strandline.domain.contracts import CommitRequested
from strandline.domain.errors import FailedPrecondition
from strandline.domain.session import Skip
from strandline.pipeline import task
from strandline.pipeline.auto_commit import run_auto_commit
from strandline.ports import Ambiguous
from strandline.storage.lease import LEASE
from strandline.storage.log import ref
from tests.pipeline.faults import FAULTS, run
from tests.pipeline.trips import Killed
from tests.pipeline.world import ALICE, HEAL_SECONDS, World, counted

POLICY = {"message_count_threshold": 3, "keep_recent_count": 1}
SECONDS = LEASE.total_seconds()


def policy(**fields: int) -> dict[str, Any]:
    quiet = {"pending_token_threshold": 0, "message_count_threshold": 0, "idle_timeout_seconds": 0}
    return {"min_commit_interval_seconds": 0, "keep_recent_count": 0} | quiet | fields


def begin(world: World, **fields: int) -> None:
    world.create("s", auto_commit_policy=policy(**(fields or POLICY)))


def say(world: World, *texts: str) -> str | None:
    """Appends messages with ids of their own; answers the task that this has set going."""
    return world.append("s", *texts, ids=f"{'-'.join(texts)}/").task_id


def test_a_write_over_a_threshold_sets_one_commit_going(world: World) -> None:  # B-B6
    begin(world)
    assert say(world, "tea: green", "b", "c") is None
    asked = say(world, "d")
    assert asked is not None
    assert task.get(world.services(), ALICE, asked)["status"] == "pending"

    world.settle()

    head = world.head("s")
    assert (head.commit_count, head.live_count) == (1, 1)
    assert [text for _, text in world.log("s")] == ["tea: green", "b", "c", "d"]
    done = task.get(world.services(), ALICE, asked)
    assert (done["status"], done["archive"]) == ("completed", 1)
    assert [row["task_id"] for row in world.rows("TASKS#")] == [asked]
    assert world.rows("LEASES#") == []


def test_a_write_that_wants_no_commit_costs_nothing_more(world: World) -> None:
    begin(world)
    known = world.services()
    world.append("s", "a", by=known, ids="1")
    _, calls = counted(world, lambda: world.append("s", "b", by=known, ids="2"))
    assert calls == {"objects.put": 1}


def test_a_burst_gives_one_commit(world: World) -> None:  # B-B7
    begin(world)
    with ThreadPoolExecutor(10) as pool:
        asked = list(pool.map(lambda n: say(world, f"text {n}"), range(10)))
    assert sum(one is not None for one in asked) == 1

    world.settle()

    assert world.head("s").commit_count == 1
    assert sorted(text for _, text in world.log("s")) == sorted(f"text {n}" for n in range(10))
    assert len(world.rows("TASKS#")) == 1


def test_the_commit_is_decided_again_when_it_is_done(world: World) -> None:
    begin(world)
    asked = say(world, "a", "b", "c", "d")
    world.commit("s", keep=1)
    world.settle()
    assert world.head("s").commit_count == 1
    ended = task.get(world.services(), ALICE, asked or "")
    assert (ended["status"], ended["result"]["reason"]) == ("completed", "not_due")


def test_a_request_that_comes_again_finds_the_archive_it_made(world: World) -> None:  # B-B16
    begin(world)
    say(world, "a", "b", "c", "d")
    (request,) = world.commit_queue.sent
    assert isinstance(request, CommitRequested)
    world.settle()
    say(world, "e", "f", "g")  # over it again
    again = run_auto_commit(world.services(), request)
    assert not isinstance(again, Skip) and again.archive.number == 1
    world.settle()
    assert world.head("s").commit_count == 2


def test_no_second_commit_within_the_pause(world: World) -> None:  # B-B10
    begin(world, message_count_threshold=1, min_commit_interval_seconds=100)
    assert say(world, "a", "b")
    world.settle()
    assert say(world, "c", "d") is None
    world.commit("s")
    assert world.head("s").commit_count == 2
    world.clock.advance(100)
    assert say(world, "e", "f")


def test_while_a_lease_is_held_nobody_else_asks(world: World) -> None:  # B-B13
    begin(world)
    assert say(world, "a", "b", "c", "d")
    world.clock.advance(SECONDS - 1)
    assert say(world, "e") is None
    world.clock.advance(2)  # the holder is dead, and the table has not removed its item
    assert len(world.rows("LEASES#")) == 1
    assert say(world, "f")
    world.settle()
    assert world.head("s").commit_count == 1


def test_a_worker_that_comes_late_does_not_let_go_of_another_s_lease(world: World) -> None:
    begin(world)
    say(world, "a", "b", "c", "d")
    world.clock.advance(SECONDS + 1)
    say(world, "e")
    first, second = world.commit_queue.sent
    assert isinstance(first, CommitRequested) and isinstance(second, CommitRequested)
    run_auto_commit(world.services(), first)
    assert [row["token"] for row in world.rows("LEASES#")] == [second.lease]


@pytest.mark.parametrize("store", ["items", "commit_queue"])
def test_a_commit_that_cannot_be_asked_for_is_no_error_of_the_write(
    world: World, store: str
) -> None:  # B-B12
    begin(world)
    say(world, "a", "b", "c")
    operation = {"items": "update", "commit_queue": "send"}[store]
    getattr(world, store).faults.before(operation, Ambiguous("secret sk-live-0123456789abcdefghijkl"))
    assert say(world, "d") is None
    head = world.head("s")
    assert head.auto_commit_last_error == "the commit could not be asked for: Ambiguous"
    assert head.auto_commit_last_error_at is not None

    world.clock.advance(SECONDS + 1)
    say(world, "e")
    world.settle()

    head = world.head("s")
    assert (head.auto_commit_last_error, head.auto_commit_last_error_at) == (None, None)
    assert head.last_auto_commit_at is not None


def test_a_worker_s_failure_is_noted_and_cleared(world: World) -> None:  # B-B12
    begin(world)
    say(world, "a", "b", "c", "d")
    for nth in (1, 2, 3):
        world.objects.faults.before("put", Ambiguous("no answer"), nth=nth)
    with pytest.raises(Exception, match="did not answer"):
        world.commit_next()
    assert "did not answer" in (world.head("s").auto_commit_last_error or "")
    world.settle()
    assert world.head("s").auto_commit_last_error is None
    assert world.head("s").commit_count == 1


def test_a_commit_that_is_called_off(world: World) -> None:
    begin(world)
    asked = say(world, "a", "b", "c", "d") or ""
    assert task.cancel(world.services(), ALICE, asked)["status"] == "cancelled"
    world.settle()
    assert world.head("s").commit_count == 0
    assert task.retry(world.services(), ALICE, asked)["status"] == "pending"
    world.settle()
    assert world.head("s").commit_count == 1
    assert task.get(world.services(), ALICE, asked)["status"] == "completed"
    with pytest.raises(FailedPrecondition):
        task.cancel(world.services(), ALICE, asked)


def test_a_request_that_is_lost_is_made_again_by_the_sweep(world: World) -> None:
    begin(world)
    world.commit_queue.faults.before("send", Ambiguous("lost"))
    say(world, "a", "b", "c", "d")
    world.heal()
    assert world.head("s").commit_count == 1
    assert {row["status"] for row in world.rows("TASKS#")} == {"completed"}
    assert world.rows("DUE#") == []


def test_a_request_that_nobody_does_has_failed_in_the_end(world: World) -> None:
    begin(world)
    asked = say(world, "a", "b", "c", "d") or ""
    for _ in range(world.rules.heal_rounds + 1):
        world.sweep()
    assert task.get(world.services(), ALICE, asked)["status"] == "failed"
    assert world.head("s").auto_commit_last_error == "no progress after repeated attempts"


def test_a_request_whose_session_is_gone(world: World) -> None:
    begin(world)
    say(world, "a", "b", "c", "d")
    world.delete("s")
    world.settle()
    world.heal()
    assert world.rows("TASKS#") == [] == world.rows("LEASES#")
    assert {row["kind"] for row in world.rows("DUE#")} == {"bury"}


def go(world: World) -> None:
    """From the write that asks for a commit to its memories, each step repeated when it dies, and the sweep."""
    run(world, lambda w: say(w, "tea: I like green tea", "b", "c", "d"))
    for _ in range(3):
        run(world, lambda w: w.settle())
    run(world, lambda w: w.heal(3))


def calls_of_the_way() -> int:
    world = World()
    begin(world)
    before = len(world.calls.names)
    say(world, "tea: I like green tea", "b", "c", "d")
    world.settle()
    return len(world.calls.names) - before


@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("at", range(calls_of_the_way()))
def test_one_fault_anywhere_changes_nothing_in_the_end(at: int, kind: str) -> None:  # B-B17
    world = World()
    begin(world)
    FAULTS[kind](world, at)
    go(world)
    expect_one_commit(world)


def expect_one_commit(world: World) -> None:
    assert [text for _, text in world.log("s")] == ["tea: I like green tea", "b", "c", "d"]
    head = world.head("s")
    if head.commit_count == 0:  # killed between the lease and the marker: its next write makes up for it
        world.clock.advance(SECONDS + 1)
        say(world, "e")
        world.heal(2)
        head = world.head("s")
    assert (head.commit_count, head.pending, head.failed) == (1, (), ())
    assert {row["status"] for row in world.rows("TASKS#")} == {"completed"}
    assert world.rows("DUE#") == []
    assert world.find("tea") == ["I like green tea"]


def test_a_worker_that_is_killed_leaves_it_to_the_next_delivery(world: World) -> None:
    begin(world)
    say(world, "a", "b", "c", "d")
    world.kill(2, before=True)
    with pytest.raises(Killed):
        world.commit_next()
    world.settle()
    assert world.head("s").commit_count == 1
    assert ref(world.head("s")).incarnation == world.head("s").incarnation


def request(world: World) -> CommitRequested:
    newest = world.commit_queue.sent[-1]
    assert isinstance(newest, CommitRequested)
    return newest


def archives(world: World) -> dict[str, Any]:
    return {row["task_id"]: row["archive"] for row in world.rows("TASKS#")}


def test_a_task_that_has_ended_makes_no_other_archive(world: World) -> None:
    """Whatever the head has forgotten of it since, and whoever sends its request again."""
    begin(world)
    for number in range(10):
        say(world, *(f"{number} {text}" for text in "abcd"))
        if number == 0:
            first = request(world)
        world.settle()
    asked = say(world, *"efgh")

    assert run_auto_commit(world.services(), first) == Skip("not_due")
    world.settle()

    assert archives(world)[first.task_id or ""] == 1
    assert archives(world)[asked or ""] == world.head("s").commit_count == 11


def test_a_task_that_ended_without_an_archive_makes_none(world: World) -> None:
    begin(world)
    say(world, *"abcd")
    first = request(world)
    world.commit("s")
    world.settle()
    asked = say(world, *"efgh")

    assert run_auto_commit(world.services(), first) == Skip("not_due")
    world.settle()
    assert archives(world)[asked or ""] == 2


def test_a_task_of_another_session_or_kind_is_left_alone(world: World) -> None:
    begin(world)
    world.create("other", auto_commit_policy=policy(**POLICY))
    world.append("other", *"abcd")
    other = request(world).task_id or ""
    erasure = {"task_id": "e", "task_type": "user_erasure", "status": "pending", "resource_id": "alice"}
    world.items.put({"pk": "TASKS#acme/alice", "sk": "e", **erasure})
    say(world, *"abcd")
    ours = request(world)
    before = world.rows("TASKS#")

    for forged in (other, "e"):
        done = run_auto_commit(world.services(), ours.model_copy(update={"task_id": forged, "lease": None}))
        assert done == Skip("not_its_task")

    assert world.rows("TASKS#") == before
    assert world.head("s").commit_count == 0


def test_the_sweep_believes_the_head_before_the_task(world: World) -> None:
    """The archive has been made, and its task has not heard of it: it has not ended without one."""
    begin(world)
    asked = say(world, *"abcd") or ""
    world.clock.advance(300)
    # the first says that the task is running, the second tells of its archive
    world.items.faults.before("update", Ambiguous("lost"), nth=2)
    world.commit_next()
    assert world.head("s").commit_count == 1
    assert archives(world)[asked] is None
    world.sweep(HEAL_SECONDS - 299)
    assert task.get(world.services(), ALICE, asked)["status"] == "running"
    world.heal()
    done = task.get(world.services(), ALICE, asked)
    assert (done["status"], done["archive"]) == ("completed", 1)


def test_an_error_that_nobody_has_foreseen_is_none_of_the_write(world: World) -> None:
    begin(world)
    say(world, *"abc")
    world.commit_queue.faults.before("send", PermissionError("no such queue"))
    assert say(world, "d") is None
    assert world.head("s").last_seq == 4
    assert "PermissionError" in (world.head("s").auto_commit_last_error or "")


def test_what_has_been_called_off_says_so(world: World) -> None:
    begin(world)
    asked = say(world, *"abcd") or ""
    task.cancel(world.services(), ALICE, asked)
    with pytest.raises(FailedPrecondition, match="this one is cancelled"):
        task.cancel(world.services(), ALICE, asked)
