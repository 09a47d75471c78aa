"""as_of: lists, reads and searches of an earlier time answer what they answered then."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strandline.domain.errors import FailedPrecondition, InvalidArgument, NotFound, StrandlineError
from strandline.domain.times import parse, stamp
from strandline.pipeline import memory, past
from strandline.pipeline.past import catalogue_at, read_at, read_version
from strandline.pipeline.search import Query, search_past
from strandline.ports import Version
from tests.pipeline.world import ALICE, World, counted

TEA = "preferences/tea.md"
QUERY = "green tea glass black rowing Sundays honey"

anything = memory.matching(None, absent=False)


def put(world: World, path: str, text: str) -> None:
    memory.write(world.services(), ALICE, path, text, anything)


def remove(world: World, path: str) -> None:
    with suppress(NotFound):
        memory.delete(world.services(), ALICE, path, anything)


@dataclass(frozen=True)
class Seen:
    """Everything that could be seen at a time."""

    at: datetime
    listed: Any
    read: Any
    found: Any


def hits(found: list[Any]) -> list[Any]:
    """What is found and how it counts by its words; what the messages of now add is not of that time."""
    own = {hit.document.id: hit.score - hit.explain.get("said", 0.0) for hit in found}
    return sorted(
        ((hit.document.id, hit.document.text, pytest.approx(own[hit.document.id])) for hit in found),
        key=itemgetter(0),
    )


def look(world: World) -> Seen:
    """What there is now."""
    services = world.services()
    listed = dict(memory.list_memories(services, ALICE, ""))
    read = {path: memory.read(services, ALICE, path) for path in listed}
    found, _ = search_past(services, ALICE, Query(QUERY, limit=50))
    return Seen(world.clock.now(), listed, read, hits(found))


def look_back(world: World, at: datetime) -> Seen:
    """What there was."""
    services = world.services()
    listed = dict(memory.unexpired(catalogue_at(services, ALICE, at).catalogue, stamp(at)))
    read = {path: read_at(services, ALICE, path, at) for path in listed}
    found, lost = search_past(services, ALICE, Query(QUERY, limit=50, as_of=at))
    assert lost == 0
    return Seen(at, listed, read, hits(found))


STEPS: tuple[Callable[[World], object], ...] = (
    lambda w: w.remember("a", "tea: I like green tea", "sport: rowing on Sundays"),
    lambda w: put(w, TEA, "# Tea\n\nblack, from a glass\n"),
    lambda w: w.remember("b", "tea: with honey"),
    lambda w: remove(w, TEA),
    lambda w: w.remember("c", "tea: black after all"),
    lambda w: put(w, "notes/green.md", "---\nexpires_at: 2026-01-01T00:00:20Z\n---\n\ngreen\n"),
    lambda w: remove(w, "preferences/sport.md"),
)


@pytest.mark.parametrize("pause", [0.001, 0.25, 0.999, 1, 7, 3600])
def test_everything_that_was_seen_is_seen_again(pause: float) -> None:  # B-C14
    world = World()
    world.clock.advance(0.5)
    seen = [look(world)]
    for step in STEPS:
        world.clock.advance(pause)
        step(world)
        seen.append(look(world))
    for then in seen:
        assert look_back(world, then.at) == then
        if pause > 0.001:  # and until just before the next step
            assert (
                look_back(world, then.at + timedelta(seconds=pause - 0.001)).listed.keys()
                <= then.listed.keys()
            )


CHANGES = st.sampled_from(range(len(STEPS)))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(CHANGES, st.sampled_from([0.001, 0.4, 1.0, 15.0])), min_size=1, max_size=9))
def test_whatever_was_done_in_whatever_order(steps: list[tuple[int, float]]) -> None:  # B-C14
    world = World()
    seen = []
    for number, (step, pause) in enumerate(steps):
        world.clock.advance(pause)
        if step in (0, 2, 4):
            world.remember(f"s{number}", f"tea: cup {number} of green tea", "sport: rowing")
        else:
            STEPS[step](world)
        seen.append(look(world))
    for then in seen:
        assert look_back(world, then.at) == then


def test_two_writes_in_one_second_are_told_apart(world: World) -> None:
    """S3 says when in whole seconds; the milliseconds are the writer's."""
    put(world, TEA, "one\n")
    first = world.clock.now()
    world.clock.advance(0.001)
    put(world, TEA, "two\n")
    second = world.clock.now()
    assert stamp(first)[:19] == stamp(second)[:19]
    assert read_at(world.services(), ALICE, TEA, first).body == "one\n"
    assert read_at(world.services(), ALICE, TEA, second).body == "two\n"
    with pytest.raises(NotFound):
        read_at(world.services(), ALICE, TEA, first - timedelta(milliseconds=1))


