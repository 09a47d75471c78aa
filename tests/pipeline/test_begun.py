"""A task that one archive names and a later one judges, as where a session is committed while its agent works."""

from collections.abc import Iterator
from typing import Any

import pytest

from strandline.domain.errors import Unavailable
from strandline.domain.learning.run import runs
from strandline.domain.memory import Memory
from strandline.domain.message import MessageIn
from strandline.pipeline import memory, task
from strandline.pipeline.append import AppendRequest, run_append
from strandline.pipeline.rollback import rollback_session
from strandline.pipeline.services import Rules
from tests.pipeline.faults import FAULTS
from tests.pipeline.faults import run as run_on
from tests.pipeline.models import Refusing
from tests.pipeline.runs import GOOD, learn, run
from tests.pipeline.world import ALICE, HEAL_SECONDS, World, counted

CASE = {"name": "cancel", "task_signature": "Cancel a reservation"}
PASSED = {"passed": True, "score": 1.0}
EXPERIENCE = "experiences/cancel-a-reservation.md"
WHOLE = run(GOOD, case=CASE, judged=PASSED)
"""Messages 1 to 7: asked; looked up (2, 3); cancelled (4, 5); said so; judged."""


def archived(world: World, *ends: int, messages: list[MessageIn] = WHOLE) -> None:
    """Commits the run in parts, each up to the message with that number."""
    begin = 0
    for end in ends:
        run_append(world.services(), AppendRequest(ALICE, "s", messages[begin:end]))
        world.commit("s")
        begin = end


def paths(world: World) -> list[str]:
    return list(memory.list_memories(world.services(), ALICE, ""))


def read(world: World, path: str) -> Memory:
    return memory.read(world.services(), ALICE, path)


def counts(found: Memory) -> dict[str, Any]:
    return {each.field: each.value for each in found.values if each.merge == "sum" and each.value}


def trajectories(world: World) -> Iterator[Memory]:
    yield from (read(world, path) for path in paths(world) if path.startswith("trajectories/"))


@pytest.mark.parametrize("ends", [(3, 7), (3, 5, 7), (3, 6, 7), (1, 2, 3, 4, 5, 6, 7)])
def test_a_run_that_is_judged_later_is_one_of_its_case(world: World, ends: tuple[int, ...]) -> None:
    archived(world, *ends)
    world.settle()

    assert [path for path in paths(world) if not path.startswith("trajectories/")] == [
        "cases/cancel.md",
        EXPERIENCE,
    ]
    unjudged = "unfinished" if ends[0] == 1 else "unknown"  # a question is open, a tool's answer is not
    assert counts(read(world, "cases/cancel.md")) == {unjudged: 1, "success": 1}
    judged = next(each for each in runs(read(world, EXPERIENCE).values) if each.succeeded)
    assert [call.tool for call in judged.calls] == ["get_reservation", "cancel_reservation"]


def test_each_archive_tells_what_was_done_in_it(world: World) -> None:
    archived(world, 3, 7)
    world.settle()
    told = sorted(
        [(line.source.archive, line.source.seq_from, line.text) for line in each.lines]
        for each in trajectories(world)
    )
    assert told == [
        [(1, 2, '`get_reservation` {"reservation_id": "EHGLP3"}: done')],
        [
            (2, 4, '`cancel_reservation` {"reservation_id": "EHGLP3"}: done'),
            (2, 7, "Judged: success, score 1"),
        ],
    ]


def test_it_waits_for_the_archive_that_names_it(world: World) -> None:
    archived(world, 3, 7)
    (late,) = world.extract_queue.receive(1)
    world.extract_next()
    world.merge_next()
    with pytest.raises(Unavailable, match="archive 1, which names the task, is not merged yet"):
        world.learn_next()
    world.extract_queue.back(late)
    world.settle()
    assert counts(read(world, "cases/cancel.md")) == {"unknown": 1, "success": 1}


