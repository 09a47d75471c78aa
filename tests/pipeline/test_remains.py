"""Nothing of a deleted session is left, in no version of any object, whatever died or raced on the way."""

from contextlib import suppress

import pytest

from strandline.domain.errors import Aborted, NotFound
from strandline.pipeline import remains, session
from strandline.storage.layout import User
from strandline.storage.vectors import VectorsCodec
from tests.pipeline.faults import FAULTS, going_on
from tests.pipeline.test_delete_races import RACES, delete, live, recreate
from tests.pipeline.test_embedding import Embedding
from tests.pipeline.test_upkeep_crashes import dying_deletes
from tests.pipeline.world import ALICE, BOB, DAY, World


@pytest.fixture
def embedding() -> Embedding:
    return Embedding()


LIKE_S = ("s2", "s-a", "S")


def every_version(world: World, prefix: str = "v1/") -> list[tuple[str, bytes]]:
    """(key, body) of all versions that have one, and (key, b"") of delete markers."""
    page = world._quiet(lambda: world.objects.versions_below(prefix, limit=100_000))
    return [
        (
            v.key,
            b""
            if v.deleted
            else world._quiet(lambda v=v: world.objects.get_version(v.key, v.version_id).body),
        )
        for v in page.versions
    ]


def quoting(world: World, *words: str) -> list[str]:
    """Keys with a version that quotes one of these words; memories, which stay, apart."""
    found = every_version(world)
    said = [key for key, body in found if any(word.encode() in body for word in words)]
    return [key for key in said if "/memories/" not in key and not key.endswith("index/memories.idx")]


def under(name: str, owner: User = ALICE) -> str:
    return owner.head(name).removesuffix("head.json")


def test_right_after_the_delete_no_version_quotes_the_session(world: World) -> None:  # B-A15
    world.remember("s", "tea: cinnamon and cloves")
    world.append("s", "sport: canoeing alone", ids="n")
    world.append("s", *["x" * 40_000] * 3, ids="long")  # a segment
    assert len(quoting(world, "cinnamon", "canoeing", "xxxx")) >= 4

    done = session.delete(world.services(), ALICE, "s")

    assert done.complete
    assert quoting(world, "cinnamon", "canoeing", "xxxx") == []
    assert [key for key, _ in every_version(world, under("s"))] == [ALICE.head("s")]  # the gravestone


def test_what_went_is_what_was_there(world: World) -> None:
    world.remember("s", "tea: cinnamon and cloves")
    world.append("s", "live", ids="n")
    stored = [key for key, _ in every_version(world, under("s"))]
    heads, indexes = stored.count(ALICE.head("s")), world.writes(ALICE.index("messages"))
    current = [key for key in world.stored(under("s")) if key != ALICE.head("s")]

    done = session.delete(world.services(), ALICE, "s")

    # all versions but the gravestone's; the index gets one more without the session, of which the older ones go
    assert done.counts == {
        "objects": len(current),
        "versions": len(stored) + indexes,
        "tasks": 1,
    }
    assert heads >= 4 and indexes >= 1


def test_others_keep_everything_but_the_old_message_indexes(world: World) -> None:
    for name in ("s", *LIKE_S):
        world.remember(name, f"tea: {name} green")
    world.remember("s", "tea: bob's", owner=BOB)
    prefixes = [*(under(name) for name in LIKE_S), under("s", BOB), ALICE.memories]
    before = [every_version(world, prefix) for prefix in prefixes]

    session.delete(world.services(), ALICE, "s")

    assert [every_version(world, prefix) for prefix in prefixes] == before
    assert len(world.find("tea", context_type="message", limit=50)) == len(LIKE_S)


@pytest.mark.parametrize("kind", FAULTS)
def test_a_day_later_nothing_at_all_is_left(kind: str) -> None:  # B-A15 B-B17
    for world in dying_deletes(kind):
        world.heal()
        assert quoting(world, "green tea", "Sundays") == []
        world.clock.advance(2 * DAY)
        world.heal()
        assert every_version(world, under("s")) == []
        assert world.rows("DUE#") == world.rows("TASKS#") == world.rows("SESSIONS#") == []


@pytest.mark.parametrize("kind", FAULTS)
def test_the_last_look_may_die_too(kind: str) -> None:  # B-B17
    for at in range(100):
        world = World()
        world.remember("s", "tea: cinnamon")
        delete(world)
        world.heal()
        world.clock.advance(2 * DAY)
        FAULTS[kind](world, at)
        with going_on():
            world.heal()
        fired = world.calls.trip is None
        world.mend()
        world.heal(4)
        assert every_version(world, under("s")) == [], f"call {at}"
        assert world.rows("DUE#") == [], f"call {at}"
        if not fired:
            return
    raise AssertionError("so many calls")


