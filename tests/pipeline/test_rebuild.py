"""Rebuild: from the archives alone the same files, to the byte; what extraction says anew is compared and promoted."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from strandline.domain.errors import FailedPrecondition, NotFound
from strandline.domain.extraction import Extraction, Transcript
from strandline.pipeline import memory, rebuild
from strandline.pipeline.catalogue import read_file
from strandline.pipeline.rebuild import Wanted, begin, go_on, look, promote
from strandline.pipeline.rollback import RolledBack, rollback_session
from strandline.storage.layout import Rebuild
from tests.pipeline.faults import FAULTS, run
from tests.pipeline.models import Echo, Refusing
from tests.pipeline.world import ALICE, World

TEA, SPORT = "preferences/tea.md", "preferences/sport.md"
anything = memory.anything


@dataclass
class Shouting:
    """Another model: the lines of Echo in capitals, and none about sport."""

    def extract(self, transcript: Transcript) -> Extraction:
        said = Echo().extract(transcript)
        proposals = [
            each.model_copy(
                update={"claims": tuple(c.model_copy(update={"text": c.text.upper()}) for c in each.claims)}
            )
            for each in said.proposals
            if each.fields["topic"] != "sport"
        ]
        return said.model_copy(update={"extractor": "shouting/1", "proposals": tuple(proposals)})


def remembered() -> World:
    world = World()
    world.remember("a", "tea: green", "sport: rowing")
    world.remember("b", "tea: black", ids="x")
    world.remember("a", "tea: with honey", ids="y")
    return world


def rebuilt(world: World, wanted: Wanted = Wanted()) -> str:  # noqa: B008 - it is frozen
    """A rebuild that is ready."""
    identity = begin(world.services(), ALICE, wanted).identity
    for _ in range(20):
        if go_on(world.services(), ALICE, identity).status == "ready":
            return identity
        world.settle()
    raise AssertionError("never ready")


def promoted(world: World, identity: str, *, dry_run: bool = False) -> RolledBack:
    return promote(world.services(), ALICE, identity, after="", dry_run=dry_run)


def what(done: RolledBack) -> list[tuple[str, str | None]]:
    return [(each.path, each.how) for each in done.changed]


def lines(world: World, path: str = TEA) -> list[str] | None:
    found = read_file(world.services(), ALICE, path)
    return sorted(line.text for line in found.lines) if found else None


def files(world: World) -> dict[str, bytes]:
    return {key.rpartition("/memories/")[2]: body for key, body in world.bodies("alice/memories/").items()}


def shadow(world: World, identity: str) -> dict[str, bytes]:
    prefix = Rebuild(ALICE, identity).memories
    return {key.removeprefix(prefix): body for key, body in world.bodies(prefix).items()}


def test_when_nothing_has_changed_it_is_the_same_to_the_byte() -> None:  # B-C9
    world = remembered()
    before = files(world)
    identity = rebuilt(world)
    assert shadow(world, identity) == before != {}
    assert what(promoted(world, identity)) == []
    assert files(world) == before
    assert look(world.services(), ALICE, identity).status == "promoted"


def test_extracted_again_by_the_same_extractor_it_is_the_same_to_the_byte() -> None:  # B-C9
    world = remembered()
    before = files(world)
    identity = rebuilt(world, Wanted(again=True))
    assert shadow(world, identity) == before
    assert what(promoted(world, identity)) == []
    assert files(world) == before


def test_another_model(world: World) -> None:  # B-C9
    world = remembered()
    world.model = Shouting()
    before = files(world)
    identity = rebuilt(world, Wanted(again=True))
    assert files(world) == before
    dry = promoted(world, identity, dry_run=True)
    assert files(world) == before
    wet = promoted(world, identity)
    assert what(dry) == what(wet) == [(SPORT, "deleted"), (TEA, "updated")]
    assert (lines(world), lines(world, SPORT)) == (["BLACK", "GREEN", "WITH HONEY"], None)
    assert sorted(world.find("green black honey rowing", limit=50)) == ["BLACK", "GREEN", "WITH HONEY"]
    assert {e["reason"] for e in world.journal() if e.get("reason")} == {"rebuild"}
    assert what(promoted(world, identity)) == []


def test_back_to_the_first_model() -> None:
    """What was promoted is what a later rebuild starts from."""
    world = remembered()
    world.model = Shouting()
    promoted(world, rebuilt(world, Wanted(again=True)))
    world.model = Echo()
    promoted(world, rebuilt(world, Wanted(again=True)))
    assert lines(world) == ["black", "green", "with honey"]
    assert lines(world, SPORT) is None  # its gravestone holds: what was deleted stays deleted


def test_what_the_owner_wrote_edited_and_deleted_stays() -> None:  # B-C9
    world = remembered()
    memory.write(world.services(), ALICE, "notes/mine.md", "# Mine\n\nmine\n", anything)
    memory.delete(world.services(), ALICE, SPORT, anything)
    body = memory.read(world.services(), ALICE, TEA).body
    edited = "".join(
        f"{row}\n" for row in body.replace("- green <", "- weak green <").split("\n") if "black" not in row
    )
    memory.write(world.services(), ALICE, TEA, f"{edited}only mine\n", anything)
    before = files(world)
    assert what(promoted(world, rebuilt(world))) == []
    assert files(world) == before

    world.model = Shouting()
    done = promoted(world, rebuilt(world, Wanted(again=True)))

    assert what(done) == [(TEA, "updated")]
    assert "only mine" in memory.read(world.services(), ALICE, TEA).body
    assert "weak green" in (lines(world) or ()) and "with honey" not in (lines(world) or ())
    assert lines(world, SPORT) is None
    assert ("edited", "weak green") in [(each.reason, each.text) for each in done.conflicts]


def test_a_memory_that_was_lost_is_made_again() -> None:
    world = remembered()
    before = files(world)
    world.objects.delete(ALICE.memory(TEA))
    assert what(promoted(world, rebuilt(world))) == [(TEA, "added")]
    assert files(world) == before


def test_what_was_rolled_back_does_not_come_back_by_a_rebuild() -> None:  # B-C14
    world = remembered()
    rollback_session(world.services(), ALICE, "b", after="", dry_run=False)
    assert what(promoted(world, rebuilt(world))) == []
    assert lines(world) == ["green", "with honey"]


def test_what_is_merged_while_it_is_rebuilt_stays() -> None:
    world = remembered()
    identity = rebuilt(world)
    world.remember("c", "tea: white", ids="z")
    assert what(promoted(world, identity)) == []
    assert lines(world) == ["black", "green", "white", "with honey"]


def test_a_deleted_session_is_passed_over() -> None:
    from strandline.pipeline import session

    world = remembered()
    session.delete(world.services(), ALICE, "b")
    world.settle()
    identity = rebuilt(world)
    assert look(world.services(), ALICE, identity).merged == 2
    assert what(promoted(world, identity)) == []
    assert "black" in (lines(world) or ())


def test_an_archive_that_cannot_be_extracted_again_stays_as_it_was() -> None:
    world = remembered()
    world.model = Refusing(times=99, final=True)
    identity = rebuilt(world, Wanted(again=True))
    assert look(world.services(), ALICE, identity).failed == 3
    assert what(promoted(world, identity)) == []
    assert lines(world) == ["black", "green", "with honey"]
    assert world.head("a").failed == ()


def test_a_dry_run_of_an_extraction() -> None:  # what would be added, changed, removed
    world = remembered()
    world.append("a", "tea: from a glass", "walk: on Sundays", ids="live")
    before = files(world)
    identity = rebuilt(world, Wanted(again=True, only="a", live=True))
    done = promoted(world, identity, dry_run=True)
    assert what(done) == [(TEA, "updated"), ("preferences/walk.md", "added")]
    assert any(row.startswith("+- from a glass") for row in done.changed[0].diff.split("\n"))
    assert files(world) == before
    with pytest.raises(FailedPrecondition):
        promoted(world, identity)

    world.commit("a")
    world.settle()
    for each in done.changed:  # and so it came out
        found = read_file(world.services(), ALICE, each.path)
        assert found and each.after and found.lines == each.after.lines


def test_one_session_alone() -> None:
    world = remembered()
    world.model = Shouting()
    done = promoted(world, rebuilt(world, Wanted(again=True, only="b")))
    assert what(done) == [(TEA, "updated")]
    assert (lines(world), lines(world, SPORT)) == (["BLACK", "green", "with honey"], ["rowing"])


def test_it_is_promoted_only_when_it_is_ready(world: World) -> None:
    world.remember("a", "tea: green")
    identity = begin(world.services(), ALICE, Wanted()).identity
    with pytest.raises(FailedPrecondition):
        promoted(world, identity)
    with pytest.raises(NotFound):
        look(world.services(), ALICE, "none")
    with pytest.raises(NotFound):
        begin(world.services(), ALICE, Wanted(only="none"))


def test_an_extraction_that_does_not_come_is_asked_for_again(world: World) -> None:
    world.remember("a", "tea: green")
    identity = begin(world.services(), ALICE, Wanted(again=True)).identity
    assert go_on(world.services(), ALICE, identity).status == "extracting"
    for delivery in world.extract_queue.receive(10):
        world.extract_queue.done(delivery)  # lost
    assert go_on(world.services(), ALICE, identity).status == "extracting"
    assert len(world.extract_queue) == 0
    world.clock.advance(901)
    go_on(world.services(), ALICE, identity)
    world.settle()
    assert go_on(world.services(), ALICE, identity).status == "ready"


Act = Callable[[World], object]


@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("again", [False, True])
def test_a_rebuild_that_dies_anywhere_goes_on(again: bool, kind: str) -> None:  # B-B17
    wanted: Any = None
    for at in range(100):
        world = remembered()
        world.model = Shouting() if again else Echo()
        identity = begin(world.services(), ALICE, Wanted(again=again)).identity

        def whole(world: World, identity: str = identity) -> None:
            for _ in range(10):
                if go_on(world.services(), ALICE, identity).status != "extracting":
                    break
                world.settle()
            promoted(world, identity)

        FAULTS[kind](world, at)
        run(world, whole)
        fired = world.calls.trip is None
        world.mend()
        world.heal(3)
        found = {path: lines(world, path) for path in (TEA, SPORT)}
        wanted = wanted or found
        assert found == wanted, f"call {at}"
        assert sorted(world.find("green black honey rowing", limit=50)) == sorted(
            text for some in found.values() for text in some or ()
        ), f"call {at}"
        assert world.rows("DUE#") == []
        if not fired:
            assert wanted[TEA] == (
                ["BLACK", "GREEN", "WITH HONEY"] if again else ["black", "green", "with honey"]
            )
            return
    raise AssertionError("a rebuild of so many calls")


def test_many_memories_are_promoted_in_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    world.remember("a", *(f"topic{n}: text" for n in range(5)))
    world.model = Shouting()
    identity = rebuilt(world, Wanted(again=True))
    monkeypatch.setattr(rebuild, "MEMORIES_AT_ONCE", 2)
    after, changed = "", []
    while True:
        done = promote(world.services(), ALICE, identity, after=after, dry_run=False)
        changed += what(done)
        if done.next is None:
            break
        after = done.next
    assert changed == [(f"preferences/topic{n}.md", "updated") for n in range(5)]
