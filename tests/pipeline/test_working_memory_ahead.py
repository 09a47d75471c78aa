"""The working memory made ahead of an archive, when a context asks for it."""

import pytest

from strandline.domain.contracts import SummariseRequested
from strandline.domain.message import MessageIn
from strandline.pipeline.append import AppendRequest, run_append
from strandline.pipeline.working_memory import ask_ahead, run_summarise
from strandline.storage.layout import Life
from tests.pipeline.summarising import committed, facts, live, notes, through, whose
from tests.pipeline.world import ALICE, World


def test_a_version_made_ahead_is_used_by_the_archive(world: World) -> None:
    reader = notes(world)
    live(world)
    assert ask_ahead(world.services(), whose(world), 12)
    world.settle()
    assert reader.asked == [(0, 1, 12)]
    assert through(world) == [12]
    world.commit("s")
    world.settle()
    assert reader.asked[1:] == [(12, 13, 20)]
    assert facts(world, 1) == [str(n) for n in range(1, 21)]


def test_one_that_ends_where_the_archive_does_is_the_archives(world: World) -> None:
    reader = notes(world)
    live(world)
    run_summarise(world.services(), SummariseRequested(session=whose(world), through=20))
    world.commit("s")
    world.settle()
    assert reader.asked == [(0, 1, 20)]
    (ahead,) = world.bodies("/working/").values()
    assert world.body(Life(whose(world)).archive_file(1, "overview.md")) == ahead


def test_asked_for_by_two_it_is_made_once(world: World) -> None:
    reader = notes(world)
    live(world)
    assert ask_ahead(world.services(), whose(world), 10)
    assert not ask_ahead(world.services(), whose(world), 12)
    world.settle()
    assert reader.asked == [(0, 1, 10)]
    assert ask_ahead(world.services(), whose(world), 19)
    world.settle()
    assert reader.asked == [(0, 1, 10), (10, 11, 19)]


def test_a_request_that_comes_again_is_not_paid_again(world: World) -> None:
    reader = notes(world)
    world.append("s", "a", "b", ids="m")
    for _ in range(2):
        assert run_summarise(world.services(), SummariseRequested(session=whose(world), through=2)) == 2
    assert reader.asked == [(0, 1, 2)]


def test_the_archives_before_it_come_first(world: World) -> None:
    reader = notes(world)
    committed(world, "a", ids="n")
    live(world)
    assert run_summarise(world.services(), SummariseRequested(session=whose(world), through=15)) == 15
    assert reader.asked == [(0, 1, 1), (1, 2, 15)]
    assert len(world.bodies("overview.md")) == 1


@pytest.mark.parametrize("seq", [1, 30])
def test_what_is_archived_meanwhile_or_not_there_is_left_alone(world: World, seq: int) -> None:
    reader = notes(world)
    committed(world, "a", ids="n")
    live(world)
    assert run_summarise(world.services(), SummariseRequested(session=whose(world), through=seq)) is None
    assert reader.asked == []


def test_it_never_ends_on_an_open_call(world: World) -> None:
    reader = notes(world)
    open_call = {"type": "tool", "tool_id": "t", "tool_name": "bash", "tool_status": "pending"}
    sent = [
        MessageIn(role="user", content="go", id="a"),
        MessageIn.model_validate({"role": "assistant", "id": "b", "parts": [open_call]}),
        MessageIn(role="user", content="well?", id="c"),
    ]
    run_append(world.services(), AppendRequest(ALICE, "s", sent))
    assert run_summarise(world.services(), SummariseRequested(session=whose(world), through=3)) == 1
    assert reader.asked == [(0, 1, 1)]
    assert through(world) == [1]


def test_a_worker_that_died_is_followed_by_another(world: World) -> None:
    live(world)
    assert ask_ahead(world.services(), whose(world), 10)
    world.extract_queue.done(world.extract_queue.receive(1)[0])  # and is never heard of again
    assert not ask_ahead(world.services(), whose(world), 12)
    world.clock.advance(601)
    assert ask_ahead(world.services(), whose(world), 12)
    world.settle()
    assert through(world) == [12]
