"""Links between memories: both sides, whatever is deleted, crashes or comes again."""

from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from strandline.domain.errors import NotFound, StrandlineError
from strandline.domain.link import Link
from strandline.entry.wiring import RuleModel
from strandline.pipeline import memory
from strandline.pipeline.links import AT_ONCE
from strandline.pipeline.memory import Deletion
from strandline.storage.layout import memory_path
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
