"""Experiences that stand to one another: related by their requests, superseded, and what a reader is shown of both."""

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import pytest

from strandline.domain.extraction import Usage
from strandline.domain.learning.insight import Attempt, Insight
from strandline.domain.learning.standing import related, superseded_by, supersedes
from strandline.domain.memory import Memory
from strandline.pipeline import memory, rebuild
from strandline.pipeline.append import AppendRequest, run_append
from strandline.pipeline.block import Wanted, memory_block
from strandline.pipeline.experience import Shown, read_experience, search_experience
from strandline.pipeline.memory_tool import MemoryTool
from strandline.pipeline.rollback import rollback_session
from strandline.storage.layout import Rebuild
from tests.pipeline.faults import FAULTS, run
from tests.pipeline.runs import BAD, GOOD, Calls, learn
from tests.pipeline.runs import run as told
from tests.pipeline.world import ALICE, World

PASSED = {"passed": True, "score": 1.0}
MISSED = {"passed": False, "score": 0.0, "feedback": "nothing was cancelled"}
ONE = "Hi! Please cancel my economy flight from Boston to Denver on May 20, I have fallen ill."
OTHER = "I have fallen ill and want to cancel the economy flight on May 20 from Boston to Denver."
UNLIKE = "Hi! Please book me an economy flight from Oslo to Paris on June 2, I will visit my sister."
DAYS = tuple(f"2026-05-{day:02d}T07:00:00Z" for day in range(8, 20))


def teach(
    world: World,
    session: str,
    asked: str,
    day: int,
    *,
    calls: Calls = GOOD,
    judged: Any = PASSED,
    **case: Any,
) -> None:
    learn(world, session, told(calls, asked=asked, case=case or None, judged=judged, at=DAYS[day]))


def experiences(world: World) -> dict[str, Memory]:
    paths = memory.list_memories(world.services(), ALICE, "experiences/")
    return {path: memory.read(world.services(), ALICE, path) for path in paths}


def of(world: World, begins: str) -> str:
    """The path of the one experience whose name begins so."""
    (path,) = [path for path in experiences(world) if path.startswith(f"experiences/{begins}")]
    return path


def shown(world: World, path: str) -> Shown:
    return read_experience(world.services(), ALICE, path)


def expect_both_ways(world: World) -> None:
    """Every link leads somewhere, and stands there too."""
    paths = memory.list_memories(world.services(), ALICE, "")
    links = {path: set(memory.read(world.services(), ALICE, path).links) for path in paths}
    for path, found in links.items():
        for link in found:
            assert link.other_end(path) in links[link.path], (path, link)


def taught(order: Sequence[int] = (0, 1, 2)) -> World:
    """Two runs of one request in two wordings, and one of another, learnt in this order."""
    world = World()
    runs = (("one", ONE, BAD, MISSED), ("other", OTHER, GOOD, PASSED), ("unlike", UNLIKE, GOOD, PASSED))
    for n in order:
        session, asked, calls, judged = runs[n]
        teach(world, session, asked, n, calls=calls, judged=judged)
    return world


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_what_asks_the_same_is_related_and_read_together_in_any_order(order: Sequence[int]) -> None:
    world = taught(order)
    one, other, unlike = (
        of(world, begins) for begins in ("hi-please-cancel", "i-have-fallen", "hi-please-book")
    )
    found = experiences(world)
    assert [related(found[path]) for path in (one, other, unlike)] == [[other], [one], []]
    expect_both_ways(world)
    read = shown(world, one)
    assert read.related == [other]
    assert read.confidence == 0.6
    assert "Confidence: 0.60 (runs remembered: 1 success, 1 failure)" in read.text
    assert "- Call `get_reservation` (reservation_id)." in read.text
    assert "- Remarked of a run that ended in failure: nothing was cancelled" in read.text
    assert "No run has succeeded yet." in found[one].body  # the file tells of its own runs


@pytest.mark.parametrize("gone", ["one", "other"])
def test_a_rollback_takes_the_relation_back(gone: str) -> None:
    world = taught()
    rollback_session(world.services(), ALICE, gone, after="", dry_run=False)
    (left,) = [path for path in experiences(world) if "book" not in path]
    assert related(memory.read(world.services(), ALICE, left)) == []
    assert shown(world, left).related == []
    expect_both_ways(world)


def test_of_a_deleted_session_the_relation_is_taken_back_too() -> None:
    world = taught()
    teach(world, "again", ONE, 4)
    before = of(world, "hi-please-cancel")
    world.delete("other")
    world.heal(40)
    assert shown(world, before).related == [of(world, "i-have-fallen")]
    rollback_session(world.services(), ALICE, "other", after="", dry_run=False)
    assert [path for path in experiences(world) if "fallen" in path] == []
    assert related(memory.read(world.services(), ALICE, before)) == []
    expect_both_ways(world)