def test_a_merge_is_dated_by_when_it_was_merged_not_by_what_was_said(world: World) -> None:
    before = world.clock.now()
    world.clock.advance(86_400)
    world.remember("s", "tea: I like green tea")
    found = memory.read(world.services(), ALICE, TEA)
    assert found.updated_at == "2026-01-02T00:00:00.000Z"
    with pytest.raises(NotFound):
        read_at(world.services(), ALICE, TEA, before)
    assert read_at(world.services(), ALICE, TEA, world.clock.now()).body == found.body


def test_what_had_expired_then_and_what_has_expired_since(world: World) -> None:
    put(world, "notes/a.md", "---\nexpires_at: 2026-01-01T00:01:00Z\n---\n\nglass\n")
    start = world.clock.now()
    world.clock.advance(60)
    assert "notes/a.md" in look_back(world, start).listed
    assert look_back(world, start).found != []
    assert look(world).listed == {}
    with pytest.raises(NotFound):
        read_at(world.services(), ALICE, "notes/a.md", world.clock.now())


def test_versions_by_number(world: World) -> None:
    for text in ("one", "two", "three"):
        put(world, TEA, f"{text}\n")
    remove(world, TEA)
    put(world, TEA, "five\n")
    read = [read_version(world.services(), ALICE, TEA, n).body for n in (1, 2, 3, 5)]
    assert read == ["one\n", "two\n", "three\n", "five\n"]
    for number in (4, 6):  # a gravestone, and none
        with pytest.raises(NotFound):
            read_version(world.services(), ALICE, TEA, number)
    with pytest.raises(NotFound):
        read_version(world.services(), ALICE, "notes/none.md", 1)


def forget_old(world: World, keep: int) -> None:
    """What the bucket's lifecycle does: all but the newest versions of the memory go."""
    listed = world._quiet(lambda: world.objects.versions_below(ALICE.memory(TEA))).versions
    world._quiet(lambda: world.objects.erase(listed[keep:]))


def test_what_is_not_kept_any_more_is_counted_never_guessed(world: World) -> None:
    put(world, "notes/other.md", "glass\n")
    put(world, TEA, "one\n")
    early = world.clock.now()
    world.clock.advance(100)
    put(world, TEA, "two\n")
    late = world.clock.now()
    world.clock.advance(100)
    put(world, TEA, "three\n")
    forget_old(world, keep=2)

    assert read_at(world.services(), ALICE, TEA, late).body == "two\n"
    with pytest.raises(NotFound) as refused:
        read_at(world.services(), ALICE, TEA, early)
    assert refused.value.details["kept_since"] == stamp(late)
    found = catalogue_at(world.services(), ALICE, early)
    assert (list(found.catalogue.files), list(found.not_kept)) == (["notes/other.md"], [TEA])
    assert search_past(world.services(), ALICE, Query("one two glass", as_of=early))[1] == 1


def test_what_began_later_is_not_taken_for_forgotten(world: World) -> None:
    early = world.clock.now()
    world.clock.advance(100)
    put(world, TEA, "one\n")
    world.remember("s", "sport: rowing")
    assert catalogue_at(world.services(), ALICE, early).not_kept == []
    with pytest.raises(NotFound) as refused:
        read_at(world.services(), ALICE, TEA, early)
    assert "kept_since" not in refused.value.details


