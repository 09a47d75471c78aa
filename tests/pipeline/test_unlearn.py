"""What a session has taught is taken back with it: once, whether the session is still there or not."""

from contextlib import nullcontext, suppress

import pytest

from strandline.domain.errors import NotFound
from strandline.pipeline import memory
from strandline.pipeline.append import AppendRequest, run_append
from strandline.pipeline.rollback import rollback_session
from strandline.pipeline.usage import UsageReport, run_usage
from tests.pipeline.faults import FAULTS, run
from tests.pipeline.runs import BAD, GOOD, learn
from tests.pipeline.runs import run as told
from tests.pipeline.test_learn import CASE, EXPERIENCE, MISSED, PASSED, expect_lineage, paths, read, values
from tests.pipeline.world import ALICE, World, counted

BOOK = {"name": "book", "task_signature": "Book a flight"}


def _taught() -> World:
    """One run that stays, and session "gone": two tasks, of which one had read the experience."""
    world = World()
    learn(world, "good", told(GOOD, case=CASE, judged=PASSED))
    learn(world, "bad", told(BAD, case=CASE, judged=MISSED))
    first = told(BAD, case=CASE, judged=MISSED, asked="Cancel it!", at="2026-05-01T07:00:00Z")
    second = told([], case=BOOK, judged=PASSED, asked="Book it!", ids="n")
    run_append(world.services(), AppendRequest(ALICE, "gone", first[:1]))
    run_usage(world.services(), UsageReport(ALICE, "gone", [EXPERIENCE]))
    run_append(world.services(), AppendRequest(ALICE, "gone", [*first[1:], *second]))
    world.commit("gone")
    world.settle()
    return world


def _files(world: World) -> dict[str, str]:
    return {path: read(world, path).body for path in paths(world, "")}


def _back(world: World, name: str = "gone") -> None:
    rollback_session(world.services(), ALICE, name, after="", dry_run=False)


def _back_or_done(world: World) -> None:
    """Of a deleted session that nothing cites any more there is nothing to take back."""
    with suppress(NotFound):
        _back(world)


def test_what_a_deleted_session_taught_is_taken_back_as_a_living_one_s() -> None:  # B-C14
    living, deleted = _taught(), _taught()
    before = _files(living)
    counts = values(read(living, EXPERIENCE))
    assert (counts["failure"], counts["used_failure"]) == (2, 1)
    assert "cases/book.md" in before and "experiences/book-a-flight.md" in before
    assert len([path for path in before if path.startswith("trajectories/")]) == 4

    _back(living)
    deleted.delete("gone")
    deleted.settle()
    _back(deleted)

    assert _files(deleted) == _files(living)
    assert set(_files(living)) == {path for path in before if "book" not in path and "-gone-" not in path}
    counts = values(read(deleted, EXPERIENCE))
    assert (counts["success"], counts["failure"]) == (1, 1)
    assert not [name for name in counts if name.startswith("used_")]
    expect_lineage(deleted)


@pytest.mark.parametrize("delete", [False, True])
def test_taken_back_twice_takes_nothing_of_others(delete: bool) -> None:  # B-C14
    world = _taught()
    if delete:
        world.delete("gone")
        world.settle()
    _back(world)
    once = _files(world)
    with pytest.raises(NotFound) if delete else nullcontext():  # nothing cites a deleted session any more
        _back(world)
    assert _files(world) == once
    assert "Runs: 1 success, 1 failure, 0 partial" in once["cases/cancel.md"]


@pytest.mark.parametrize("kind", FAULTS)
def test_a_rollback_of_a_deleted_session_that_dies_is_repeated(kind: str) -> None:  # B-B17
    whole = _taught()
    whole.delete("gone")
    whole.settle()
    _, calls = counted(whole, lambda: _back(whole))
    for at in range(0, sum(calls.values()), 3):
        world = _taught()
        world.delete("gone")
        world.settle()
        FAULTS[kind](world, at)
        run(world, _back_or_done)
        world.mend()
        _back_or_done(world)
        world.heal()
        assert _files(world) == _files(whole), f"call {at}"


def test_counts_of_before_a_deletion_are_not_taken_off_those_after_it() -> None:
    world = World()
    learn(world, "bad", told(BAD, case=CASE, judged=MISSED))
    memory.delete(world.services(), ALICE, "cases/cancel.md", lambda _: None)
    learn(world, "worse", told(BAD, case=CASE, judged=MISSED, ids="n"))
    assert values(read(world, "cases/cancel.md"))["failure"] == 1
    _back(world, "bad")
    assert values(read(world, "cases/cancel.md"))["failure"] == 1
    _back(world, "worse")
    assert paths(world, "") == []
