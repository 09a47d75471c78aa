"""Memories with a time to live: it counts from their own last write, and what is over is removed by the sweep."""

from dataclasses import replace

import pytest

from strandline.domain.errors import NotFound
from strandline.domain.expiry import renewed
from strandline.domain.memory import Memory
from strandline.pipeline import memory
from strandline.pipeline.restore import run_restore
from strandline.pipeline.sweep import run_sweep
from strandline.storage.markdown import Edit
from tests.pipeline.faults import FAULTS, run
from tests.pipeline.world import ALICE, DAY, HEAL_SECONDS, World

NOTE, OTHER, TEA = "topics/note.md", "topics/other.md", "preferences/tea.md"
NOW = "2026-01-01T00:00:00.000Z"


def put(world: World, path: str, body: str = "text", ttl: int | None = None) -> Memory:
    edit = Edit(body, sets_expiry=ttl is not None, ttl_seconds=ttl)
    return memory.write(world.services(), ALICE, path, edit, memory.anything)


def there(world: World, path: str) -> bool:
    try:
        memory.read(world.services(), ALICE, path)
    except NotFound:
        return False
    return True


def buried(world: World, path: str) -> bool:
    found = world.services().memories.read(ALICE.memory(path))
    return found is not None and found.value.deleted_at is not None


def markers(world: World) -> list[str]:
    return [row["path"] for row in world.rows("DUE#") if row["kind"] == "expire"]


def test_what_is_over_is_gone_at_once_and_removed_by_the_sweep(world: World) -> None:  # B-C13
    put(world, NOTE, ttl=60)
    put(world, OTHER, ttl=7200)
    world.clock.advance(59)
    assert there(world, NOTE)
    world.clock.advance(1)
    assert not there(world, NOTE)
    assert list(memory.list_memories(world.services(), ALICE, "")) == [OTHER]
    assert not buried(world, NOTE)
    run_sweep(world.services())
    assert buried(world, NOTE)
    assert b"text" not in world.body(ALICE.memory(NOTE))
    assert there(world, OTHER)
    assert markers(world) == [OTHER]
    assert world.journal()[-1]["deleted"] == ["viking://user/alice/memories/topics/note.md"]


def test_reading_postpones_nothing_and_writing_does(world: World) -> None:  # B-C13
    put(world, NOTE, ttl=60)
    put(world, OTHER, ttl=60)
    world.clock.advance(50)
    assert there(world, NOTE) and there(world, OTHER)
    assert put(world, NOTE, "new").ttl_seconds == 60
    world.clock.advance(10)
    assert there(world, NOTE) and not there(world, OTHER)
    run_sweep(world.services())
    assert there(world, NOTE) and buried(world, OTHER)
    world.clock.advance(50)
    assert not there(world, NOTE)
    run_sweep(world.services())
    assert buried(world, NOTE)
    assert markers(world) == []


def test_many_writes_have_one_marker(world: World) -> None:
    for n in range(20):
        put(world, NOTE, f"text {n}", ttl=1000)
        world.clock.advance(10)
    assert markers(world) == [NOTE]
    world.clock.advance(900)
    assert run_sweep(world.services())["moved"] == 1
    assert there(world, NOTE)
    assert markers(world) == [NOTE]


def test_an_earlier_end_is_kept_too(world: World) -> None:
    put(world, NOTE, ttl=5000)
    put(world, NOTE, "soon", ttl=10)
    world.clock.advance(10)
    run_sweep(world.services())
    assert buried(world, NOTE)


def test_an_end_that_is_taken_away(world: World) -> None:
    put(world, NOTE, ttl=60)
    memory.write(world.services(), ALICE, NOTE, Edit("for ever", sets_expiry=True), memory.anything)
    world.clock.advance(60)
    run_sweep(world.services())
    assert there(world, NOTE)
    assert markers(world) == []


