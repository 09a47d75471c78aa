"""Rollback: forward changes, each once whatever dies, conflicts listed, and nothing comes back."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest

from strandline.domain.contracts import ExtractRequested, MergeRequested
from strandline.domain.errors import FailedPrecondition, NotFound
from strandline.domain.extraction import Claim, Extraction, Proposal, Setting, Transcript, Turn
from strandline.domain.memory import Memory
from strandline.pipeline import memory, outcome, rollback, session, task
from strandline.pipeline.catalogue import changed, read_file
from strandline.pipeline.history import read_history
from strandline.pipeline.memory_tool import MemoryTool
from strandline.pipeline.merge import run_merge
from strandline.pipeline.rollback import (
    RolledBack,
    ToVersion,
    rollback_memory,
    rollback_session,
    rollback_since,
)
from strandline.storage.index import Catalogue
from strandline.storage.parsing import memory_path
from tests.pipeline.faults import FAULTS, run
from tests.pipeline.models import Scripted
from tests.pipeline.world import ALICE, BOB, World

TEA, SPORT = "preferences/tea.md", "preferences/sport.md"
anything = memory.anything


def put(world: World, path: str, text: str) -> Memory:
    return memory.write(world.services(), ALICE, path, text, anything)


def back_to(world: World, version: int, *, dry_run: bool = False) -> RolledBack:
    return rollback_memory(world.services(), ALICE, ToVersion(TEA, version, anything), dry_run=dry_run)


def undo(world: World, name: str, *, dry_run: bool = False, after: str = "") -> RolledBack:
    return rollback_session(world.services(), ALICE, name, after=after, dry_run=dry_run)


def since(world: World, at: Any, *, dry_run: bool = False, after: str = "") -> RolledBack:
    return rollback_since(world.services(), ALICE, at, after=after, dry_run=dry_run)


def lines(world: World, path: str = TEA) -> list[str] | None:
    found = read_file(world.services(), ALICE, path)
    return [line.text for line in found.lines] if found else None


def what(done: RolledBack) -> list[tuple[str, str | None]]:
    return [(each.path, each.how) for each in done.changed]


def told(world: World) -> list[tuple[list[str], list[str], list[str]]]:
    """(added, updated, deleted) of every event of a rollback, by the last part of the path."""
    cut = len("viking://user/alice/memories/")
    return [
        tuple([uri[cut:] for uri in e[how]] for how in ("added", "updated", "deleted"))  # type: ignore[misc]
        for e in world.journal()
        if e["type"] == "MemoryChanged" and e.get("reason") == "rollback"
    ]


def snapshot(world: World) -> Any:
    """Every object and item but the markers of time."""
    return {key: world.body(key) for key in world.stored()}, world.rows("")


def expect_index_like_files(world: World) -> None:
    """The index has what it would have, were it made anew of the files."""
    found = world.services().indexes.read(ALICE.index("memories"))
    listed = found.value if found else Catalogue()
    paths = [parsed[1] for key in world.stored("/memories/") if (parsed := memory_path(key))]
    anew = changed(Catalogue(), {path: read_file(world.services(), ALICE, path) for path in paths})
    assert listed.files == anew.files
    assert listed.index.groups() == anew.index.groups()
    assert all(listed.index.documents(g) == anew.index.documents(g) for g in anew.index.groups())


# ---- one memory


def test_a_memory_becomes_what_it_was_as_a_version_of_its_own(world: World) -> None:  # B-C14
    for text in ("# One\n\none\n", "# Two\n\ntwo\n", "# Three\n\nthree\n"):
        put(world, TEA, text)
    world.clock.advance(60)
    done = back_to(world, 1)
    found = memory.read(world.services(), ALICE, TEA)
    assert what(done) == [(TEA, "updated")]
    assert (found.body, found.title, found.version) == ("# One\n\none\n", "One", 4)
    assert found.updated_at == "2026-01-01T00:01:00.000Z"
    assert world.find("one two three") == ["one"]
    step = read_history(world.services(), ALICE, TEA, after=None, limit=1).steps[0]
    assert (step.revision.by, step.revision.why) == ("rollback", "version 1")
    assert told(world) == [([], [TEA], [])]
    assert world.rows("DUE#") == []


def test_what_was_merged_since_goes_and_does_not_come_back(world: World) -> None:  # B-C14
    world.remember("a", "tea: green")
    world.remember("b", "tea: black")
    (_, request) = [m for m in world.merge_queue.sent if isinstance(m, MergeRequested)]
    assert what(back_to(world, 1)) == [(TEA, "updated")]
    assert lines(world) == ["green"]
    world.objects.delete(next(key for key in world.stored("memory_diff.json") if "/b/" in key))
    assert run_merge(world.services(), [request]) == [None]
    assert lines(world) == ["green"]
    assert len(memory.read(world.services(), ALICE, TEA).applied) == 2


def test_a_deleted_memory_comes_back(world: World) -> None:
    world.remember("a", "tea: green")
    memory.delete(world.services(), ALICE, TEA, anything)
    assert what(back_to(world, 1)) == [(TEA, "added")]
    assert lines(world) == ["green"]
    assert memory.read(world.services(), ALICE, TEA).is_new
    assert told(world) == [([TEA], [], [])]
    assert what(back_to(world, 2)) == [(TEA, "deleted")]
    assert lines(world) is None


def test_a_rollback_to_what_is_there_changes_nothing(world: World) -> None:
    put(world, TEA, "one\n")
    writes = world.writes(ALICE.memory(TEA))
    assert what(back_to(world, 1)) == []
    assert world.writes(ALICE.memory(TEA)) == writes
    assert told(world) == []


def test_a_version_that_is_not_there(world: World) -> None:
    put(world, TEA, "one\n")
    for version in (2, 99):
        with pytest.raises(NotFound):
            back_to(world, version)


def test_a_stale_hash_is_refused(world: World) -> None:
    stale = put(world, TEA, "one\n").sha256
    put(world, TEA, "two\n")
    with pytest.raises(FailedPrecondition):
        rollback_memory(
            world.services(),
            ALICE,
            ToVersion(TEA, 1, memory.matching(stale, absent=False)),
            dry_run=False,
        )
    assert memory.read(world.services(), ALICE, TEA).body == "two\n"


def test_a_time_to_live_begins_anew(world: World) -> None:
    put(world, TEA, "---\nttl_seconds: 100\n---\n\none\n")
    put(world, TEA, "---\nexpires_at: null\n---\n\ntwo\n")
    world.clock.advance(1000)
    back_to(world, 1)
    assert memory.read(world.services(), ALICE, TEA).expires_at == "2026-01-01T00:18:20.000Z"


# ---- a session


def two_sessions(world: World) -> None:
    world.remember("good", "tea: green", "sport: rowing")
    world.remember("bad", "tea: poison", "lie: the moon is cheese", ids="x")
    world.remember("later", "tea: black", ids="y")


def test_what_a_session_said_goes_and_nothing_else(world: World) -> None:  # B-C14
    two_sessions(world)
    done = undo(world, "bad")
    assert what(done) == [("preferences/lie.md", "deleted"), (TEA, "updated")]
    assert (done.conflicts, done.archives, done.next) == ([], ["archive_001"], None)
    assert (lines(world), lines(world, SPORT), lines(world, "preferences/lie.md")) == (
        ["green", "black"],
        ["rowing"],
        None,
    )
    assert world.find("poison moon cheese", limit=50) == []
    assert told(world) == [([], [TEA], ["preferences/lie.md"])]
    assert [text for _, text in world.log("bad")] == ["tea: poison", "lie: the moon is cheese"]


def test_again_there_is_nothing_to_undo(world: World) -> None:
    two_sessions(world)
    undo(world, "bad")
    before = snapshot(world)
    assert what(undo(world, "bad")) == []
    assert snapshot(world) == before


def test_a_dry_run_changes_nothing_and_says_what_would_be_changed(world: World) -> None:  # B-C14
    two_sessions(world)
    start = world.clock.now()
    world.clock.advance(60)
    put(world, TEA, memory.read(world.services(), ALICE, TEA).body + "mine\n")
    before = snapshot(world)
    dry = [
        undo(world, "bad", dry_run=True),
        since(world, start, dry_run=True),
        back_to(world, 1, dry_run=True),
    ]
    assert snapshot(world) == before
    wet = undo(world, "bad")
    assert what(dry[0]) == what(wet)
    assert [each.diff for each in dry[0].changed] == [each.diff for each in wet.changed]
    assert "-- poison" in dry[0].changed[1].diff.split("\n")[-1] or any(
        row.startswith("-- poison") for row in dry[0].changed[1].diff.split("\n")
    )
    assert what(dry[1]) == [(TEA, "updated")]


def test_lines_that_were_changed_since_are_listed_and_stay(world: World) -> None:  # B-C14
    world.remember("s", "tea: green", "tea: with honey", "tea: from a glass")
    body = memory.read(world.services(), ALICE, TEA).body
    edited = body.replace("- green <", "- green, but weak <")
    adopted = "\n".join(row if "with honey" not in row else "- with honey" for row in edited.split("\n"))
    put(world, TEA, adopted)
    done = undo(world, "s")
    assert sorted((each.path, each.reason, each.text) for each in done.conflicts) == [
        (TEA, "adopted", "with honey"),
        (TEA, "edited", "green, but weak"),
    ]
    assert lines(world) == ["green, but weak"]
    assert "- with honey\n" in memory.read(world.services(), ALICE, TEA).body
    again = undo(world, "s")
    assert (what(again), len(again.conflicts)) == ([], 2)


def test_what_the_owner_wrote_keeps_the_file(world: World) -> None:
    world.remember("s", "tea: green")
    put(world, TEA, memory.read(world.services(), ALICE, TEA).body + "only mine\n")
    assert what(undo(world, "s")) == [(TEA, "updated")]
    assert lines(world) == []
    assert "only mine" in memory.read(world.services(), ALICE, TEA).body


def test_an_undone_session_does_not_come_back_by_a_retry_or_a_redelivery(world: World) -> None:  # B-C14
    two_sessions(world)
    requests = [m for m in world.merge_queue.sent if isinstance(m, MergeRequested)]
    undo(world, "bad")
    for key in [k for k in world.stored("memory_diff.json") if "/bad/" in k]:
        world.objects.delete(key)
    assert run_merge(world.services(), requests) == [None] * 3
    assert (lines(world), lines(world, "preferences/lie.md")) == (["green", "black"], None)
    world.remember("bad", "tea: white", ids="z")  # it goes on, and is remembered again
    assert sorted(lines(world) or ()) == ["black", "green", "white"]


@pytest.mark.parametrize("extracted", [False, True])
def test_what_is_still_to_be_merged_does_not_come(world: World, extracted: bool) -> None:  # B-C14
    world.append("s", "tea: green")
    world.commit("s")
    if extracted:
        world.extract_next()
    assert what(undo(world, "s")) == []
    world.settle()
    assert lines(world) is None
    assert world.head("s").completed == 1
    (diff,) = world.bodies("memory_diff.json").values()
    assert json.loads(diff)["rolled_back_at"] == "2026-01-01T00:00:00.000Z"


def test_a_failed_archive_that_is_retried_after_a_rollback_gives_nothing(world: World) -> None:
    world.append("s", "tea: green")
    world.commit("s")
    (delivery,) = world.extract_queue.receive(1)
    assert isinstance(delivery.message, ExtractRequested)
    outcome.fail(world.services(), delivery.message, "extract", "prose")
    world.extract_queue.done(delivery)
    undo(world, "s")
    task.retry(world.services(), ALICE, delivery.message.task_id)
    world.settle()
    assert lines(world) is None
    assert (world.head("s").completed, world.head("s").failed) == (1, ())


def test_a_merge_that_is_under_way_while_its_session_is_undone() -> None:  # B-C14
    for at in range(40):
        world = World()
        world.remember("good", "tea: green")
        world.append("bad", "tea: poison", "lie: cheese")
        world.commit("bad")
        world.extract_next()
        world.next(at, lambda world=world: undo(world, "bad"))  # type: ignore[misc]
        world.merge_next()
        fired = world.calls.trip is None
        world.mend()
        if not fired:
            undo(world, "bad")
        world.settle()
        assert (lines(world), lines(world, "preferences/lie.md")) == (["green"], None), f"call {at}"
        expect_index_like_files(world)
        if not fired:
            return
    raise AssertionError("a merge of so many calls")


def test_a_session_of_many_archives_in_pages(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(5):
        world.remember("s", f"tea: cup {n}", ids=f"m{n}.")
    monkeypatch.setattr(rollback, "ARCHIVES_AT_ONCE", 2)
    pages, after = [], ""
    while True:
        done = undo(world, "s", after=after)
        pages.append(done.archives)
        if done.next is None:
            break
        after = done.next
    assert pages == [["archive_001", "archive_002"], ["archive_003", "archive_004"], ["archive_005"]]
    assert lines(world) is None


def test_a_session_that_is_not_there(world: World) -> None:
    with pytest.raises(NotFound):
        undo(world, "none")


# ---- everything since


def test_everything_since_a_time(world: World) -> None:  # B-C14
    world.remember("a", "tea: green", "sport: rowing")
    put(world, "notes/mine.md", "one\n")
    start = world.clock.now()
    world.clock.advance(0.001)
    world.remember("b", "tea: black", "lie: cheese", ids="x")
    put(world, "notes/mine.md", "two\n")
    memory.delete(world.services(), ALICE, SPORT, anything)
    world.clock.advance(1)
    done = since(world, start)
    assert what(done) == [
        ("notes/mine.md", "updated"),
        ("preferences/lie.md", "deleted"),
        (SPORT, "added"),
        (TEA, "updated"),
    ]
    assert (lines(world), lines(world, SPORT)) == (["green"], ["rowing"])
    assert memory.read(world.services(), ALICE, "notes/mine.md").body == "one\n"
    assert told(world) == [([SPORT], ["notes/mine.md", TEA], ["preferences/lie.md"])]
    assert what(since(world, start)) == []
    expect_index_like_files(world)


def test_what_is_not_known_any_more_is_a_conflict(world: World) -> None:
    put(world, TEA, "one\n")
    start = world.clock.now()
    for text in ("two\n", "three\n"):
        world.clock.advance(60)
        put(world, TEA, text)
    world.objects.erase(world.objects.versions_below(ALICE.memory(TEA)).versions[2:])
    done = since(world, start)
    assert [(each.path, each.reason) for each in done.conflicts] == [(TEA, "not_kept")]
    assert memory.read(world.services(), ALICE, TEA).body == "three\n"


def test_many_memories_in_pages(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    start = world.clock.now()
    world.clock.advance(60)
    for n in range(5):
        put(world, f"notes/n{n}.md", "x\n")
    monkeypatch.setattr(rollback, "MEMORIES_AT_ONCE", 2)
    after, changed = "", []
    while True:
        done = since(world, start, after=after)
        changed += what(done)
        if done.next is None:
            break
        after = done.next
    assert changed == [(f"notes/n{n}.md", "deleted") for n in range(5)]


# ---- whatever dies

Act = Callable[[World], object]


def prepared() -> World:
    world = World()
    two_sessions(world)
    world.clock.advance(60)
    return world


ACTS: dict[str, tuple[Act, Any]] = {
    "memory": (lambda w: back_to(w, 1), (["green"], ["rowing"], ["the moon is cheese"])),
    "session": (lambda w: undo(w, "bad"), (["green", "black"], ["rowing"], None)),
    "since": (lambda w: since(w, w.clock.now().replace(year=2025)), (None, None, None)),
}


@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("name", ACTS)
def test_a_rollback_that_dies_anywhere_is_done_once(name: str, kind: str) -> None:  # B-C14 B-B17
    act, wanted = ACTS[name]
    calm = prepared()
    act(calm)
    for at in range(60):
        world = prepared()
        FAULTS[kind](world, at)
        run(world, act)
        fired = world.calls.trip is None
        world.mend()
        world.heal(3)
        found = tuple(lines(world, path) for path in (TEA, SPORT, "preferences/lie.md"))
        assert found == wanted, f"call {at}"
        for path in (TEA, SPORT, "preferences/lie.md"):
            assert world.writes(ALICE.memory(path)) == calm.writes(ALICE.memory(path)), f"call {at}"
        expect_index_like_files(world)
        assert world.rows("DUE#") == []
        assert {str(each) for each in told(world)} >= {str(each) for each in told(calm)}, f"call {at}"
        assert len(told(world)) <= (1 if name == "memory" else 2), f"call {at}"  # what was left is told again
        assert {event.id for event in world.bus.published} == {event["id"] for event in world.journal()}
        if not fired:
            assert told(world) == told(calm)
            return
    raise AssertionError("a rollback of so many calls")


def test_an_edit_in_between_loses_nothing() -> None:  # B-C10
    """The owner writes a line of their own at any call of a rollback of a session."""
    for at in range(60):
        world = prepared()

        def write(world: World = world) -> None:
            found = memory.read(world.services(), ALICE, TEA)
            with suppress(FailedPrecondition):
                memory.write(
                    world.services(),
                    ALICE,
                    TEA,
                    found.body + "mine\n",
                    memory.matching(found.sha256, absent=False),
                )

        world.next(at, write)
        undo(world, "bad")
        if world.calls.trip is not None:
            return
        body = memory.read(world.services(), ALICE, TEA).body
        assert ("mine" in body, "poison" in body) == (True, False), f"call {at}"
        expect_index_like_files(world)
    raise AssertionError("a rollback of so many calls")


# ---- what is not where it was said


def rename(world: World, old: str, new: str) -> None:
    MemoryTool(world.services(), ALICE).rename(f"/memories/{old}", f"/memories/{new}")


def test_what_was_moved_since_is_undone_where_it_is(world: World) -> None:
    world.remember("good", "tea: green")
    world.remember("bad", "tea: black")
    rename(world, TEA, "drinks.md")
    rename(world, "drinks.md", "hot.md")
    dry = undo(world, "bad", dry_run=True)
    assert what(dry) == what(undo(world, "bad")) == [("hot.md", "updated")]
    assert (lines(world, "hot.md"), lines(world)) == (["green"], None)
    assert what(undo(world, "bad")) == []
    assert what(undo(world, "good")) == [("hot.md", "deleted")]
    expect_index_like_files(world)


def test_what_a_deleted_session_said_is_undone(world: World) -> None:
    world.remember("good", "tea: green")
    world.remember("gone", "tea: black", "sport: rowing")
    put(world, "notes/n.md", "# Mine\n\nrowing\n")
    session.delete(world.services(), ALICE, "gone")
    world.settle()
    dry = undo(world, "gone", dry_run=True)
    assert lines(world) == ["black", "green"]
    assert what(dry) == what(undo(world, "gone")) == [(SPORT, "deleted"), (TEA, "updated")]
    assert (lines(world), lines(world, SPORT)) == (["green"], None)
    assert world.find("rowing black") == ["rowing"]  # the owner's
    with pytest.raises(NotFound):
        undo(world, "gone")
    expect_index_like_files(world)


def test_a_deleted_session_is_undone_in_pages(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollback, "MEMORIES_AT_ONCE", 1)
    world.remember("gone", "tea: black", "sport: rowing")
    session.delete(world.services(), ALICE, "gone")
    first = undo(world, "gone")
    assert (what(first), first.next) == ([(SPORT, "deleted")], SPORT)
    last = undo(world, "gone", after=SPORT)
    assert (what(last), last.next) == ([(TEA, "deleted")], None)
    assert what(undo(world, "gone", after=TEA)) == []


def test_another_users_deleted_session_is_not_there(world: World) -> None:  # B-A14
    world.remember("gone", "tea: black")
    session.delete(world.services(), ALICE, "gone")
    with pytest.raises(NotFound):
        rollback_session(world.services(), BOB, "gone", after="", dry_run=False)


DISHES = """\
{mode: upsert, fields: [{name: content}, {name: mood, merge: replace}], file: dishes.md, title: Dishes, instruction: x}
"""


@dataclass
class Cooks:
    """A message `mood: dish` is a line of dishes.md and sets its mood."""

    def extract(self, transcript: Transcript) -> Extraction:
        return Extraction(
            extractor="cooks/1",
            abstract="",
            overview="",
            proposals=tuple(map(self._proposal, transcript.turns)),
        )

    def _proposal(self, turn: Turn) -> Proposal:
        mood, _, dish = turn.text.partition(": ")
        at = {"seq_from": turn.seq, "seq_to": turn.seq}
        claim = Claim(text=dish, quote=dish, **at)
        setting = Setting(field="mood", value=mood, quote=turn.text, **at)
        return Proposal(memory_type="dishes", claims=(claim,), settings=(setting,))


def moods(world: World) -> list[str | int]:
    found = read_file(world.services(), ALICE, "dishes.md")
    return [value.value for value in found.values if value.field == "mood"] if found else []


def test_a_value_that_was_replaced_holds_again() -> None:
    world = World(model=Cooks())
    world.objects.put(ALICE.memory_type("dishes", "yaml"), DISHES.encode())
    for name, text in (("a", "glad: pasta"), ("b", "calm: bread"), ("c", "angry: stew")):
        world.clock.advance(60)
        world.remember(name, text)
    assert moods(world) == ["angry"]
    undo(world, "c")
    assert (moods(world), lines(world, "dishes.md")) == (["calm"], ["pasta", "bread"])
    undo(world, "a")
    assert moods(world) == ["calm"]
    undo(world, "b")
    assert read_file(world.services(), ALICE, "dishes.md") is None


def test_of_a_deleted_session_its_values_go_too_and_how_the_others_are_laid_out_stays() -> None:
    world = World(model=Cooks())
    world.objects.put(ALICE.memory_type("dishes", "yaml"), DISHES.encode())
    world.remember("a", "glad: pasta")
    world.clock.advance(60)
    world.remember("b", "calm: bread")
    laid_out = read_file(world.services(), ALICE, "dishes.md")
    session.delete(world.services(), ALICE, "b")
    undo(world, "b")
    left = read_file(world.services(), ALICE, "dishes.md")
    assert laid_out and left
    assert (moods(world), lines(world, "dishes.md")) == (
        ["glad"],
        ["pasta"],
    )  # what it had replaced holds again
    assert [v for v in left.values if v.field[0] == "_"] == [v for v in laid_out.values if v.field[0] == "_"]
    session.delete(world.services(), ALICE, "a")
    assert what(undo(world, "a")) == [("dishes.md", "deleted")]


def test_a_line_that_a_session_took_away_holds_again_without_it() -> None:
    world = World(model=Scripted())
    world.remember("a", "add|tea|green|")
    world.clock.advance(60)
    world.remember("b", "drop|tea|green|")

    def ends() -> list[bool]:
        found = read_file(world.services(), ALICE, TEA)
        return [line.closing is not None for line in found.lines] if found else []

    assert ends() == [True]
    undo(world, "b")
    assert ends() == [False]
