"""An experience whose text was given to a session, by its context or by a search, was used by it."""

from collections.abc import Callable
from typing import Any

import pytest

from strandline.domain.block import Block
from strandline.domain.errors import NotFound
from strandline.pipeline import experience, memory
from strandline.pipeline.append import AppendRequest, run_append
from strandline.pipeline.usage import note_handed_out
from strandline.storage.layout import Life
from strandline.storage.log import ref
from tests.pipeline.context_talk import MEMORIES, ask
from tests.pipeline.faults import FAULTS, run
from tests.pipeline.runs import ASKED, BAD, GOOD, learn
from tests.pipeline.runs import run as told
from tests.pipeline.world import ALICE, BOB, World, counted

CASE = {"name": "cancel", "task_signature": "Cancel a reservation"}
PASSED = {"passed": True, "score": 1.0}
MISSED = {"passed": False, "score": 0.0}
EXPERIENCE = "experiences/cancel-a-reservation.md"
FIVE = {"success": 0, "failure": 0, "partial": 0, "unfinished": 0, "unknown": 0}
RUN = told(BAD, case=CASE, judged=MISSED)


@pytest.fixture
def world() -> World:
    """One run was learnt from, and the first message of another is there."""
    world = World()
    learn(world, "one", told(GOOD, case=CASE, judged=PASSED))
    run_append(world.services(), AppendRequest(ALICE, "s", RUN[:1]))
    return world


def rest(world: World) -> None:
    """The other run comes to its end."""
    run_append(world.services(), AppendRequest(ALICE, "s", RUN[1:]))
    world.commit("s")
    world.settle()


def shown(world: World, **fields: Any) -> Block:
    return ask(world, window=None, memories=MEMORIES, **fields).beside.memories


def uses(world: World) -> dict[str, int]:
    return dict(experience.outcomes(world.services(), ALICE, EXPERIENCE).used)


def noted(world: World, name: str = "s") -> Any:
    found = world.services().contexts.read(Life(ref(world.head(name))).context)
    return dict(found.value.handed_out) if found else {}


def test_what_a_context_gives_is_used_by_the_session(world: World) -> None:
    block = shown(world)
    assert block.experiences == [EXPERIENCE]
    assert "Call `cancel_reservation` (reservation_id)." in block.text
    assert noted(world) == {EXPERIENCE: (1,)}
    rest(world)
    assert uses(world) == {**FIVE, "failure": 1}


def test_given_again_and_reported_it_is_one_run_s(world: World) -> None:
    shown(world)
    run_append(world.services(), AppendRequest(ALICE, "s", RUN[1:3]))
    shown(world)
    experience.read_experience(world.services(), ALICE, EXPERIENCE, "s")
    assert noted(world) == {EXPERIENCE: (1, 3)}
    rest(world)
    assert uses(world) == {**FIVE, "failure": 1}


def test_without_memories_or_of_another_time_nothing_is(world: World) -> None:
    ask(world, window=None, memories=None)
    world.clock.advance(5)
    before = world.clock.now()
    world.clock.advance(5)
    assert shown(world, as_of=before, query=ASKED).experiences == [EXPERIENCE]
    assert noted(world) == {}
    rest(world)
    assert uses(world) == FIVE


def test_it_costs_a_put_once_for_each_state_of_the_session(world: World) -> None:
    known = world.services()
    ask(world, by=known, window=None, memories=None)
    _, first = counted(world, lambda: shown(world, by=known))
    _, again = counted(world, lambda: shown(world, by=known))
    assert (first.get("objects.put", 0), again.get("objects.put", 0)) == (1, 0)
    run_append(known, AppendRequest(ALICE, "s", RUN[1:2]))
    _, without = counted(world, lambda: ask(world, by=known, window=None, memories=None))
    run_append(known, AppendRequest(ALICE, "s", RUN[2:3]))
    _, more = counted(world, lambda: shown(world, by=known))
    assert without["objects.put"] == more["objects.put"] == 1  # a new message is a decision of its own


