"""Merge: each archive for itself, each line once, and the same files whatever the order."""

import json
from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any

import pytest

from strandline.domain.contracts import MergeRequested
from strandline.domain.errors import ExtractionFailed, Unavailable
from strandline.pipeline import memory
from strandline.pipeline.merge import run_merge
from strandline.pipeline.sweep import run_sweep
from strandline.ports import Ambiguous
from tests.pipeline.world import ALICE, BOB, World

TEA = "preferences/tea.md"


def waiting(world: World, sessions: dict[str, Sequence[str]]) -> list[MergeRequested]:
    """Commits and extracts each session; answers the merge requests, taken off their queue."""
    for name, texts in sessions.items():
        world.append(name, *texts)
        world.commit(name)
        world.extract_next()
    batch = world.merge_queue.receive(100)
    for delivery in batch:
        world.merge_queue.done(delivery)
    return [d.message for d in batch if isinstance(d.message, MergeRequested)]


def ten(world: World) -> list[MergeRequested]:
    return waiting(world, {f"s{n}": [f"tea: cup {n}", f"topic{n}: I like it"] for n in range(10)})


def diff_of(world: World, name: str, archive: int = 1) -> Any:
    (key,) = [k for k in world.stored(f"/sessions/{name}/") if k.endswith(f"{archive:012d}/memory_diff.json")]
    return json.loads(world.body(key))


def test_ten_archives_in_one_batch(world: World) -> None:
    assert run_merge(world.services(), ten(world)) == [None] * 10
    lines = memory.read(world.services(), ALICE, TEA).lines
    assert sorted(line.text for line in lines) == [f"cup {n}" for n in range(10)]
    assert [world.head(f"s{n}").completed for n in range(10)] == [1] * 10


def without_candidates(world: World) -> None:
    (key,) = [k for k in world.stored("/sessions/s3/") if k.endswith("candidates.json")]
    world.objects.delete(key)


def cut_candidates(world: World) -> None:
    (key,) = [k for k in world.stored("/sessions/s3/") if k.endswith("candidates.json")]
    world.objects.put(key, world.body(key)[:40])


def candidates_of_another_schema(world: World) -> None:
    (key,) = [k for k in world.stored("/sessions/s3/") if k.endswith("candidates.json")]
    world.objects.put(key, b'{"schema": 2}')


def unreadable_memory(world: World) -> None:
    """A file that only this archive writes to cannot be read: the store does not answer for it."""
    real = world.objects.get

    def get(key: str) -> object:
        if key.endswith("preferences/topic3.md"):
            raise Ambiguous("503")
        return real(key)

    world.objects.get = get  # type: ignore[assignment, method-assign]


@pytest.mark.parametrize(
    ("spoil", "error"),
    [
        (without_candidates, ExtractionFailed),
        (unreadable_memory, Unavailable),
        (cut_candidates, ExtractionFailed),
        (candidates_of_another_schema, ExtractionFailed),
    ],
)
def test_one_bad_archive_in_a_batch_fails_alone(
    world: World, spoil: Callable[[World], None], error: type[Exception]
) -> None:
    requests = ten(world)
    spoil(world)

    outcomes = run_merge(world.services(), requests)

    assert [n for n, outcome in enumerate(outcomes) if outcome is not None] == [3]
    assert isinstance(outcomes[3], error)
    assert [world.head(f"s{n}").completed for n in range(10)] == [1, 1, 1, 0, 1, 1, 1, 1, 1, 1]
    found = world.find("cup", limit=50)
    assert set(found) >= {f"cup {n}" for n in range(10) if n != 3}


def test_a_file_that_could_not_be_written_follows_on_the_repeat(world: World) -> None:
    requests = ten(world)
    real = world.objects.get
    unreadable_memory(world)
    run_merge(world.services(), requests)
    world.objects.get = real  # type: ignore[method-assign]

    assert run_merge(world.services(), [requests[3]]) == [None]

    assert world.find("topic3") == ["I like it"]
    assert {op["uri"].rsplit("/", 1)[1] for op in _adds_and_updates(diff_of(world, "s3"))} == {
        "tea.md",
        "topic3.md",
    }


def _adds_and_updates(diff: Any) -> list[Any]:
    return [*diff["operations"]["adds"], *diff["operations"]["updates"]]


def test_each_diff_lists_only_its_own_changes(world: World) -> None:  # B-C8 B-C11
    run_merge(world.services(), ten(world))
    for n in range(10):
        diff = diff_of(world, f"s{n}")
        assert sorted(op["uri"].rsplit("/", 1)[1] for op in _adds_and_updates(diff)) == [
            "tea.md",
            f"topic{n}.md",
        ]
        for operation in _adds_and_updates(diff):
            before = set(operation.get("before", "").split("\n"))
            added = [line for line in operation["after"].split("\n") if line not in before and "<!--" in line]
            assert all(f"<!-- s{n}/1#" in line for line in added)
            assert len(added) == 1


def test_of_a_batch_one_adds_the_shared_file_and_the_others_update_it(world: World) -> None:  # B-C11
    run_merge(world.services(), ten(world))
    kinds = [
        kind
        for n in range(10)
        for kind in ("adds", "updates")
        for op in diff_of(world, f"s{n}")["operations"][kind]
        if op["uri"].endswith("/tea.md")
    ]
    assert sorted(kinds) == ["adds"] + ["updates"] * 9


def test_the_same_content_makes_no_new_version(world: World) -> None:  # B-C7
    world.remember("s", "tea: I like green tea")
    key = ALICE.memory(TEA)
    body = memory.read(world.services(), ALICE, TEA).body

    memory.write(world.services(), ALICE, TEA, body, memory.matching(None, absent=False))
    world.merge_queue.send(world.merge_queue.sent[0])
    world.settle()

    assert world.writes(key) == 1
    assert memory.read(world.services(), ALICE, TEA).version == 1


