"""An erasure that dies, or hears no answer, at any of its calls; that has two workers; that meets what is under way."""

from collections.abc import Callable, Iterator

import pytest

from strandline.domain.contracts import EraseRequested, SessionRef
from strandline.pipeline import erase, memory
from strandline.pipeline.sweep import run_sweep
from strandline.ports import Item
from strandline.storage.layout import User
from tests.pipeline.erasing import ANN, anything, begin, finish, is_ann, nothing_left, receipt, recount, use
from tests.pipeline.faults import FAULTS, going_on
from tests.pipeline.world import HEAL_SECONDS, World


def dying(kind: str, whose: User) -> Iterator[tuple[int, World, str, Item]]:
    """Worlds in which a worker has died, or heard no answer, at one of its calls; and what the receipt must say."""
    for at in range(400):
        world = World()
        use(world, ANN)
        expected = recount(world, is_ann)
        task_id = begin(world, whose)
        FAULTS[kind](world, at)
        with going_on():
            world.settle(200)
        if world.calls.trip is not None:
            assert at > 40
            return
        yield at, world, task_id, expected
    raise AssertionError("an erasure of so many calls")


@pytest.mark.parametrize("whose", [ANN, User("acme", "")], ids=["user", "account"])
@pytest.mark.parametrize("kind", FAULTS)
def test_a_worker_that_dies_counts_nothing_twice_and_leaves_nothing(kind: str, whose: User) -> None:  # B-B17
    for at, world, task_id, expected in dying(kind, whose):
        finish(world)
        found = receipt(world, task_id)
        assert {name: found[name] for name in expected} == expected, f"call {at}"
        assert found["users"] == 1
        nothing_left(world, ANN)


@pytest.mark.parametrize("kind", FAULTS)
def test_the_second_round_may_die_too(kind: str) -> None:  # B-B17
    for at in range(200):
        world = World()
        use(world, ANN)
        expected = recount(world, is_ann)
        task_id = begin(world, ANN)
        world.settle(200)
        world.clock.advance(2 * HEAL_SECONDS)
        FAULTS[kind](world, at)
        with going_on():
            run_sweep(world.services())
            world.settle(200)
        fired = world.calls.trip is None
        finish(world)
        assert {name: receipt(world, task_id)[name] for name in expected} == expected, f"call {at}"
        nothing_left(world, ANN)
        if not fired:
            return
    raise AssertionError("a round of so many calls")


@pytest.mark.parametrize("kind", FAULTS)
def test_a_request_that_dies_has_begun_or_not(kind: str) -> None:  # B-B17
    for at in range(8):
        world = World()
        use(world, ANN)
        FAULTS[kind](world, at)
        with going_on():
            begin(world, ANN)
        world.mend()
        begun = world.rows("ERASE#")
        finish(world)
        if begun:
            assert receipt(world, begun[0]["task_id"])["keys"] == 2, f"call {at}"
            nothing_left(world, ANN)
        else:
            assert world.log("live", ANN) == [(1, "tea: not yet")], f"call {at}"
            assert [row for row in world.rows("TASKS#default") if row["status"] != "completed"] == []


def test_two_workers_at_one_erasure_count_once(world: World) -> None:
    use(world, ANN)
    expected = recount(world, is_ann)
    ref = SessionRef(account_id="acme", user_id="a", session_id="")
    again = EraseRequested(scope="user", session=ref)
    for at in range(60):
        world = World()
        use(world, ANN)
        task_id = begin(world, ANN)
        world.next(at, lambda world=world: erase.run_erase(world.services(), again))  # type: ignore[misc]
        world.settle(400)
        finish(world)
        found = receipt(world, task_id)
        assert {name: found[name] for name in expected} == expected, f"call {at}"


def test_an_append_that_was_let_in_before_is_erased_in_the_second_round(world: World) -> None:  # B-A15
    for at in range(3):
        world = World()
        use(world, ANN)
        world.next(at, lambda world=world: (begin(world, ANN), world.settle(200)))  # type: ignore[misc]
        with going_on():
            world.append("new", "tea: just in time", owner=ANN)
        (row,) = world.rows("TASKS#default")
        finish(world)
        nothing_left(world, ANN)
        assert receipt(world, row["task_id"])["users"] == 1


WAY: dict[str, Callable[[World], object]] = {
    "append": lambda world: world.append("live", "tea: more", owner=ANN, ids="n"),
    "commit": lambda world: world.commit("live", ANN),
    "extract": lambda world: world.extract_next(),
    "merge": lambda world: world.merge_next(),
    "memory": lambda world: memory.write(world.services(), ANN, "topics/n.md", "# N\n", anything),
}


@pytest.mark.parametrize("step", WAY)
def test_what_is_under_way_leaves_nothing(step: str) -> None:  # B-A15
    for at in range(40):
        world = World()
        use(world, ANN)
        for earlier in ("commit", "extract")[
            : ("extract", "merge").index(step) + 1 if step in ("extract", "merge") else 0
        ]:
            WAY[earlier](world)
        world.next(at, lambda world=world: (begin(world, ANN), settle_erase(world)))  # type: ignore[misc]
        with going_on():
            WAY[step](world)
        if world.calls.trip is not None:
            return
        finish(world)
        nothing_left(world, ANN)
    raise AssertionError("so many calls")


def settle_erase(world: World) -> None:
    while len(world.erase_queue):
        world.erase_next()


def test_a_write_that_lands_late_is_erased_in_the_second_round(world: World) -> None:
    use(world, ANN)
    world.objects.faults.late("put")
    with going_on():
        world.append("late", "tea: after all", owner=ANN)
    world.mend_but_keep_late()
    task_id = begin(world, ANN)
    world.settle(200)
    world.land()
    finish(world)
    nothing_left(world, ANN)
    assert receipt(world, task_id)["users"] == 1
