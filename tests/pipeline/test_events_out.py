"""Events out: each is in the journal once and on the bus at least once, whatever dies on the way; memory goes on while
the bus is down."""

from collections.abc import Callable

import pytest

from strandline.domain.errors import StrandlineError
from strandline.pipeline import memory, session
from strandline.pipeline.sweep import run_sweep
from strandline.ports import Ambiguous
from tests.pipeline.faults import FAULTS, going_on
from tests.pipeline.trips import Killed
from tests.pipeline.world import ALICE, BOB, HEAL_SECONDS, World

PATH = "topics/boat.md"
URI = f"viking://user/alice/memories/{PATH}"


def kinds(world: World) -> list[str]:
    return [event["type"] for event in world.journal()]


def published(world: World) -> list[str]:
    return [event.id for event in world.bus.published]


def test_what_is_told_of_a_session(world: World) -> None:
    world.remember("s", "tea: I like tea")
    session.delete(world.services(), ALICE, "s")
    committed, changed, deleted = world.journal()
    (task,) = {committed["task_id"], changed["task_id"]}
    whose = {"version": 1, "account_id": "acme", "user_id": "alice", "session_id": "s"}
    at = "2026-01-01T00:00:00.000Z"
    assert committed == {
        **whose,
        "id": committed["id"],
        "at": at,
        "type": "SessionCommitted",
        "archive": 1,
        "first_seq": 1,
        "last_seq": 1,
        "task_id": task,
    }
    assert changed == {
        **whose,
        "id": changed["id"],
        "at": at,
        "type": "MemoryChanged",
        "archive": 1,
        "task_id": task,
        "added": ["viking://user/alice/memories/preferences/tea.md"],
        "updated": [],
        "deleted": [],
    }
    assert deleted == {**whose, "id": deleted["id"], "at": at, "type": "SessionDeleted"}
    assert [event.model_dump(exclude_none=True) for event in world.bus.published] == world.journal()


def test_a_merge_that_changes_nothing_tells_of_nothing(world: World) -> None:
    world.remember("s", "no memory in this")
    assert kinds(world) == ["SessionCommitted"]


def test_a_merge_of_very_many_files_is_told_of_in_parts(world: World) -> None:
    for start in (0, 100, 200):
        texts = (f"topic{n}: I like it" for n in range(start, min(start + 100, 250)))
        world.append("s", *texts, ids=f"m{start}.")
    world.remember("s", "the last one", ids="last")
    parts = [event for event in world.journal() if event["type"] == "MemoryChanged"]
    assert [len(event["added"]) for event in parts] == [100, 100, 50]
    assert len({uri for event in parts for uri in event["added"]}) == 250


def test_no_event_says_what_was_said(world: World) -> None:
    world.remember("s", "tea: zanzibar is what I like")
    assert all("zanzibar" not in str(event) for event in world.journal())
    assert all("zanzibar" not in event.model_dump_json() for event in world.bus.published)


def write(world: World) -> None:
    memory.write(world.services(), ALICE, PATH, "# Boat\n\nGreen.\n", lambda _: None)


def delete(world: World) -> None:
    memory.delete(world.services(), ALICE, PATH, lambda _: None)


def test_edits_by_hand(world: World) -> None:
    write(world)
    write(world)  # as it is already
    memory.write(world.services(), ALICE, PATH, "# Boat\n\nRed.\n", lambda _: None)
    delete(world)
    write(world)
    told = [(e["added"], e["updated"], e["deleted"]) for e in world.journal()]
    assert told == [([URI], [], []), ([], [URI], []), ([], [], [URI]), ([URI], [], [])]
    assert published(world) == [event["id"] for event in world.journal()]
    assert world.rows("DUE#") == []


@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("edit", [write, delete])
def test_an_edit_that_dies_anywhere_is_told_of(edit: Callable[[World], None], kind: str) -> None:  # B-B17
    for at in range(30):
        world = World()
        if edit is delete:
            write(world)
        before = len(world.journal())
        versions = world.writes(ALICE.memory(PATH))
        FAULTS[kind](world, at)
        with going_on():
            edit(world)
        fired = world.calls.trip is None
        world.mend()
        happened = world.writes(ALICE.memory(PATH)) > versions
        world.heal()
        told = world.journal()[before:]
        assert set(published(world)) == {event["id"] for event in world.journal()}, f"call {at}"
        if happened:
            how = "added" if edit is write else "deleted"
            assert [event[how] for event in told] == [[URI]], f"call {at}"
        assert world.rows("DUE#") == []
        if not fired:
            assert happened
            return
    raise AssertionError("an edit of so many calls")


@pytest.mark.parametrize("kind", FAULTS)
def test_a_delete_of_a_session_that_dies_anywhere_is_told_of_once(kind: str) -> None:  # B-B17
    for at in range(40):
        world = World()
        world.remember("s", "tea: I like tea")
        FAULTS[kind](world, at)
        with going_on():
            session.delete(world.services(), ALICE, "s")
        fired = world.calls.trip is None
        world.mend()
        gone = world.head("s").buried_at is not None
        world.heal(3)
        world.clock.advance(86_400)
        world.heal(2)
        assert kinds(world).count("SessionDeleted") == (1 if gone else 0), f"call {at}"
        assert set(published(world)) == {event["id"] for event in world.journal()}, f"call {at}"
        if not fired:
            return
    raise AssertionError("a delete of so many calls")


