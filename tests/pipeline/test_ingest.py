"""The ingest queue under faults: whatever dies, the queue delivers again, and each message is there once, in order."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from strandline.domain.message import MessageIn
from strandline.pipeline import session
from strandline.pipeline.append import AppendRequest
from strandline.pipeline.ingest import run_ingest
from tests.pipeline.faults import FAULTS, going_on
from tests.pipeline.world import ALICE, World, said

BIG = "x" * 40_000


def requests() -> list[AppendRequest]:
    """Three requests, without ids, that fill the tail twice and need two appends."""
    sizes = [(1, BIG), (60, "a"), (60, "b")]
    return [
        AppendRequest(
            ALICE, "s", [m.model_copy(update={"id": None}) for m in said([text] * count)], repeat_key=f"r{n}"
        )
        for n, (count, text) in enumerate(sizes)
    ]


def deliver(world: World) -> bool:
    return run_ingest(world.services(), requests()) == [None, None, None]


@pytest.mark.parametrize("kind", FAULTS)
def test_a_batch_that_dies_anywhere_is_stored_once(kind: str) -> None:  # B-A17 B-B17
    wanted = [BIG, *["a"] * 60, *["b"] * 60]
    for at in range(30):
        world = World()
        world.append("s", BIG, ids="first")
        FAULTS[kind](world, at)
        done = False
        with going_on():
            done = deliver(world)
        fired = world.calls.trip is None
        world.mend()
        assert done or deliver(world)
        assert [text for _, text in world.log("s")] == [BIG, *wanted], f"call {at}"
        if not fired:
            return
    raise AssertionError("a batch of so many calls")


def sent(world: World, *texts: str, key: str = "r", seconds: float = 0) -> AppendRequest:
    """A request of the queue, sent that many seconds from now."""
    at = world.clock.now() + timedelta(seconds=seconds)
    return AppendRequest(ALICE, "s", unnamed(texts), repeat_key=key, sent_at=at)


def unnamed(texts: Sequence[str]) -> Sequence[MessageIn]:
    return [m.model_copy(update={"id": None}) for m in said(texts)]


def delete(world: World) -> None:
    world.clock.advance(60)
    session.delete(world.services(), ALICE, "s")
    world.clock.advance(60)


def test_what_was_stored_does_not_come_back_after_its_session_was_deleted(
    world: World,
) -> None:  # B-A15 B-A17
    """The function stored it and died; the queue delivers it again when the session is gone."""
    request = sent(world, "old")
    run_ingest(world.services(), [request])
    delete(world)

    assert run_ingest(world.services(), [request]) == [None]

    assert world.head("s").buried_at
    assert [key for key in world.stored("/s/") if "head.json" not in key] == []


def test_nor_into_the_sessions_next_life(world: World) -> None:  # B-A15 B-A17
    old = sent(world, "old", key="old")
    run_ingest(world.services(), [old])
    delete(world)

    assert run_ingest(world.services(), [old, sent(world, "new", key="new")]) == [None, None]
    assert run_ingest(world.services(), [old]) == [None]
    delete(world)
    assert run_ingest(world.services(), [sent(world, "newest", key="newest"), old]) == [None, None]

    assert world.log("s") == [(1, "newest")]


@pytest.mark.parametrize("begin", ["create", "append"])
def test_however_the_next_life_began(world: World, begin: str) -> None:  # B-A15
    old = sent(world, "old")
    run_ingest(world.services(), [old])
    delete(world)
    if begin == "create":
        world.create("s")
    else:
        world.append("s", "new")

    assert run_ingest(world.services(), [old]) == [None]

    assert [text for _, text in world.log("s")] == ([] if begin == "create" else ["new"])


def test_between_two_clocks_a_message_is_kept(world: World) -> None:
    world.append("s", "old")
    session.delete(world.services(), ALICE, "s")
    request = sent(world, "sent right after the deletion", seconds=-4)
    assert run_ingest(world.services(), [request]) == [None]
    assert world.log("s") == [(1, "sent right after the deletion")]