def test_the_policy_of_the_deployment_and_that_of_a_session(world: World) -> None:
    world.rules = replace(world.rules, memory_ttl_seconds=DAY)
    world.create("short", memory_policy={"ttl_seconds": 3600})
    world.remember("short", "tea: from a glass")
    world.remember("usual", "sport: I row")
    put(world, NOTE)
    put(world, OTHER, ttl=10 * DAY)
    services = world.services()
    ttls = {
        path: memory.read(services, ALICE, path).ttl_seconds
        for path in (TEA, "preferences/sport.md", NOTE, OTHER)
    }
    assert ttls == {TEA: 3600, "preferences/sport.md": DAY, NOTE: DAY, OTHER: 10 * DAY}
    world.clock.advance(3600)
    run_sweep(world.services())
    assert buried(world, TEA)
    assert not world.find("glass")
    world.clock.advance(DAY)
    run_sweep(world.services())
    assert list(memory.list_memories(world.services(), ALICE, "")) == [OTHER]


@pytest.mark.parametrize("order", [("short", "long"), ("long", "short")])
def test_where_sessions_meet_the_longest_wins(world: World, order: tuple[str, str]) -> None:
    world.create("short", memory_policy={"ttl_seconds": 60})
    world.create("long", memory_policy={"ttl_seconds": 600})
    for name in order:
        world.remember(name, f"tea: from {name}")
    assert memory.read(world.services(), ALICE, TEA).ttl_seconds == 600
    world.remember("for-ever", "tea: always")
    kept = memory.read(world.services(), ALICE, TEA)
    assert (kept.ttl_seconds, kept.expires_at) == (None, None)


def test_what_the_owner_says_stays(world: World) -> None:
    world.remember("s", "tea: from a glass")
    put(world, TEA, "mine", ttl=500)
    world.clock.advance(100)
    world.remember("t", "tea: always")
    assert memory.read(world.services(), ALICE, TEA).expires_at == "2026-01-01T00:10:00.000Z"


def blank(**fields: object) -> Memory:
    return replace(Memory(TEA, "preferences", "Tea", None, "x", NOW, NOW, applied=("a",)), **fields)  # type: ignore[arg-type]


def test_a_merge_that_took_nothing_in_renews_nothing() -> None:
    before = blank(ttl_seconds=60, expires_at="2026-01-01T00:01:00.000Z")
    assert renewed(before, before, {"b": None}, NOW) == before
    assert renewed(None, None, {"b": 60}, NOW) is None
    absolute = blank(expires_at="2030-01-01T00:00:00.000Z", edits=1)
    assert renewed(absolute, absolute, {"a": 60}, NOW) == absolute


def test_what_has_expired_does_not_come_back(world: World) -> None:
    put(world, TEA, "- old words", ttl=60)
    world.clock.advance(60)
    world.remember("s", "tea: from a glass")
    assert "old words" not in memory.read(world.services(), ALICE, TEA).body
    run_sweep(world.services())
    assert there(world, TEA)


def test_the_table_is_lost_and_restored(world: World) -> None:
    put(world, NOTE, ttl=60)
    world.items = type(world.items)()
    run_restore(world.services())
    assert markers(world) == [NOTE]
    world.clock.advance(60)
    run_sweep(world.services())
    assert buried(world, NOTE)


@pytest.mark.parametrize("kind", FAULTS)
def test_one_fault_anywhere_removes_it_all_the_same(kind: str) -> None:  # B-B17
    for at in range(60):
        world = World()
        start = len(world.calls.names)
        FAULTS[kind](world, at)
        run(world, lambda world: put(world, NOTE, ttl=60) and None)
        world.clock.advance(60)
        run(world, lambda world: run_sweep(world.services()) and None)
        world.mend()
        for _ in range(4):
            world.clock.advance(HEAL_SECONDS + 1)
            run_sweep(world.services())
        assert not there(world, NOTE), f"call {at}"
        assert not memory.list_memories(world.services(), ALICE, ""), f"call {at}"
        assert markers(world) == [], f"call {at}"
        if len(world.calls.names) - start < at:
            return
