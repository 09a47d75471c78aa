"""What a deleted session leaves half done, which nobody would come back to: found by the simulation (`tests/sim`)."""

from typing import Any

import pytest

from strandline.domain.contracts import EraseRequested, ExtractRequested
from strandline.domain.message import MessageIn, ToolPart
from strandline.pipeline import memory, outcome, session
from strandline.pipeline.append import AppendRequest, new_head, note, run_append
from strandline.ports import Ambiguous
from strandline.storage.log import ref
from tests.pipeline.faults import FAULTS, going_on
from tests.pipeline.world import ALICE, DAY, World

SOON = 60


def dying_merge(at: int, kind: str) -> World:
    """A world in which the merge of a session died at that call, and then the session was deleted."""
    world = World()
    world.append("s", "tea: I like green tea", "sport: I row")
    world.commit("s")
    world.extract_next()
    FAULTS[kind](world, at)
    with going_on():
        world.merge_next()
    world.mend()
    session.delete(world.services(), ALICE, "s")
    world.settle()
    return world


@pytest.mark.parametrize("kind", FAULTS)
def test_what_a_merge_has_written_is_found_although_its_session_was_deleted(kind: str) -> None:  # B-A15 B-C15
    half = 0
    for at in range(25):
        world = dying_merge(at, kind)
        world.heal()
        listed = memory.list_memories(world.services(), ALICE, "")
        stored = {f"preferences/{key.rpartition('/')[2]}" for key in world.stored("/memories/")}
        assert set(listed) == stored, f"call {at}"
        half += len(stored) == 1
    assert half  # it has died between the two files


def test_who_was_about_to_begin_a_session_and_died_leaves_no_line_for_ever(world: World) -> None:  # B-A16
    world.append("s", "first life")
    note(world.services(), new_head(world.services(), ALICE, "s"))
    session.delete(world.services(), ALICE, "s")
    assert len(world.rows("SESSIONS#")) == 1  # the other may be about to write its head

    world.heal()

    assert world.rows("SESSIONS#") == []


def test_a_line_that_was_taken_from_a_session_comes_back(world: World) -> None:  # B-A16
    """A session is begun while what is left of the life before it is erased, and that took the line with it."""
    world.append("s", "first life")
    whose = ref(world.head("s"))
    session.delete(world.services(), ALICE, "s")
    world.append("s", "second life", ids="n")
    world.items.delete("SESSIONS#acme/alice", "s")

    world.erase_queue.send(EraseRequested(scope="session", session=whose))
    world.settle()

    assert [row["incarnation"] for row in world.rows("SESSIONS#")] == [world.head("s").incarnation]


def test_a_deletion_is_told_of_although_the_session_has_begun_again(world: World) -> None:  # B-A15
    world.append("s", "first life")
    world.objects.faults.before("versions_below", RuntimeError("killed"))
    with pytest.raises(RuntimeError):
        session.delete(world.services(), ALICE, "s")
    deleted_at = world.head("s").buried_at
    world.clock.advance(SOON)
    world.append("s", "second life", ids="n")

    world.heal()
    world.clock.advance(DAY)
    world.heal()

    told = [event for event in world.journal() if event["type"] == "SessionDeleted"]
    assert [(event["session_id"], event["at"]) for event in told] == [("s", deleted_at)]


@pytest.mark.parametrize("failed_before", [False, True])
def test_a_merge_that_is_given_up_behind_the_head_of_its_archive_comes_to_its_end(
    failed_before: bool,
) -> None:  # B-B17
    """Also one that came after all, when its archive had been given up."""
    tries = (dying(at, failed_before=failed_before) for at in range(60))
    world = next(filter(behind_the_head, tries))
    world.merge_queue.done(world.merge_queue.receive(1)[0])

    world.heal()

    assert world.stored("done.json")
    (task,) = world.rows("TASKS#")
    assert (task["status"], task["result"]["memories_extracted"]) == (
        "completed",
        {"preferences": 1, "total": 1},
    )
    assert world.rows("DUE#") == []


def dying(at: int, *, failed_before: bool) -> World:
    """A world in which a merge has died at that call, perhaps after its archive was given up."""
    world = World()
    world.append("s", "tea: I like green tea")
    world.commit("s")
    request = world.extract_queue.sent[0]
    assert isinstance(request, ExtractRequested)
    world.extract_next()
    if failed_before:
        outcome.fail(world.services(), request, "sweep", "no progress")
    world.kill(at, before=True)
    with going_on():
        world.merge_next()
    world.mend()
    return world


def behind_the_head(world: World) -> bool:
    """Whether the head says that the archive is done, and nothing else does."""
    return world.head("s").completed == 1 and not world.stored("done.json")


def test_an_edit_that_the_bus_has_not_heard_of_is_told_although_the_memory_is_gone(world: World) -> None:
    """It is in the journal already, so the bus is to have it, with the same words."""
    world.bus.faults.before("put", Ambiguous("down"))
    memory.write(world.services(), ALICE, "topics/mine.md", "mine\n", memory.anything)
    memory.delete(world.services(), ALICE, "topics/mine.md", memory.anything)

    world.heal()

    told = {event.id: event.model_dump(exclude_none=True) for event in world.bus.published}
    assert told == {event["id"]: event for event in world.journal()}
    assert [event["added"] for event in world.journal()] == [
        ["viking://user/alice/memories/topics/mine.md"],
        [],
    ]


def test_a_life_that_was_deleted_does_not_begin_again_over_the_grave_of_another(
    world: World,
) -> None:  # B-A15
    """While the first append of a session writes its tool output, the session is deleted, begun anew, and deleted."""
    put, lives = world.objects.put, []

    def deleted_meanwhile(key: str, body: bytes, **how: Any) -> str:
        if "/tool-results/" in key and not lives:
            lives.append(world.head("s").incarnation)
            session.delete(world.services(), ALICE, "s")
            world.append("s", "another life")
            lives.append(world.head("s").incarnation)
            session.delete(world.services(), ALICE, "s")
        return put(key, body, **how)

    world.objects.put = deleted_meanwhile  # type: ignore[method-assign]
    part = ToolPart(type="tool", tool_id="t", tool_name="look", tool_output="long " * 5_000)
    said = MessageIn(role="assistant", parts=[part], id="m1")
    run_append(world.services(), AppendRequest(ALICE, "s", [said]))
    assert len(lives) == 2
    assert world.head("s").incarnation not in lives
