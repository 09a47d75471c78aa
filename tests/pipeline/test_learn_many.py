"""A case that is run very often: its files keep the newest runs only, and nothing of the others is lost or left."""

import pytest

from strandline.domain.learning import newest
from strandline.domain.memory import Memory
from strandline.pipeline import memory
from strandline.pipeline.experience import outcomes, trajectories
from strandline.pipeline.rollback import rollback_session
from tests.pipeline.runs import GOOD, learn
from tests.pipeline.runs import run as told
from tests.pipeline.world import ALICE, World

CASE = {"name": "cancel", "task_signature": "Cancel a reservation"}
EXPERIENCE = "experiences/cancel-a-reservation.md"
EVER = ("0001-01-01", "9999-12-31")
RUNS = 5


@pytest.fixture
def often(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """Five runs, the newest two of which are kept."""
    monkeypatch.setattr(newest, "LINKS", 2)
    monkeypatch.setattr(newest, "LINES", 2)
    for n in range(RUNS):
        at = f"2026-05-0{n + 1}T07:00:00Z"
        learn(
            world,
            f"s{n}",
            told(GOOD, asked=f"Cancel {n}.", case=CASE, judged={"passed": True}, at=at, ids="m"),
        )
    return world


def read(world: World, path: str) -> Memory:
    return memory.read(world.services(), ALICE, path)


def runs_of(found: Memory) -> list[str]:
    """The sessions of the trajectories that a memory has a link to."""
    linked = [link.path for link in found.links if link.path.startswith("trajectories/")]
    return sorted(path.rsplit("-", 2)[1] for path in linked)


def all_runs(world: World) -> list[str]:
    paths = memory.list_memories(world.services(), ALICE, "trajectories/")
    return sorted(paths)


def test_the_newest_runs_stand_in_the_files_and_all_are_counted_and_listed(often: World) -> None:
    case, experience = read(often, "cases/cancel.md"), read(often, EXPERIENCE)
    assert runs_of(case) == runs_of(experience) == ["s3", "s4"]
    assert [line.text for line in case.lines] == ["Cancel 3.", "Cancel 4."]
    assert outcomes(often.services(), ALICE, EXPERIENCE).learned["success"] == RUNS
    listed, total = trajectories(often.services(), ALICE, EXPERIENCE, EVER, slice(0, 10))
    assert total == RUNS
    assert sorted(each.path for each in listed) == all_runs(often)


def test_every_trajectory_has_its_case_and_its_experience(often: World) -> None:  # B-E5
    for path in all_runs(often):
        ends = {link.path for link in read(often, path).links}
        assert ends == {"cases/cancel.md", EXPERIENCE}


def test_a_deleted_experience_is_linked_by_no_run(often: World) -> None:
    memory.delete(often.services(), ALICE, EXPERIENCE, memory.anything)
    often.heal()
    for path in all_runs(often):
        assert [link.path for link in read(often, path).links] == ["cases/cancel.md"]
    assert [link.path for link in read(often, "cases/cancel.md").links if "experiences" in link.path] == []


@pytest.mark.parametrize("gone", ["s0", "s4"])
def test_a_run_that_is_taken_back_is_listed_no_more(often: World, gone: str) -> None:
    rollback_session(often.services(), ALICE, gone, after="", dry_run=False)
    assert len(all_runs(often)) == RUNS - 1
    _, total = trajectories(often.services(), ALICE, EXPERIENCE, EVER, slice(0, 10))
    assert total == RUNS - 1
    assert outcomes(often.services(), ALICE, EXPERIENCE).learned["success"] == RUNS - 1
    there = set(all_runs(often))
    for path in ("cases/cancel.md", EXPERIENCE):
        linked = {link.path for link in read(often, path).links if link.path.startswith("trajectories/")}
        assert linked <= there