def test_a_merge_that_adds_nothing_to_a_file_writes_no_version_of_it(world: World) -> None:  # B-C7
    """The lines are all there already: the user has put them there by hand, from another copy of the file."""
    copy = World()
    copy.remember("s", "tea: I like green tea")
    body = memory.read(copy.services(), ALICE, TEA).body
    memory.write(world.services(), ALICE, TEA, body, memory.matching(None, absent=False))
    writes = world.writes(ALICE.memory(TEA))

    world.remember("s", "tea: I like green tea")

    assert world.writes(ALICE.memory(TEA)) == writes
    assert diff_of(world, "s")["operations"] == {"adds": [], "updates": [], "deletes": []}


def test_a_line_that_the_user_took_out_does_not_come_back_with_a_repeat(world: World) -> None:  # B-B16 B-C9
    """The file remembers which extractions it has absorbed, whatever has become of their lines."""
    (request,) = waiting(world, {"s": ["tea: green", "tea: black"]})
    for nth in range(1, 4):
        world.objects.faults.before("put", Ambiguous("down"), nth=nth + 3)  # file, two indexes, then the diff
    assert isinstance(run_merge(world.services(), [request])[0], Unavailable)
    body = memory.read(world.services(), ALICE, TEA).body
    kept = "\n".join(line for line in body.split("\n") if "green" not in line)
    memory.write(world.services(), ALICE, TEA, kept, memory.matching(None, absent=False))

    assert run_merge(world.services(), [request]) == [None]

    assert memory.read(world.services(), ALICE, TEA).body == kept
    assert world.find("green black", limit=9) == ["black"]


SESSIONS = {
    "a": ["tea: green", "sport: I row"],
    "b": ["tea: black", "music: the oboe"],
    "c": ["tea: white", "sport: I swim"],
}


def merged_in(order: Sequence[int], *, twice: bool = False, batch: bool = False) -> dict[str, bytes]:
    world = World()
    requests = waiting(world, SESSIONS)
    chosen = [requests[n] for n in order] * (2 if twice else 1)
    for group in [chosen] if batch else [[request] for request in chosen]:
        assert set(run_merge(world.services(), group)) == {None}
    return world.bodies("/memories/")


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_any_order_of_archives_gives_the_same_bytes(order: Sequence[int]) -> None:  # B-C9
    expected = merged_in([0, 1, 2])
    assert len(expected) == 3
    assert merged_in(order) == expected
    assert merged_in(order, twice=True) == expected
    assert merged_in(order, batch=True) == expected
    assert merged_in(order, batch=True, twice=True) == expected


def test_archives_of_one_session_merged_backwards_give_the_same_bytes() -> None:  # B-C9
    def play(order: Sequence[int]) -> dict[str, bytes]:
        world = World()
        requests: list[MergeRequested] = []
        for n in range(4):
            world.append("s", f"tea: cup {n}", ids=f"m{n}-")
            world.commit("s")
            world.extract_next()
        for delivery in world.merge_queue.receive(10):
            assert isinstance(delivery.message, MergeRequested)
            requests.append(delivery.message)
        for n in order:
            run_merge(world.services(), [requests[n]])
        assert world.head("s").latest_done == 4
        return world.bodies("/memories/")

    assert play([3, 1, 0, 2]) == play([0, 1, 2, 3])


def test_an_older_archive_that_is_done_later_does_not_become_the_latest(world: World) -> None:  # B-C9 B-D1
    for n in range(2):
        world.append("s", f"tea: cup {n}", ids=f"m{n}-")
        world.commit("s")
        world.extract_next()
    first, second = (m for m in world.merge_queue.sent if isinstance(m, MergeRequested))
    run_merge(world.services(), [second])
    assert world.head("s").latest_done == 2
    run_merge(world.services(), [first])
    assert world.head("s").latest_done == 2


def test_two_merges_of_one_user_at_once_lose_nothing() -> None:  # B-C10
    for at in range(30):
        world = World()
        first, second = waiting(world, {"a": ["tea: green"], "b": ["tea: black"]})
        world.next(at, lambda w=world, r=second: run_merge(w.services(), [r]))  # type: ignore[misc]
        assert run_merge(world.services(), [first]) == [None]
        if world.calls.trip is not None:
            return
        assert sorted(world.find("green black", limit=50)) == ["black", "green"], f"call {at}"
        lines = memory.read(world.services(), ALICE, TEA).lines
        assert sorted(line.text for line in lines) == ["black", "green"]
        messages = world.find("tea", limit=50, context_type="message")
        assert sorted(messages) == ["tea: black", "tea: green"], f"call {at}"
    raise AssertionError("so many calls")


def test_a_batch_of_two_users_keeps_them_apart(world: World) -> None:  # B-A14
    world.append("s", "tea: green")
    world.append("s", "tea: black", owner=BOB)
    world.commit("s")
    world.commit("s", BOB)
    world.extract_next()
    world.extract_next()
    requests = [m for m in world.merge_queue.sent if isinstance(m, MergeRequested)]

    assert run_merge(world.services(), requests) == [None, None]

    assert (world.find("tea", limit=9), world.find("tea", BOB, limit=9)) == (["green"], ["black"])


def test_the_sweep_has_nothing_to_do_afterwards(world: World) -> None:
    world.remember("s", "tea: green")
    world.heal()
    world.calls.names.clear()
    assert set(run_sweep(world.services()).values()) == {0}
    assert set(world.calls.names) == {"items.query"}
