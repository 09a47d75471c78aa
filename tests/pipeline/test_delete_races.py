"""A session is deleted while something is under way for it, at every single call of that.

In the end nothing of the deleted session is left but its memories, and a successor of the same name is clean.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from strandline.domain.errors import Aborted, NotFound
from strandline.pipeline import session
from strandline.pipeline.commit import Committed
from strandline.pipeline.context import run_context
from tests.pipeline.world import ALICE, DAY, World

Work = Callable[[World], object]


def append(world: World) -> None:
    world.append("s", "tea: I like it warm", ids="late")


def commit(world: World) -> None:
    with suppress(NotFound):
        world.commit("s")


def extract(world: World) -> None:
    world.extract_next()


def merge(world: World) -> None:
    world.merge_next()


def live(world: World) -> None:
    world.append("s", "tea: I like green tea", "sport: I row")


def committed(world: World) -> None:
    live(world)
    assert isinstance(world.commit("s"), Committed)


def extracted(world: World) -> None:
    committed(world)
    world.extract_next()


RACES: dict[str, tuple[Work, Work]] = {
    "append": (live, append),
    "commit": (live, commit),
    "extract": (committed, extract),
    "merge": (extracted, merge),
}


def delete(world: World) -> None:
    session.delete(world.services(), ALICE, "s")


def recreate(world: World) -> None:
    """Deletes the session and begins another of its name."""
    delete(world)
    world.append("s", "new: hello", ids="new")


def races(name: str, intruder: Work) -> Iterator[tuple[int, World]]:
    """Worlds in which the intruder came before call 0, 1, 2, … of the work, and everything has settled since."""
    prepare, work = RACES[name]
    for at in range(50):
        world = World()
        prepare(world)
        world.next(at, lambda world=world: intruder(world))  # type: ignore[misc]
        work(world)
        if world.calls.trip is not None:
            return
        world.settle()
        yield at, world
    raise AssertionError("so many calls")


@pytest.mark.parametrize("race", RACES)
def test_right_after_a_racing_delete_no_message_is_found(race: str) -> None:  # B-A15
    for at, world in races(race, delete):
        assert world.find("tea row", limit=50, context_type="message") == [], f"call {at}"


@pytest.mark.parametrize("race", ["commit", "extract", "merge"])
def test_after_a_racing_delete_nothing_is_left_but_memories(race: str) -> None:  # B-A15
    for at, world in races(race, delete):
        world.heal()
        world.clock.advance(2 * DAY)
        world.heal()
        assert world.stored("/sessions/s/") == [], f"call {at}"
        assert world.rows("DUE#") == [], f"call {at}"


@pytest.mark.parametrize(
    "race",
    ["commit", "extract", "merge"],
)
def test_after_a_racing_delete_no_task_is_left(race: str) -> None:  # B-A15
    for at, world in races(race, delete):
        world.heal()
        assert world.rows("TASKS#") == [], f"call {at}"


@pytest.mark.parametrize("race", ["commit", "extract", "merge"])
def test_after_a_racing_delete_the_session_is_not_listed(race: str) -> None:  # B-A15
    for at, world in races(race, delete):
        world.heal()
        assert world.rows("SESSIONS#") == [], f"call {at}"


def test_an_append_that_races_a_delete_is_deleted_or_begins_a_new_session() -> None:  # B-A15
    for at, world in races("append", delete):
        head = world.head("s")
        if head.buried_at:
            assert world.rows("SESSIONS#") == [], f"call {at}"
        else:
            assert world.log("s") == [(1, "tea: I like it warm")], f"call {at}"
            assert [row["session_id"] for row in world.rows("SESSIONS#")] == ["s"], f"call {at}"


@pytest.mark.parametrize("warm", [True, False])
def test_an_append_after_a_delete_begins_a_new_session(world: World, warm: bool) -> None:  # B-A15
    service = world.services()
    world.append("s", "old: a", "old: b", by=service)
    delete(world)

    done = world.append("s", "new: c", by=service if warm else None)

    assert [r.seq for r in done.receipts] == [1]  # the id was used in the old one: that is forgotten
    assert not done.receipts[0].duplicate
    assert world.log("s") == [(1, "new: c")]


@pytest.mark.parametrize("race", ["commit", "extract", "merge"])
def test_a_successor_sees_nothing_of_the_old_session(race: str) -> None:  # B-A15
    for at, world in races(race, recreate):
        world.heal()
        world.clock.advance(2 * DAY)
        world.heal()
        expect_clean_successor(world, at)


def expect_clean_successor(world: World, at: int) -> None:
    head = world.head("s")
    assert all(text == "new: hello" for _, text in world.log("s")), f"call {at}"
    assert [seq for seq, _ in world.log("s")] == [1], f"call {at}"
    assert head.failed == head.pending == (), f"call {at}"
    lives = {key.split("/sessions/s/")[1].split("/")[0] for key in world.stored("/sessions/s/")}
    assert lives <= {"head.json", head.incarnation}, f"call {at}"
    context = run_context(world.services(), ALICE, "s")
    assert "tea" not in context.overview
    assert {m["content"] for m in context.messages} <= {"new: hello"}


def test_an_append_meant_for_the_deleted_session_does_not_land_in_the_middle_of_its_successor() -> (
    None
):  # B-A15
    for at, world in races("append", recreate):
        texts = [text for _, text in world.log("s")]
        assert texts in (["new: hello"], ["new: hello", "tea: I like it warm"], ["tea: I like it warm"]), at


def test_a_second_life_does_what_the_first_did(world: World) -> None:  # B-A15
    world.remember("s", "tea: I like green tea")
    delete(world)

    world.remember("s", "tea: I like black tea")
    world.heal()
    world.clock.advance(2 * DAY)
    world.heal()

    head = world.head("s")
    assert (head.commit_count, head.completed, head.last_seq) == (1, 1, 1)
    assert world.find("tea", context_type="message", limit=50) == ["tea: I like black tea"]
    assert sorted(world.find("tea", limit=50)) == ["I like black tea", "I like green tea"]  # memories stay


def test_a_late_landing_write_does_not_bring_a_session_back(world: World) -> None:  # B-A15
    service = world.services()
    world.append("s", "a", by=service)
    world.objects.faults.late("put")
    for nth in range(2, 30):
        world.objects.faults.before("put", _refuse(), nth=nth)
    with suppress(Exception):
        world.append("s", "late", by=service, ids="late")
    world.mend_but_keep_late()
    delete(world)

    world.land()

    assert world.head("s").buried_at
    assert world.stored(world_life(world)) == []


def _refuse() -> Exception:
    from strandline.ports import Ambiguous

    return Ambiguous("down")


def world_life(world: World) -> str:
    return f"/sessions/s/{world.head('s').incarnation}/"


def test_two_deletes_at_once() -> None:  # B-A15
    for at in range(6):
        world = World()
        live(world)
        world.next(at, lambda world=world: delete(world))  # type: ignore[misc]
        with suppress(NotFound):
            delete(world)
        assert world.head("s").buried_at
        with pytest.raises(NotFound):
            delete(world)


def test_a_delete_that_meets_a_successor_leaves_no_gravestone_for_ever() -> None:  # B-A15
    for at in range(8):
        world = World()
        live(world)
        world.next(at, lambda world=world: recreate(world))  # type: ignore[misc]
        with suppress(NotFound, Aborted):
            delete(world)
        world.mend()
        if not world.head("s").buried_at:
            continue
        world.heal()
        world.clock.advance(2 * DAY)
        world.heal()
        assert world.stored("/sessions/s/") == [], f"call {at}"