@pytest.mark.parametrize("race", RACES)
def test_a_successor_keeps_what_is_its_own(race: str) -> None:  # B-A15
    prepare, work = RACES[race]
    for at in range(50):
        world = World()
        prepare(world)
        world.next(at, lambda world=world: recreate(world))  # type: ignore[misc]
        work(world)
        if world.calls.trip is not None:
            return
        world.settle()
        log = world.log("s")
        world.heal()
        world.clock.advance(2 * DAY)
        world.heal()
        assert world.log("s") == log and log, f"call {at}"
        assert quoting(world, "green tea", "I row") == [], f"call {at}"
        assert world.rows("DUE#") == [], f"call {at}"
    raise AssertionError("so many calls")


def test_a_session_begun_while_its_namesake_is_erased_loses_nothing() -> None:  # B-A15
    for at in range(30):
        world = World()
        live(world)
        delete_by_halves(world)
        world.next(at, lambda world=world: world.append("s", "new: hello", ids="new"))  # type: ignore[misc]
        world.settle()
        if world.calls.trip is not None:
            return
        world.append("s", "new: again", ids="more")
        world.heal()
        world.clock.advance(2 * DAY)
        world.heal()
        assert [text for _, text in world.log("s")] == ["new: hello", "new: again"], f"call {at}"
        assert quoting(world, "green tea") == []
    raise AssertionError("so many calls")


def delete_by_halves(world: World) -> None:
    """The gravestone stands, and what it covers is left to the queue."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "Allowance", lambda: remains.Allowance(0))
        assert not session.delete(world.services(), ALICE, "s").complete


def test_what_one_request_cannot_do_the_queue_does(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.remember("s", "tea: cinnamon")
    world.objects._page = 2
    monkeypatch.setattr(session, "Allowance", lambda: remains.Allowance(3))

    done = session.delete(world.services(), ALICE, "s")

    assert not done.complete and 0 < done.counts["versions"] < 5
    with pytest.raises(NotFound):
        session.delete(world.services(), ALICE, "s")
    world.settle()
    world.objects._page = 100_000
    assert quoting(world, "cinnamon") == []


def test_a_write_that_lands_after_the_erasure_is_erased_a_day_later(world: World) -> None:  # B-A15
    world.append("s", *["y" * 40_000])
    world.objects.faults.late("put")  # the segment
    with suppress(Exception):
        world.append("s", *["y" * 40_000], ids="n")
    world.mend_but_keep_late()
    delete(world)
    world.land()
    world.heal(1)
    world.clock.advance(DAY)
    world.heal()
    assert every_version(world, under("s")) == []


def test_a_delete_of_what_is_recreated_at_once(world: World) -> None:
    for _ in range(3):
        live(world)
        with suppress(Aborted):
            delete(world)
    world.heal()
    world.clock.advance(2 * DAY)
    world.heal()
    assert every_version(world, under("s")) == []
    assert world.rows("DUE#") == []


def test_the_vectors_of_what_was_said_go_at_once(embedding: Embedding) -> None:
    world = embedding
    world.remember("s", "tea: cinnamon and cloves")
    world.remember("t", "tea: green")
    key = ALICE.vectors("messages")
    texts = len(vectors(world, key))
    versions = world.writes(key)
    assert versions >= 2

    session.delete(world.services(), ALICE, "s")

    assert len(vectors(world, key)) == texts - 1
    assert world.writes(key) == 1
    assert world.find("green", context_type="message") == ["tea: green"]


def vectors(world: World, key: str) -> dict[bytes, bytes]:
    return dict(VectorsCodec().decode(world.body(key))[0].rows)


def test_a_successor_that_never_rests_does_not_keep_its_namesake_from_being_erased(world: World) -> None:
    live(world)
    delete_by_halves(world)
    count = 0

    def write() -> None:
        nonlocal count
        count += 1
        world.append("s", f"new: {count}", ids=f"n{count}-")
        world.objects.faults.after("versions_below", write)

    world.objects.faults.after("versions_below", write)
    world.erase_next()

    assert len(world.erase_queue) == 0
    assert count < 10
    assert quoting(world, "green tea") == []
    assert [text for _, text in world.log("s")] == [f"new: {n}" for n in range(1, count + 1)]
