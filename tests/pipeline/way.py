"""The whole way from message to memory, and what must be true at its end, whatever went wrong on it."""

import json
from collections.abc import Callable, Iterator
from functools import cache

from strandline.pipeline import memory
from tests.pipeline.faults import Step, run
from tests.pipeline.world import ALICE, World

TEXTS = ("tea: I like green tea", "sport: I row on Sundays", "no memory in this", "tea: never with milk")


def append(world: World) -> None:
    world.append("s", *TEXTS)


def append_more(world: World) -> None:
    world.append("s", "tea: from a glass", ids="more")


def commit(world: World) -> None:
    world.commit("s")


def extract(world: World) -> None:
    world.extract_next()


def merge(world: World) -> None:
    world.merge_next()


STEPS: tuple[Step, ...] = (append, commit, append_more, commit, extract, merge, extract, merge)


def play(world: World, broken: Callable[[World], object] = lambda _: None) -> World:
    """The whole way in an empty world, with what `broken` arms before it begins; then two rounds of the sweep."""
    world.create("s")
    broken(world)
    go(world)
    return world


def go(world: World) -> None:
    """The steps, each repeated when it dies, and the sweep."""
    for step in STEPS:
        run(world, step)
    run(world, World.heal)


@cache
def undisturbed() -> World:
    return play(World())


def expect_as_if_nothing_had_happened(world: World) -> None:
    assert [text for _, text in world.log("s")] == [*TEXTS, "tea: from a glass"]
    assert [seq for seq, _ in world.log("s")] == [1, 2, 3, 4, 5]
    expect_memories(world)
    expect_all_ended(world)


def expect_memories(world: World) -> None:
    """Every line once, and found once, wherever the cut between the archives came to lie."""
    calm = undisturbed()
    assert (
        texts(world)
        == texts(calm)
        == {
            "preferences/sport.md": ["I row on Sundays"],
            "preferences/tea.md": ["I like green tea", "never with milk", "from a glass"],
        }
    )
    assert sorted(world.find("green tea Sundays milk glass", limit=50)) == sorted(
        ["I row on Sundays", "I like green tea", "never with milk", "from a glass"]
    )
    assert sorted(world.find("tea sundays memory", limit=50, context_type="message")) == sorted(
        text for _, text in world.log("s")
    )


def texts(world: World) -> dict[str, list[str]]:
    found = memory.list_memories(world.services(), ALICE, "")
    return {path: [x.text for x in memory.read(world.services(), ALICE, path).lines] for path in found}


def expect_all_ended(world: World) -> None:
    head = world.head("s")
    assert (head.pending, head.failed) == ((), ())
    assert head.completed == head.commit_count
    assert head.live_count == 0 and head.pending_tokens == 0
    assert {row["status"] for row in world.rows("TASKS#")} == {"completed"}
    assert len(world.rows("TASKS#")) == head.commit_count
    assert world.rows("DUE#") == []
    expect_events(world)
    assert len(world.stored("memory_diff.json")) == head.commit_count


def expect_events(world: World) -> None:
    """Each commit and each change of memories is in the journal once, numbered without a gap, and the bus has it."""
    events = world.journal()
    assert [int(event["id"][:12]) for event in events] == list(range(1, len(events) + 1))
    assert {event.id for event in world.bus.published} == {event["id"] for event in events}
    committed = [event["archive"] for event in events if event["type"] == "SessionCommitted"]
    assert sorted(committed) == list(range(1, world.head("s").commit_count + 1))
    changed = [(e["archive"], e["added"], e["updated"]) for e in events if e["type"] == "MemoryChanged"]
    assert sorted(changed) == sorted(changes(world))
    assert len([e for e in events if e["type"] != "TaskFailed"]) == len(committed) + len(changed)


def changes(world: World) -> Iterator[tuple[int, list[str], list[str]]]:
    """(archive, added, updated) by the diffs of the archives that changed something."""
    for key, body in world.bodies("memory_diff.json").items():
        done = json.loads(body)["operations"]
        added, updated = ([op["uri"] for op in done[how]] for how in ("adds", "updates"))
        if added or updated:
            yield int(key.split("/")[-2]), added, updated