def test_memory_goes_on_while_the_bus_is_down(world: World) -> None:
    for nth in range(1, 8):
        world.bus.faults.before("put", Ambiguous("down"), nth=nth)
    world.remember("s", "tea: I like tea")
    write(world)
    session.delete(world.services(), ALICE, "s")
    assert world.find("tea") == ["I like tea"]
    assert kinds(world) == ["SessionCommitted", "MemoryChanged", "MemoryChanged", "SessionDeleted"]
    assert published(world) == []
    world.clock.advance(HEAL_SECONDS + 1)
    assert run_sweep(world.services())["failed"] == 3  # still down: put off, and nothing lost
    world.heal(3)
    assert sorted(published(world)) == [event["id"] for event in world.journal()]


def test_a_user_has_a_journal_of_his_own(world: World) -> None:
    world.remember("s", "tea: I like tea", owner=BOB)
    assert world.journal(ALICE) == []
    assert len(world.journal(BOB)) == 2


# ---- the journal as a feed


def tell_of(world: World, number: int) -> str:
    identity, _ = world.services().journals.add(ALICE, f"{number:016x}", {"type": "Test", "n": number})
    return identity


@pytest.mark.parametrize("limit", [1, 7, 32, 200])
def test_pages_hold_every_record_once_in_order(world: World, limit: int) -> None:
    journals = world.services().journals
    for n in range(100):
        journals.add(ALICE, f"{n:016x}", {"n": n})
    seen: list[int] = []
    after = None
    while page := world.services().journals.page(ALICE, after=after, limit=limit):
        assert len(page) <= limit
        seen += [event["n"] for event in page]
        after = page[-1]["id"]
    assert seen == list(range(100))


def test_a_follower_misses_nothing_that_lands_late(world: World) -> None:
    """A write without an answer that happens after others have gone by lands behind them, or not at all."""
    follower = world.services().journals
    tell_of(world, 1)
    (first,) = follower.page(ALICE, after=None, limit=10)
    world.objects.faults.late("put")
    second = tell_of(world, 2)
    tell_of(world, 3)
    (page_2, page_3) = follower.page(ALICE, after=first["id"], limit=10)
    world.objects.faults.land()
    assert (page_2["id"], page_3["n"]) == (second, 3)
    assert follower.page(ALICE, after=page_3["id"], limit=10) == []
    assert [event["n"] for event in follower.page(ALICE, after=None, limit=10)] == [1, 2, 3]


@pytest.mark.parametrize("at", range(8))
@pytest.mark.parametrize("full", [False, True], ids=["room", "full"])
def test_another_writer_at_any_call(at: int, *, full: bool) -> None:
    world = World()
    ours = world.services().journals
    count = 32 if full else 5
    for n in range(count):
        ours.add(ALICE, f"{n:016x}", {"n": n})
    world.next(at, lambda: tell_of(world, 1000))
    ours.add(ALICE, f"{count:016x}", {"n": count})
    other = [1000] if world.calls.trip is None else []
    events = world.journal()
    assert [int(event["id"][:12]) for event in events] == list(range(1, len(events) + 1))
    assert sorted(event["n"] for event in events) == [*range(count + 1), *other]


@pytest.mark.parametrize("at", range(8))
@pytest.mark.parametrize("kind", FAULTS)
def test_a_writer_that_dies_at_a_full_document(at: int, kind: str) -> None:
    world = World()
    for n in range(32):
        tell_of(world, n)
    FAULTS[kind](world, at)
    with going_on():
        tell_of(world, 32)
    world.mend()
    tell_of(world, 32)
    assert [event["n"] for event in world.journal()] == list(range(33))


def test_the_same_event_is_one_record(world: World) -> None:
    first = tell_of(world, 1)
    for n in range(2, 256):
        tell_of(world, n)
    assert tell_of(world, 1) == first
    assert len(world.journal()) == 255


@pytest.mark.parametrize(
    "after",
    ["x", "1", "000000000002-0000000000000001", "000000000001-0000000000000002", "9" * 12 + "-" + "0" * 16],
)
def test_an_id_that_is_not_of_this_journal_is_refused(world: World, after: str) -> None:
    tell_of(world, 1)
    with pytest.raises(StrandlineError, match="after"):
        world.services().journals.page(ALICE, after=after, limit=10)


def test_nothing_of_an_erased_journal_comes_back(world: World) -> None:
    """A warm writer that remembers the erased one."""
    old = world.services().journals
    for n in range(32):
        old.add(ALICE, f"{n:016x}", {"n": n})
    for key in world.stored("/journal/"):
        world.objects.delete(key)
    tell_of(world, 100)
    old.add(ALICE, "f" * 16, {"n": 101})
    assert [event["n"] for event in world.journal()] == [100, 101]


def test_a_marker_of_another_attempt_is_left(world: World) -> None:
    """Killed between the journal and the bus; the repeat, in the same millisecond, takes away its own marker only."""
    world.append("s", "tea: I like tea")
    world.commit("s")
    world.bus.faults.before("put", Killed())
    with pytest.raises(Killed):
        world.extract_next()
    world.settle()
    assert "SessionCommitted" not in {event.type for event in world.bus.published}
    world.heal()
    assert set(published(world)) == {event["id"] for event in world.journal()}
