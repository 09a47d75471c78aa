"""Links between memories: both sides, whatever is deleted, crashes or comes again."""

from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from strandline.domain.errors import NotFound, StrandlineError
from strandline.domain.link import Link
from strandline.domain.memory_tool import Refusal
from strandline.entry.wiring import RuleModel
from strandline.pipeline import memory
from strandline.pipeline.links import AT_ONCE
from strandline.pipeline.memory import Deletion
from strandline.pipeline.memory_tool import MemoryTool
from strandline.pipeline.rollback import ToVersion, rollback_memory, rollback_session
from strandline.storage.parsing import memory_path
from tests.pipeline.trips import Killed
from tests.pipeline.world import ALICE, World

DOG = "entities/pets/pipoca.md"
CAT = "entities/pets/rex.md"
TALK = [
    "My dog's name is Pipoca and we found her in the shelter.",
    "Yesterday I walked with Pipoca to the sea.",
]
MORE = ["My dog's name is Rex and he is very old.", "Yesterday I walked with Rex to the harbour."]


@pytest.fixture
def world() -> World:
    return World(model=RuleModel())


def links(world: World) -> dict[str, set[Link]]:
    """The links of every memory that is there."""
    found = {}
    for key in world.stored("/memories/"):
        parsed = memory_path(key)
        assert parsed is not None
        with suppress(NotFound):
            found[parsed[1]] = set(memory.read(world.services(), ALICE, parsed[1]).links)
    return found


def expect_both_sides(world: World) -> None:
    known = links(world)
    for path, theirs in known.items():
        for link in theirs:
            assert link.other_end(path) in known[link.path], (path, link)


def delete(world: World, path: str = DOG, replacement: str | None = None) -> None:
    memory.delete(world.services(), ALICE, path, memory.anything, deletion=Deletion(replacement=replacement))


def event_of(world: World) -> str:
    (path,) = [path for path in links(world) if path.startswith("events/")]
    return path


def test_a_memory_that_names_an_entity_is_linked_with_it(world: World) -> None:
    world.remember("s", *TALK)
    event = event_of(world)
    assert Link(False, "mentions", DOG) in links(world)[event]
    assert Link(True, "mentions", event) in links(world)[DOG]
    body = memory.read(world.services(), ALICE, DOG).body
    assert f"- mentioned in [{event[18:-3]}](../../{event}) <!-- = -->" in body
    expect_both_sides(world)


def test_links_are_not_searched(world: World) -> None:
    world.remember("s", *TALK)
    assert world.find("mentions mentioned links", limit=50) == []


def test_a_repeat_adds_no_link(world: World) -> None:
    world.remember("s", *TALK)
    before = world.bodies("/memories/")
    world.merge_queue.send(world.merge_queue.sent[0])
    world.settle()
    assert world.bodies("/memories/") == before


def test_a_deletion_takes_its_links_along(world: World) -> None:
    world.remember("s", *TALK)
    event = event_of(world)
    delete(world)
    assert links(world)[event] == set()
    assert "## Links" not in memory.read(world.services(), ALICE, event).body


def test_a_replacement_inherits_them(world: World) -> None:
    world.remember("s", *TALK)
    world.remember("t", *MORE)
    delete(world, DOG, CAT)
    known = links(world)
    events = [path for path in known if path.startswith("events/")]
    assert {Link(True, "mentions", event) for event in events} <= known[CAT]
    assert all(Link(False, "mentions", CAT) in known[event] for event in events)
    expect_both_sides(world)


def test_a_replacement_that_is_not_there_is_refused(world: World) -> None:
    world.remember("s", *TALK)
    with pytest.raises(NotFound):
        delete(world, DOG, "entities/pets/nobody.md")
    assert DOG in links(world)


def test_a_link_to_what_was_deleted_is_made_again_with_the_memory(world: World) -> None:
    world.remember("s", *TALK)
    delete(world)
    world.remember("u", *TALK)
    assert DOG in links(world)
    expect_both_sides(world)


def test_one_with_many_links_is_followed_by_the_sweep(world: World) -> None:
    for n in range(AT_ONCE + 1):
        world.remember(f"s{n}", *TALK)
    delete(world)
    world.heal()
    assert set.union(*links(world).values()) == set()


