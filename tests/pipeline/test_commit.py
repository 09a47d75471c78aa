"""Commit: what is live becomes one archive, once."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from strandline.domain.errors import NotFound
from strandline.domain.session import Skip
from strandline.pipeline import archive
from strandline.pipeline.commit import Committed
from strandline.pipeline.context import run_context
from strandline.ports import Ambiguous
from tests.pipeline.trips import Killed
from tests.pipeline.world import ALICE, BOB, World


@pytest.mark.parametrize("keep", [0, 1, 10_000])
def test_an_empty_session_has_no_messages_to_commit(world: World, keep: int) -> None:  # B-B1
    world.create("s")
    assert world.commit("s", keep=keep) == Skip("no_messages")


@pytest.mark.parametrize("keep", [3, 4, 10_000])
def test_everything_in_the_keep_window(world: World, keep: int) -> None:  # B-B1
    world.append("s", "a", "b", "c")
    assert world.commit("s", keep=keep) == Skip("all_within_keep_window")
    assert world.head("s").live_count == 3


@pytest.mark.parametrize("keep", [0, 1, 2])
def test_what_is_kept_stays_live_and_the_rest_is_archived(world: World, keep: int) -> None:  # B-B1 B-B5
    world.append("s", "a", "b", "c")

    done = world.commit("s", keep=keep)

    assert isinstance(done, Committed)
    assert (done.archive.first, done.archive.last) == (1, 3 - keep)
    assert world.head("s").live_count == keep
    assert world.log("s") == [(1, "a"), (2, "b"), (3, "c")]


def test_the_counters_right_after_a_commit(world: World) -> None:  # B-B2
    world.append("s", "one two", "three", "four five six")
    assert world.head("s").pending_tokens == 6

    world.commit("s")
    head = world.head("s")

    assert (head.live_count, head.last_seq, head.commit_count, head.pending_tokens) == (0, 3, 1, 0)
    assert head.last_commit_at == "2026-01-01T00:00:00.000Z"
    assert [a.number for a in head.pending] == [1]

    world.append("s", "seven", ids="n")
    head = world.head("s")
    assert (head.live_count, head.last_seq, head.commit_count, head.pending_tokens) == (1, 4, 1, 1)


def test_commits_at_the_same_time_make_one_archive(world: World) -> None:  # B-B3
    for n in range(4):
        world.append("s", "a", "b", "c", ids=f"m{n}-")

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda _: world.commit("s"), range(8)))

    assert len([d for d in done if isinstance(d, Committed)]) == 1
    assert {d.reason for d in done if isinstance(d, Skip)} == {"no_messages"}
    expect_one_archive(world, 12)


def expect_one_archive(world: World, messages: int) -> None:
    head = world.head("s")
    assert [(a.number, a.first, a.last) for a in head.pending] == [(1, 1, messages)]
    assert (head.live_count, head.pending_tokens) == (0, 0)
    assert len(world.extract_queue.sent) == 1
    world.settle()
    assert [seq for seq, _ in world.log("s")] == list(range(1, messages + 1))
    assert world.head("s").commit_count == world.head("s").completed == 1
    assert len(world.rows("TASKS#")) == 1


def interleaved(intruder: str) -> Iterator[tuple[int, World]]:
    """Worlds in which something comes before call 0, 1, 2, … of a commit of three messages."""
    for at in range(50):
        world = World()
        world.append("s", "a", "b", "c")
        act = {
            "commit": lambda world=world: world.commit("s"),
            "append": lambda world=world: world.append("s", "d", ids="n"),
        }[intruder]
        world.next(at, act)
        world.commit("s")
        if world.calls.trip is not None:
            return
        yield at, world
    raise AssertionError("so many calls")


def test_a_commit_that_comes_in_between_at_any_point() -> None:  # B-B3
    for _, world in interleaved("commit"):
        expect_one_archive(world, 3)


def test_a_message_that_comes_while_a_commit_runs_is_live_or_archived_once() -> None:  # B-B4
    for at, world in interleaved("append"):
        head = world.head("s")
        assert world.log("s") == [(1, "a"), (2, "b"), (3, "c"), (4, "d")], f"call {at}"
        # the commit reads the head first; what comes later stays live
        assert head.live_count == (0 if at == 0 else 1), f"call {at}"


def test_messages_that_come_while_an_archive_is_extracted_and_merged_stay_live(world: World) -> None:  # B-B4
    world.append("s", "tea: a")
    world.commit("s")
    world.append("s", "b", ids="n")
    world.extract_next()
    world.append("s", "c", ids="o")
    world.merge_next()

    assert world.head("s").live_count == 2
    assert world.log("s") == [(1, "tea: a"), (2, "b"), (3, "c")]


def test_a_commit_that_died_before_it_was_true_leaves_nothing_behind_in_the_log(world: World) -> None:
    """Its archive object has another range than that of the next commit, under the same number."""  # B-B4
    world.append("s", "a", "b", "c")
    world.kill(3, before=True)  # after the archive and the marker, before the head
    with pytest.raises(Killed):
        world.commit("s")
    world.append("s", "d", ids="n")

    world.commit("s")
    world.settle()

    log = archive.log(world.services(), ALICE, "s", archive.Window(limit=100))
    assert [m["content"] for m in log] == ["a", "b", "c", "d"]
    read = archive.read(world.services(), ALICE, "s", "archive_001")
    assert [m["content"] for m in read["messages"]] == ["a", "b", "c", "d"]
    assert (read["first_seq"], read["last_seq"]) == (1, 4)
    context = run_context(world.services(), ALICE, "s")
    assert context.messages == []


def test_a_lost_answer_of_a_commit_is_found_again(world: World) -> None:  # B-B3
    world.append("s", "a", "b")
    world.objects.faults.after("put", Ambiguous("lost"), nth=2)

    done = world.commit("s")

    assert isinstance(done, Committed)
    expect_one_archive(world, 2)


def test_commits_one_after_the_other_number_their_archives(world: World) -> None:
    for n in range(12):
        done = world.remember("s", f"tea: cup {n}", ids=f"m{n}-")
        assert (done.archive.number, done.archive.first, done.archive.last) == (n + 1, n + 1, n + 1)

    log = archive.log(world.services(), ALICE, "s", archive.Window(limit=100))
    assert [m["content"] for m in log] == [f"tea: cup {n}" for n in range(12)]


@pytest.mark.parametrize(("after", "limit"), [(0, 3), (2, 5), (5, 100), (9, 1), (10, 5)])
def test_the_log_is_read_in_parts(world: World, after: int, limit: int) -> None:
    """Seqs 1 to 4 and 5 to 8 in archives, 9 and 10 live."""
    for n in range(2):
        world.append("s", *[f"text {n}{m}" for m in range(4)], ids=f"m{n}-")
        world.commit("s")
    world.append("s", "live 1", "live 2", ids="live")

    log = archive.log(world.services(), ALICE, "s", archive.Window(after, limit=limit))

    assert [m["seq"] for m in log] == list(range(after + 1, min(after + limit, 10) + 1))


def test_the_log_of_a_session_without_archives(world: World) -> None:
    world.append("s", "a", "b")
    log = archive.log(world.services(), ALICE, "s", archive.Window(limit=100))
    assert [m["content"] for m in log] == ["a", "b"]


def test_nobody_commits_what_is_not_there(world: World) -> None:
    with pytest.raises(NotFound):
        world.commit("nothing")


def test_nobody_commits_for_another_user(world: World) -> None:  # B-A14
    world.append("s", "a")
    with pytest.raises(NotFound):
        world.commit("s", BOB)
    assert world.head("s").live_count == 1