def test_where_the_archive_that_names_it_has_failed_the_lesson_fails_and_can_be_repeated() -> None:
    world = World(Rules(max_receives=1, heal_seconds=HEAL_SECONDS), Refusing(times=1))
    archived(world, 3, 7)
    world.settle()
    failed = {row["task_id"]: row["error"] for row in world.rows("TASKS#") if row["status"] == "failed"}
    (lesson,) = (task_id for task_id in failed if task_id.endswith("-learn"))
    assert failed[lesson] == "archive 1, which names the task, has failed; retry that first"
    assert paths(world) == []
    for task_id in sorted(failed, key=lambda each: each == lesson):
        task.retry(world.services(), ALICE, task_id)
        world.settle()
    assert counts(read(world, "cases/cancel.md")) == {"unknown": 1, "success": 1}


def test_what_was_judged_in_its_archive_is_over(world: World) -> None:
    more = run(GOOD, asked="Please book a flight.", judged=PASSED, ids="n")
    archived(world, 7, 14, messages=[*WHOLE, *more])
    world.settle()
    assert counts(read(world, "cases/cancel.md")) == {"success": 1}
    assert [path[:20] for path in paths(world) if path.startswith("cases/")] == [
        "cases/cancel.md",
        "cases/please-book-a-",
    ]


def test_a_case_that_was_not_learnt_is_not_learnt_later() -> None:
    world = World(Rules(learning=False, heal_seconds=HEAL_SECONDS))
    archived(world, 3)
    world.settle()
    world.rules = Rules(learning=True, heal_seconds=HEAL_SECONDS)
    run_append(world.services(), AppendRequest(ALICE, "s", WHOLE[3:]))
    world.commit("s")
    world.settle()
    assert paths(world) == []


def test_what_it_taught_is_taken_back_with_its_session(world: World) -> None:
    archived(world, 3, 7)
    world.settle()
    rollback_session(world.services(), ALICE, "s", after="", dry_run=False)
    assert paths(world) == []


@pytest.mark.parametrize("extracted", [False, True])
def test_what_was_taken_back_is_not_learnt_afterwards(world: World, *, extracted: bool) -> None:
    """Another session's run keeps the case, and the archive that names the task is merged."""
    learn(world, "other", run(GOOD, case=CASE, judged=PASSED))
    archived(world, 3, 7)
    world.extract_next()
    world.merge_next()
    world.learn_next()
    if extracted:
        world.extract_next()
        world.merge_next()
    rollback_session(world.services(), ALICE, "s", after="", dry_run=False)
    world.settle()
    assert counts(read(world, "cases/cancel.md")) == {"success": 1}
    assert counts(read(world, EXPERIENCE)) == {"success": 1}
    assert [each.title for each in trajectories(world)] == ["cancel: other"]


@pytest.mark.parametrize(("second", "lists"), [(7, 1), (6, 2)])
def test_only_an_archive_that_judges_what_it_does_not_name_looks_at_others(
    world: World, second: int, lists: int
) -> None:
    """One LIST beside that of the working memories."""
    other = run(GOOD, case={**CASE, "name": "other"}, judged=PASSED, ids="n")
    archived(world, second, 14, messages=[*WHOLE, *other])
    world.extract_next()
    _, asked = counted(world, world.extract_next)
    assert asked["objects.list"] == lists


@pytest.mark.parametrize("kind", FAULTS)
def test_one_fault_anywhere_leaves_the_same_files(kind: str) -> None:
    undisturbed = World(Rules(heal_seconds=HEAL_SECONDS))
    archived(undisturbed, 3, 7)
    _, calls = counted(undisturbed, undisturbed.settle)
    files = undisturbed.bodies("/memories/")
    for at in range(0, sum(calls.values()), 3):
        world = World(Rules(heal_seconds=HEAL_SECONDS))
        archived(world, 3, 7)
        FAULTS[kind](world, at)
        run_on(world, World.settle)
        run_on(world, World.heal)
        assert world.bodies("/memories/") == files, f"call {at}"
        assert {row["status"] for row in world.rows("TASKS#")} == {"completed"}, f"call {at}"
