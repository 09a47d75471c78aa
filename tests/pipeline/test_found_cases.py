"""A conversation whose client names no task is learnt from when a model finds one in it; by its own words, once."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from strandline.domain.errors import ExtractionFailed
from strandline.domain.extraction import Extraction, Transcript, Usage
from strandline.domain.language_model.answer import read as answered
from strandline.domain.memory import Memory
from strandline.domain.message import MessageIn
from strandline.pipeline import memory, rebuild
from strandline.pipeline.append import AppendRequest, run_append
from strandline.pipeline.rollback import rollback_session
from strandline.pipeline.services import Rules
from strandline.storage.layout import Rebuild, User
from tests.pipeline.faults import FAULTS, run
from tests.pipeline.runs import ASKED, BAD, GOOD, learn
from tests.pipeline.runs import run as told
from tests.pipeline.world import ALICE, BOB, World

EXPERIENCE = "experiences/cancel-a-reservation.md"
CASE = {"name": "cancel", "task_signature": "Another kind"}


class Finder:
    """Finds what a test tells it in every archive; refuses as often as `failing` says. Remembers what it was shown."""

    def __init__(self, *cases: dict[str, Any], failing: int = 0) -> None:
        self.cases = cases
        self.failing = failing
        self.shown: list[tuple[str, ...] | None] = []

    def extract(self, transcript: Transcript) -> Extraction:
        self.shown.append(transcript.kinds)
        if self.failing:
            self.failing -= 1
            raise ExtractionFailed("the answer is prose")
        lists: dict[str, Any] = {kind.name: [] for kind in transcript.types}
        given = {"abstract": "A task.", **lists, "cases": list(self.cases)}
        return answered(given, transcript, "finder/1").model_copy(update={"usage": Usage(calls=1)})


def case(**fields: Any) -> dict[str, Any]:
    return {"kind": "Cancel a reservation", "request": ASKED, "seq": 1, "wanted": ["It is gone."], **fields}


@pytest.fixture
def world() -> World:
    return finding(case())


def finding(*cases: dict[str, Any], rules: Rules | None = None, failing: int = 0) -> World:
    world = World(rules)
    world.language_model = Finder(*cases, failing=failing)
    return world


def shown(world: World) -> list[tuple[str, ...] | None]:
    assert isinstance(world.language_model, Finder)
    return world.language_model.shown


def paths(world: World, kind: str, owner: User = ALICE) -> list[str]:
    return [path for path in memory.list_memories(world.services(), owner, "") if path.startswith(kind)]


def read(world: World, path: str) -> Memory:
    return memory.read(world.services(), ALICE, path)


def values(found: Memory) -> dict[str, Any]:
    return {value.field: value.value for value in found.values}


def test_an_ordinary_conversation_is_learnt_from(world: World) -> None:
    learn(world, "s", told(GOOD))
    (path,) = paths(world, "cases/")
    (trajectory,) = paths(world, "trajectories/")
    assert paths(world, "experiences/") == [EXPERIENCE]
    stored = values(read(world, path))
    assert {name: stored[name] for name in ("task_signature", "input", "rubric", "unknown")} == {
        "task_signature": "Cancel a reservation",
        "input": ASKED,
        "rubric": "It is gone.",
        "unknown": 1,
    }
    assert [line.text for line in read(world, path).lines] == [ASKED]
    assert values(read(world, trajectory))["outcome"] == "unknown"  # nobody has judged it
    assert [line.text for line in read(world, trajectory).lines] == [
        '`get_reservation` {"reservation_id": "EHGLP3"}: done',
        '`cancel_reservation` {"reservation_id": "EHGLP3"}: done',
    ]
    tasks = {row["task_type"]: row for row in world.rows("TASKS#")}
    assert tasks["session_commit"]["result"]["learn_task_id"] == tasks["session_learn"]["task_id"]


def test_no_task_found_is_nothing_learnt() -> None:  # B-E1
    world = finding()
    learn(world, "s", told(GOOD))
    assert shown(world) == [()]
    assert paths(world, "") == []
    assert world.stored("learned.json") == []


def test_a_conversation_that_names_its_task_has_it_from_there(world: World) -> None:
    learn(world, "s", told(GOOD, case=CASE, judged={"passed": True}))
    assert shown(world) == [None]
    assert paths(world, "experiences/") == ["experiences/another-kind.md"]
    assert paths(world, "cases/") == ["cases/cancel.md"]


@pytest.mark.parametrize(
    ("types", "learnt"), [(["profile"], False), (["cases"], False), (["experiences"], True), (None, True)]
)
def test_a_session_that_is_not_remembered_by_tasks_is_not_looked_through(
    world: World, types: list[str] | None, learnt: bool
) -> None:  # B-E2
    world.create("s", memory_policy={"memory_types": types})
    learn(world, "s", told(GOOD))
    assert shown(world) == [() if learnt else None]
    assert bool(paths(world, "experiences/")) is learnt


@pytest.mark.parametrize("first", [True, False])
def test_a_retry_looks_for_tasks_as_its_first_attempt_did(first: bool) -> None:
    world = finding(case(), rules=Rules(learning=first), failing=1)
    run_append(world.services(), AppendRequest(ALICE, "s", told(GOOD)))
    world.commit("s")
    with pytest.raises(ExtractionFailed):
        world.extract_next()
    world.rules = Rules(learning=not first)
    world.settle()
    assert shown(world) == [() if first else None] * 2
    assert bool(paths(world, "experiences/")) is first


def test_what_is_not_in_the_archive_is_no_task() -> None:
    world = finding(case(request="Please cancel everything."))
    learn(world, "s", told(GOOD))
    assert paths(world, "") == []
    (candidates,) = world.bodies("candidates.json").values()
    assert [row["reason"] for row in json.loads(candidates)["rejected"]] == [
        "its quote is not in the messages it cites"
    ]


def test_a_request_that_nobody_worked_on_is_no_task(world: World) -> None:
    learn(world, "s", told(GOOD)[:1])
    assert paths(world, "") == []


def test_each_task_has_its_own_messages() -> None:
    second = told(BAD, asked="Now cancel EHGLP, please.", ids="n")
    world = finding(case(), case(request="Now cancel EHGLP, please.", seq=7))
    learn(world, "s", [*told(GOOD), *second])
    steps = {
        values(read(world, path))["task"]: [line.text.split()[0] for line in read(world, path).lines]
        for path in paths(world, "trajectories/")
    }
    assert steps == {
        ASKED: ["`get_reservation`", "`cancel_reservation`"],
        "Now cancel EHGLP, please.": ["`cancel_reservation`"],
    }
    assert paths(world, "experiences/") == [EXPERIENCE]


def test_a_model_is_shown_the_kinds_of_task_of_its_own_user(world: World) -> None:
    learn(world, "s", told(GOOD), BOB)
    learn(world, "s", told(GOOD))
    learn(world, "t", told(GOOD))
    assert shown(world) == [(), (), ("Cancel a reservation",)]
    (path,) = paths(world, "cases/")  # the same request is the same case
    assert values(read(world, path))["unknown"] == 2


def test_only_the_stored_case_is_trained_on() -> None:  # B-E3
    world = finding(case())
    learn(world, "old", told(GOOD))
    world.language_model = Finder(case(kind="Another kind", wanted=[]))
    learn(world, "new", told(GOOD, at="2026-06-01T07:00:00Z"))
    assert paths(world, "experiences/") == [EXPERIENCE]
    assert len(paths(world, "trajectories/")) == 2


def test_a_case_that_its_owner_has_deleted_meanwhile_is_not_trained_on(world: World) -> None:
    run_append(world.services(), AppendRequest(ALICE, "s", told(GOOD)))
    world.commit("s")
    world.extract_next()
    world.merge_next()
    (path,) = paths(world, "cases/")
    memory.delete(world.services(), ALICE, path, lambda _: None)
    world.settle()
    assert paths(world, "") == []


# ---- once, whatever goes wrong


def asked(world: World) -> World:
    run_append(world.services(), AppendRequest(ALICE, "s", told(GOOD)))
    world.commit("s")
    return world


@pytest.mark.parametrize("kind", ["killed before", "no answer, done"])
def test_one_fault_while_it_is_found_leaves_the_same_files(kind: str) -> None:  # B-E5 B-B17
    """Of the stages behind it, `test_learn.py` has every call."""
    undisturbed = asked(finding(case()))
    before = len(undisturbed.calls.names)
    undisturbed.extract_next()
    calls = len(undisturbed.calls.names) - before
    undisturbed.settle()
    files = undisturbed.bodies("/memories/")
    assert len(files) == 3
    for at in range(calls):
        world = asked(finding(case()))
        FAULTS[kind](world, at)
        run(world, World.settle)
        run(world, World.heal)
        assert world.bodies("/memories/") == files, f"call {at}"
        assert {row["status"] for row in world.rows("TASKS#")} == {"completed"}, f"call {at}"


def rebuilt(world: World, *, again: bool) -> dict[str, bytes]:
    begun = rebuild.begin(world.services(), ALICE, rebuild.Wanted(again=again))
    while rebuild.go_on(world.services(), ALICE, begun.identity).status != "ready":
        world.settle()
    place = Rebuild(ALICE, begun.identity).memories
    return {key.removeprefix(place): body for key, body in world.bodies(place).items()}


@pytest.mark.parametrize("again", [False, True])
def test_a_rebuild_gives_the_same_files_whatever_a_model_finds_by_then(world: World, again: bool) -> None:
    learn(world, "s", told(GOOD))
    present = {key.removeprefix(ALICE.memories): body for key, body in world.bodies(ALICE.memories).items()}
    world.language_model = Finder(case(kind="Another kind", request="cancel my reservation"))
    assert rebuilt(world, again=again) == present
    assert shown(world) == ([None] if again else [])


def test_a_rollback_of_the_session_takes_all_of_it_back(world: World) -> None:
    learn(world, "s", told(GOOD))
    rollback_session(world.services(), ALICE, "s", after="", dry_run=False)
    assert paths(world, "") == []


def test_what_a_model_read_in_parts_is_one_conversation() -> None:
    """The request is in one part, the work in another."""

    def each(transcript: Transcript) -> list[dict[str, Any]]:
        return [case()] if transcript.turns[0].seq == 1 else []

    world = World(Rules(part_tokens=1))
    world.language_model = ByPart(each)
    learn(world, "s", told(GOOD))
    assert paths(world, "experiences/") == [EXPERIENCE]
    (trajectory,) = paths(world, "trajectories/")
    assert len(read(world, trajectory).lines) == 2


class ByPart(Finder):
    """Finds in each part what a function says of it."""

    def __init__(self, each: Callable[[Transcript], list[dict[str, Any]]]) -> None:
        super().__init__()
        self._each = each

    def extract(self, transcript: Transcript) -> Extraction:
        self.cases = tuple(self._each(transcript))
        return super().extract(transcript)


def test_a_peers_request_is_nobodys_task(world: World) -> None:  # B-C12
    rows = [message.model_dump(exclude_none=True) for message in told(GOOD)]
    rows[0]["peer_id"] = "bob"
    learn(world, "s", [MessageIn.model_validate(row) for row in rows])
    assert paths(world, "") == []