def test_a_rebuild_relates_the_same() -> None:
    world = taught((2, 1, 0))
    services = world.services()
    begun = rebuild.begin(services, ALICE, rebuild.Wanted())
    while rebuild.go_on(services, ALICE, begun.identity).status != "ready":
        pass
    place = Rebuild(ALICE, begun.identity).memories
    shadow = {key.removeprefix(place): body for key, body in world.bodies(place).items()}
    present = {key.removeprefix(ALICE.memories): body for key, body in world.bodies(ALICE.memories).items()}
    assert shadow == present


def test_kinds_that_somebody_has_told_apart_are_not_related(world: World) -> None:
    teach(world, "one", ONE, 0, name="a", task_signature="Cancel for illness")
    teach(world, "other", OTHER, 1, name="b", task_signature="Cancel a flight")
    assert [related(found) for found in experiences(world).values()] == [[], []]


def test_one_that_is_deleted_is_related_to_nothing(world: World) -> None:
    teach(world, "one", ONE, 0)
    teach(world, "other", OTHER, 1)
    memory.delete(world.services(), ALICE, of(world, "i-have-fallen"), memory.anything)
    world.heal()
    assert shown(world, of(world, "hi-please-cancel")).related == []
    expect_both_ways(world)


def test_one_that_has_expired_is_not_read(world: World) -> None:
    teach(world, "one", ONE, 0)
    world.create("other", memory_policy={"ttl_seconds": 60})
    teach(world, "other", OTHER, 1)
    one = of(world, "hi-please-cancel")
    assert len(shown(world, one).related) == 1
    world.clock.advance(61)
    assert shown(world, one).related == []