def test_a_clock_that_is_wrong_does_not_move_the_past(world: World) -> None:
    """Where the writer's time cannot be true, S3's counts: here it is a day fast."""
    put(world, TEA, "one\n")
    world.clock.advance(10)
    found = world._quiet(lambda: world.objects.get(ALICE.memory(TEA)))
    assert found is not None
    world.objects.put(
        ALICE.memory(TEA), found.body.replace(b"one", b"two"), meta={"written-at": "2026-01-02T00:00:00.000Z"}
    )
    assert read_at(world.services(), ALICE, TEA, parse("2026-01-01T00:00:10.000Z")).body == "two\n"
    assert read_at(world.services(), ALICE, TEA, parse("2026-01-01T00:00:09.999Z")).body == "one\n"


@pytest.mark.parametrize("meta", [{}, {"written-at": "yesterday"}, {"written-at": "2026-01-01T00:00:10"}])
def test_a_file_put_there_by_hand_has_the_bucket_s_time(world: World, meta: dict[str, str]) -> None:
    world.clock.advance(10.4)
    world.objects.put(ALICE.memory(TEA), b"by hand\n", meta=meta)
    assert read_at(world.services(), ALICE, TEA, parse("2026-01-01T00:00:10.000Z")).body == "by hand\n"
    with pytest.raises(NotFound):
        read_at(world.services(), ALICE, TEA, parse("2026-01-01T00:00:09.000Z"))


def test_a_delete_marker_of_the_bucket_s_own(world: World) -> None:
    put(world, TEA, "one\n")
    world.clock.advance(10)
    world.objects.delete(ALICE.memory(TEA))
    gone = world.clock.now()
    world.clock.advance(10)
    put(world, TEA, "two\n")
    with pytest.raises(NotFound):
        read_at(world.services(), ALICE, TEA, gone)
    assert list(catalogue_at(world.services(), ALICE, gone).catalogue.files) == []


def test_messages_are_not_searched_as_they_were(world: World) -> None:
    query = Query("tea", context_type="message", as_of=datetime(2025, 1, 1, tzinfo=UTC))
    with pytest.raises(InvalidArgument):
        search_past(world.services(), ALICE, query)


def test_what_it_costs(world: World) -> None:
    """One listing for each thousand versions; one GET for each memory that has changed since."""
    for n in range(20):
        put(world, f"notes/n{n}.md", f"glass {n}\n")
    world.clock.advance(60)
    then = world.clock.now()
    world.clock.advance(60)
    for n in range(3):
        put(world, f"notes/n{n}.md", "green\n")
    _, calls = counted(world, lambda: catalogue_at(world.services(), ALICE, then))
    assert calls == {"objects.get": 1, "objects.versions_below": 1, "objects.get_version": 3}
    _, calls = counted(world, lambda: read_at(world.services(), ALICE, "notes/n0.md", then))
    assert calls == {"objects.versions": 1, "objects.get_version": 1}


def test_too_much_has_changed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    then = world.clock.now()
    world.clock.advance(60)
    for n in range(3):
        put(world, f"notes/n{n}.md", "glass\n")
    monkeypatch.setattr(past, "MAX_CHANGED", 2)
    with pytest.raises(FailedPrecondition) as refused:
        catalogue_at(world.services(), ALICE, then)
    assert refused.value.details == {"changed": 3}


def test_a_bucket_that_is_silent(world: World) -> None:
    from strandline.ports import Ambiguous

    put(world, TEA, "one\n")
    for operation in ("versions", "versions_below", "get_version"):
        world.objects.faults.before(operation, Ambiguous("down"))
    then = world.clock.now()
    world.clock.advance(5)
    put(world, TEA, "two\n")
    for ask in (
        lambda: read_at(world.services(), ALICE, TEA, then),
        lambda: catalogue_at(world.services(), ALICE, then),
    ):
        with pytest.raises(StrandlineError) as refused:
            ask()
        assert refused.value.retryable


def test_versions_are_ordered_by_the_bucket() -> None:
    from strandline.storage.revisions import newest_first

    at = datetime(2026, 1, 1, tzinfo=UTC)
    two = Version("k", "2", deleted=False, latest=False, at=at)
    one = Version("k", "1", deleted=False, latest=False, at=at)
    marker = Version("k", "3", deleted=True, latest=True, at=at)
    assert [v.version_id for v in newest_first([two, one, marker])] == ["3", "2", "1"]