def interrupted(act: Callable[[World], None], *, before: bool) -> Iterator[World]:
    for at in range(60):
        world = World(model=RuleModel())
        world.remember("s", *TALK)
        world.remember("t", *MORE)
        world.kill(at, before=before)
        with suppress(Killed, StrandlineError):
            act(world)
        if world.calls.trip is not None:
            return
        world.heal()
        yield world
    raise AssertionError("so many calls")


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("replacement", [None, CAT])
def test_no_link_leads_to_nothing_after_a_heal(replacement: str | None, before: bool) -> None:  # B-B17
    for world in interrupted(lambda world: delete(world, DOG, replacement), before=before):
        expect_both_sides(world)


def back_to(world: World, path: str, version: int) -> None:
    rollback_memory(world.services(), ALICE, ToVersion(path, version, memory.anything), dry_run=False)


def test_a_memory_that_comes_back_has_its_links_on_both_sides() -> None:
    world = World(model=RuleModel())
    world.remember("s", *TALK)
    event = event_of(world)
    delete(world)
    back_to(world, DOG, 1)
    assert Link(False, "mentions", DOG) in links(world)[event]
    expect_both_sides(world)


def test_one_that_comes_back_after_its_neighbour_has_gone_has_no_link_to_it() -> None:
    world = World(model=RuleModel())
    world.remember("s", *TALK)
    event = event_of(world)
    delete(world)
    delete(world, event)
    back_to(world, DOG, 1)
    assert links(world) == {DOG: set()}


def test_one_that_comes_back_is_linked_with_what_its_neighbour_was_replaced_by() -> None:
    world = World(model=RuleModel())
    world.remember("s", *TALK)
    event = event_of(world)
    memory.write(world.services(), ALICE, "events/other.md", "# Other\n", memory.anything)
    delete(world)
    delete(world, event, "events/other.md")
    back_to(world, DOG, 1)
    assert links(world) == {
        DOG: {Link(True, "mentions", "events/other.md")},
        "events/other.md": {Link(False, "mentions", DOG)},
    }


def test_a_version_without_a_link_takes_it_away_on_the_other_side() -> None:
    world = World(model=RuleModel())
    world.remember("s", TALK[0])
    world.remember("t", *TALK)
    event = event_of(world)
    back_to(world, DOG, 1)
    known = links(world)
    assert (known[DOG], known[event]) == (set(), set())


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("version", [1, 2])
def test_going_back_leaves_no_link_half_after_a_heal(version: int, before: bool) -> None:  # B-B17
    def act(world: World) -> None:
        delete(world)
        back_to(world, DOG, version)

    for world in interrupted(act, before=before):
        expect_both_sides(world)


def test_a_renamed_memory_takes_its_links_along(world: World) -> None:
    world.remember("s", *TALK)
    event = event_of(world)
    MemoryTool(world.services(), ALICE).rename(f"/memories/{DOG}", "/memories/entities/pets/pip.md")
    known = links(world)
    assert known[event] == {Link(False, "mentions", "entities/pets/pip.md")}
    assert known["entities/pets/pip.md"] == {Link(True, "mentions", event)}
    body = memory.read(world.services(), ALICE, "entities/pets/pip.md").body
    assert body.count("## Links") == body.count("- mentioned in") == 1


@pytest.mark.parametrize("before", [True, False])
def test_a_rename_that_dies_is_gone_on_with_by_the_same_command(before: bool) -> None:  # B-B17
    def rename(world: World) -> None:
        MemoryTool(world.services(), ALICE).rename(f"/memories/{DOG}", "/memories/pip.md")

    for world in interrupted(rename, before=before):
        with suppress(Refusal):  # it had come to its end
            rename(world)
        assert DOG not in links(world) and "pip.md" in links(world)
        expect_both_sides(world)


def test_whose_links_a_deletion_changed_is_told(world: World) -> None:
    world.remember("s", *TALK)
    event = event_of(world)
    delete(world)
    (told,) = [each for each in world.journal() if each.get("deleted")]
    assert [uri.rpartition("/memories/")[2] for uri in told["deleted"]] == [DOG]
    assert [uri.rpartition("/memories/")[2] for uri in told["updated"]] == [event]


def test_a_link_that_another_session_made_too_stays_when_one_is_undone() -> None:
    talk = [
        "My sister Anna lives in Berlin with her husband Paul.",
        "Paul works at Siemens.",
        "Anna bakes bread.",
    ]
    world = World(model=RuleModel())
    world.remember("s", *talk)
    before = links(world)
    assert any(before.values())
    world.remember("t", *talk)
    rollback_session(world.services(), ALICE, "t", after="", dry_run=False)
    assert links(world) == before
    expect_both_sides(world)