def test_one_is_related_to_twenty_at_most(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strandline.pipeline.related.MAX_RELATED", 2)
    for n, word in enumerate(("today", "now", "please", "thanks", "soon")):
        teach(world, f"s{n}", f"{ONE} {word}", n)
    assert max(len(related(found)) for found in experiences(world).values()) == 2
    expect_both_ways(world)


def _asked(world: World) -> None:
    """All but the lesson of a run that is related to one experience, and whose case has left another."""
    teach(world, "one", ONE, 0)
    teach(world, "early", UNLIKE, 1, **CASE)
    both = told(GOOD, asked=OTHER, judged=PASSED, at=DAYS[2])
    moved = told(GOOD, asked=UNLIKE, case={**CASE, "task_signature": "Book a flight"}, at=DAYS[3], ids="n")
    rows = [
        both[0].model_copy(update={"metadata": {"case": {"name": "ill"}}}),
        *both[1:],
        *moved,
    ]
    run_append(world.services(), AppendRequest(ALICE, "last", rows))
    world.commit("last")
    world.extract_next()
    world.merge_next()


def test_a_lesson_that_dies_leaves_the_same_relations_on_both_sides() -> None:
    calm = World()
    _asked(calm)
    before = len(calm.calls.names)
    calm.settle()
    files = calm.bodies("/memories/")
    assert any(related(found) for found in experiences(calm).values())
    assert any(supersedes(found) for found in experiences(calm).values())
    for at in range(0, len(calm.calls.names) - before, 2):
        world = World()
        _asked(world)
        FAULTS["killed after"](world, at)
        run(world, World.settle)
        run(world, World.heal)
        assert world.bodies("/memories/") == files, f"call {at}"


# ---- what takes the place of what


CASE = {"name": "cancel"}
BEFORE, NOW = "experiences/cancel.md", "experiences/cancel-a-flight.md"


def of_a_kind_later(world: World) -> None:
    """A case without a kind, of which a later conversation says one."""
    teach(world, "early", ONE, 0, calls=BAD, judged=MISSED, **CASE)
    teach(world, "late", ONE, 1, **CASE, task_signature="Cancel a flight")


def offered(world: World, query: str = ONE) -> list[str]:
    found = search_experience(world.services(), ALICE, query, 10)
    return [gist.path for case in found for gist in case.experiences]


def test_the_experience_that_a_case_has_left_is_superseded(world: World) -> None:
    of_a_kind_later(world)
    found = experiences(world)
    assert (superseded_by(found[BEFORE]), supersedes(found[NOW])) == ([NOW], [BEFORE])
    assert offered(world) == [NOW]
    assert shown(world, BEFORE).superseded_by == [NOW]
    assert "No run has succeeded yet." in shown(world, BEFORE).text
    read = shown(world, NOW)
    assert read.confidence == 0.6
    assert "nothing was cancelled" in read.text
    expect_both_ways(world)


def test_a_prompt_is_not_given_what_is_superseded(world: World) -> None:
    teach(world, "early", ONE, 0, **CASE)
    wanted = Wanted(ONE, types=frozenset({"experiences"}))
    assert BEFORE in [taken.best.path for taken in memory_block(world.services(), ALICE, wanted).taken]
    teach(world, "late", ONE, 1, **CASE, task_signature="Cancel a flight")
    assert [taken.best.path for taken in memory_block(world.services(), ALICE, wanted).taken] == [NOW]


def test_it_comes_back_when_what_superseded_it_is_taken_back(world: World) -> None:
    of_a_kind_later(world)
    rollback_session(world.services(), ALICE, "late", after="", dry_run=False)
    assert list(experiences(world)) == [BEFORE]
    assert shown(world, BEFORE).superseded_by == []
    assert offered(world) == [BEFORE]
    expect_both_ways(world)


def test_it_comes_back_when_what_superseded_it_is_deleted_until_that_is_learnt_again(world: World) -> None:
    of_a_kind_later(world)
    memory.delete(world.services(), ALICE, NOW, memory.anything)
    world.heal()
    assert offered(world) == [BEFORE]
    teach(world, "again", ONE, 2, **CASE)
    assert offered(world) == [NOW]
    expect_both_ways(world)


def test_two_kinds_of_one_case_are_read_as_one_whichever_was_learnt_first() -> None:
    read = []
    for order in ((0, 1), (1, 0)):
        world = World()
        for n in order:
            kind, calls, judged = (("Cancel a flight", GOOD, PASSED), ("Another kind", BAD, MISSED))[n]
            teach(world, f"s{n}", ONE, n, calls=calls, judged=judged, **CASE, task_signature=kind)
        assert offered(world) == [NOW]
        text = shown(world, NOW).text
        read.append(text[: text.index("## Links")])
    assert read[0] == read[1]
    assert "Confidence: 0.60 (runs remembered: 1 success, 1 failure)" in read[0]


@pytest.mark.parametrize("kinds", [("X", "Y", "X"), ("Y", "X", "Y", "X")])
def test_of_many_kinds_against_the_order_of_time_that_of_the_oldest_conversation_is_offered(
    world: World, kinds: Sequence[str]
) -> None:
    for n, kind in enumerate(kinds):
        teach(world, f"s{n}", ONE, 9 - n, **CASE, task_signature=kind)
    assert offered(world) == [f"experiences/{kinds[-1].lower()}.md"]
    (path,) = offered(world)
    assert f"(runs remembered: {len(kinds)} success)" in shown(world, path).text
    expect_both_ways(world)


def test_one_that_another_case_belongs_to_is_not_superseded(world: World) -> None:
    of_a_kind_later(world)
    teach(world, "third", UNLIKE, 2, name="book", task_signature="cancel")
    assert shown(world, BEFORE).superseded_by == []
    assert set(offered(world)) == {BEFORE, NOW}
    assert "book" not in shown(world, NOW).text


def test_one_that_is_renamed_keeps_its_text_as_its_owner_s(world: World) -> None:
    teach(world, "first", ONE, 0, **CASE)
    MemoryTool(world.services(), ALICE).rename(f"/memories/{BEFORE}", "/memories/experiences/mine.md")
    world.heal()
    mine = experiences(world)["experiences/mine.md"]
    assert mine.body.startswith(
        "# cancel\n\nConfidence: 0.90 (runs remembered: 1 success)\n\n"
        f"## Situation\n- {ONE}\n\n## Approach\n- Call `get_reservation` (reservation_id).\n"
        "- Call `cancel_reservation` (reservation_id).\n\n## Reflect\n- Nothing has gone wrong so far.\n\n"
        "## Links <!-- = -->\n"
    )
    assert "runs remembered: none" not in mine.body
    teach(world, "second", ONE, 1, **CASE)
    assert set(offered(world)) == {"experiences/mine.md", BEFORE}
    for session in ("first", "second"):
        rollback_session(world.services(), ALICE, session, after="", dry_run=False)
    assert list(experiences(world)) == ["experiences/mine.md"]
    assert "## Approach" in experiences(world)["experiences/mine.md"].body
    expect_both_ways(world)


class Teacher:
    """Says that whatever it is shown, and more, is out of date."""

    name = "teacher/1"

    def __init__(self) -> None:
        self.shown: list[list[str]] = []

    def analyse(self, attempt: Attempt) -> Insight:
        self.shown.append(list(attempt.others))
        gone = (*attempt.others, "experiences/none.md", "profile.md", BEFORE)
        return Insight(model=self.name, approach=("Ask.",), supersedes=gone, usage=Usage(models=("t",)))


@pytest.mark.parametrize(("calls", "judged", "held"), [(GOOD, PASSED, True), (BAD, MISSED, False)])
def test_a_model_says_what_a_run_that_succeeded_supersedes_of_what_it_was_shown(
    world: World, calls: Calls, judged: Any, held: bool
) -> None:
    teach(world, "before", UNLIKE, 0, **CASE)
    teach(world, "one", ONE, 1)
    world.analyst = teacher = Teacher()
    teach(world, "other", OTHER, 2, calls=calls, judged=judged)
    one, other = of(world, "hi-please-cancel"), of(world, "i-have-fallen")
    assert teacher.shown == [[one]]
    assert shown(world, one).superseded_by == ([other] if held else [])
    assert shown(world, BEFORE).superseded_by == []
    assert (one in offered(world)) is not held
    rollback_session(world.services(), ALICE, "other", after="", dry_run=False)
    assert one in offered(world)
    expect_both_ways(world)