def test_given_behind_the_last_message_of_a_run_it_is_the_next_one_s(world: World) -> None:
    run_append(world.services(), AppendRequest(ALICE, "s", RUN[1:]))
    shown(world)
    world.commit("s")
    world.settle()
    assert uses(world) == FIVE
    again = told(GOOD, case=CASE, judged=PASSED, ids="n")
    run_append(world.services(), AppendRequest(ALICE, "s", again))
    world.commit("s")
    world.settle()
    assert uses(world) == {**FIVE, "success": 1}


def test_what_a_session_reads_comes_before_what_it_is_given(world: World) -> None:
    """Of a run 20 experiences are told of."""
    others = [f"experiences/a-{n}.md" for n in range(25)]
    for path in others:
        memory.write(world.services(), ALICE, path, "# Another\n", lambda _: None)
    note_handed_out(world.services(), ALICE, "s", others)
    experience.read_experience(world.services(), ALICE, EXPERIENCE, "s")
    rest(world)
    assert uses(world) == {**FIVE, "failure": 1}
    told_of = [experience.outcomes(world.services(), ALICE, path).used["failure"] for path in others]
    assert sum(told_of) == 19


def test_of_two_at_once_each_is_noted(world: World) -> None:
    """The second, of a later state, comes between the first one's look and its write."""

    def second() -> None:
        run_append(world.services(), AppendRequest(ALICE, "s", RUN[2:3]))
        shown(world)

    known = world.services()
    shown(world, by=known)
    _, looks = counted(world, lambda: shown(world, by=known))
    run_append(world.services(), AppendRequest(ALICE, "s", RUN[1:2]))
    world.next(sum(looks.values()), second)
    shown(world, by=known)
    assert noted(world) == {EXPERIENCE: (1, 2, 3)}


@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("search", [False, True])
def test_whatever_goes_wrong_it_is_counted_once(kind: str, search: bool) -> None:  # B-B17
    def give(world: World) -> None:
        if search:
            note_handed_out(world.services(), ALICE, "s", [EXPERIENCE])
        else:
            shown(world)

    for at in range(8):
        world = World()
        learn(world, "one", told(GOOD, case=CASE, judged=PASSED))
        run_append(world.services(), AppendRequest(ALICE, "s", RUN[:1]))
        FAULTS[kind](world, at)
        run(world, give)
        world.mend()
        give(world)  # a context that could not choose its memories had none
        assert noted(world) == {EXPERIENCE: (1,)}, at
    rest(world)
    assert uses(world) == {**FIVE, "failure": 1}


def test_nothing_is_noted_for_a_session_that_is_not_there(world: World) -> None:
    stored = world.stored()
    note_handed_out(world.services(), ALICE, "none", [EXPERIENCE])
    note_handed_out(world.services(), BOB, "s", [EXPERIENCE])
    note_handed_out(world.services(), ALICE, "s", ["profile.md"])
    assert world.stored() == stored
    world.delete("s")
    note_handed_out(world.services(), ALICE, "s", [EXPERIENCE])
    with pytest.raises(NotFound):
        shown(world)
    assert world.stored("/sessions/s/") == world.stored("/sessions/s/head.json")


@pytest.mark.parametrize(
    "give", [shown, lambda world: note_handed_out(world.services(), ALICE, "s", [EXPERIENCE])]
)
def test_a_session_that_is_deleted_meanwhile_stays_deleted(
    world: World, give: Callable[[World], object]
) -> None:
    _, calls = counted(world, lambda: give(world))
    run_append(world.services(), AppendRequest(ALICE, "s", RUN[1:2]))
    world.next(sum(calls.values()) - 1, lambda: world.delete("s"))  # before the PUT
    give(world)
    world.heal()
    assert world.stored("/sessions/s/") == world.stored("/sessions/s/head.json")


def test_a_new_session_of_that_name_begins_with_nothing(world: World) -> None:
    shown(world)
    world.delete("s")
    rest_of = told(BAD, case=CASE, judged=MISSED, ids="n")
    run_append(world.services(), AppendRequest(ALICE, "s", rest_of))
    world.commit("s")
    world.settle()
    assert uses(world) == FIVE


def test_other_words_find_no_experience_and_none_is_noted(world: World) -> None:
    assert shown(world, query="zebra").experiences == []
    assert noted(world) == {}
