"""The working memory of a session: version by version, each made once, of the version before and what came since."""

import json
from itertools import permutations

import pytest

from strandline.domain.contracts import ExtractRequested, SummariseRequested
from strandline.domain.errors import ExtractionFailed
from strandline.domain.working_memory.update import Summary, Update
from strandline.pipeline.commit import Committed
from strandline.pipeline.context import run_context
from strandline.pipeline.services import Rules
from strandline.pipeline.working_memory import run_summarise
from strandline.storage.layout import Life
from tests.pipeline.faults import FAULTS, run
from tests.pipeline.models import Notes
from tests.pipeline.summarising import (
    LONG,
    SPENT,
    committed,
    facts,
    live,
    notes,
    three_archives,
    through,
    version,
    whose,
)
from tests.pipeline.trips import Killed
from tests.pipeline.world import ALICE, HEAL_SECONDS, World


def test_each_version_is_made_of_the_one_before_and_what_came_since(world: World) -> None:
    asked = notes(world).asked
    world.remember("s", "a", "b", ids="m")
    world.remember("s", "c", ids="n")
    assert asked == [(0, 1, 2), (2, 3, 3)]
    assert version(world, 2).of("facts") == ("1: a", "2: b", "3: c")
    assert version(world, 2).through == 3
    assert run_context(world.services(), ALICE, "s").overview.startswith(
        "# conversation\n\nMessages 1 to 3.\n"
    )


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_archives_in_any_order_give_the_same_documents(order: tuple[int, ...]) -> None:
    calm, world = World(), World()
    for each in (calm, world):
        requests = three_archives(each)
        for n in range(3) if each is calm else order:
            each.extract_queue.send(requests[n])
            each.extract_next()
    assert world.bodies("overview.md") == calm.bodies("overview.md")
    assert len(world.bodies("overview.md")) == 3
    assert facts(world, 3) == ["1", "2", "3", "4", "5", "6"]


def test_nothing_is_paid_twice_whoever_comes_first(world: World) -> None:
    asked = notes(world).asked
    requests = three_archives(world)
    for request in (requests[2], *requests, *requests):
        world.extract_queue.send(request)
        world.extract_next()
    assert asked == [(0, 1, 2), (2, 3, 4), (4, 5, 6)]


def names(world: World, request: ExtractRequested) -> list[str]:
    world.extract_queue.send(request)
    before = len(world.calls.names)
    world.extract_next()
    return world.calls.names[before:]


@pytest.mark.parametrize("kind", FAULTS)
def test_a_fault_at_any_call_gives_the_same_documents(kind: str) -> None:
    calm = World()
    requests = three_archives(calm)
    length = len(names(calm, requests[2]))
    for request in requests[:2]:
        names(calm, request)
    for at in range(length):
        world = World()
        requests = three_archives(world)
        for request in (requests[2], *requests[:2]):
            world.extract_queue.send(request)
        FAULTS[kind](world, at)
        run(world, lambda w: w.extract_next())
        world.settle()
        world.heal()
        assert world.bodies("overview.md") == calm.bodies("overview.md"), f"call {at}"
        assert world.head("s").latest_done == 3


def test_a_model_that_fails_fails_the_attempt_and_the_version_before_stays(world: World) -> None:
    world.remember("s", "a", ids="m")
    before = world.body(Life(whose(world)).archive_file(1, "overview.md"))
    asked = notes(world, failing=2).asked
    request = committed(world, "b", ids="n")
    world.extract_queue.send(request)
    for _ in range(2):
        with pytest.raises(ExtractionFailed):
            world.extract_next()
    assert run_context(world.services(), ALICE, "s").overview.encode() == before
    assert len(world.bodies("candidates.json")) == 2  # what was extracted stays
    world.extract_next()
    assert asked == [(1, 2, 2)] * 3
    assert version(world, 2).of("facts") == ("1: a", "2: b")


def test_a_model_that_fails_too_often_fails_the_archive_and_a_later_one_takes_its_messages_in(
    world: World,
) -> None:
    notes(world, failing=world.rules.max_receives)
    world.extract_queue.send(committed(world, "a", ids="m"))
    for _ in range(world.rules.max_receives - 1):
        with pytest.raises(ExtractionFailed):
            world.extract_next()
    world.settle()
    assert [archive.number for archive in world.head("s").failed] == [1]
    world.remember("s", "b", ids="n")
    assert version(world, 2).of("facts") == ("1: a", "2: b")


# ---- long ranges


def long_archive(world: World, count: int = 30) -> ExtractRequested:
    return committed(world, *[f"{n} {LONG}" for n in range(1, count + 1)], ids="m")


def test_a_long_archive_is_read_in_several_updates_each_kept(world: World) -> None:
    asked = notes(world).asked
    names(world, long_archive(world, 50))
    assert asked == [(0, 1, 20), (20, 21, 40), (40, 41, 50)]
    assert through(world) == [20, 40]
    assert version(world, 1).through == 50


def test_what_a_crash_leaves_of_a_long_archive_is_gone_on_from(world: World) -> None:
    reader = notes(world)
    request = long_archive(world, 50)
    puts = [n for n, name in enumerate(names(same_archive(), request)) if name == "objects.put"]
    world.extract_queue.send(request)
    world.kill(puts[-2], before=True)  # the second of three versions
    with pytest.raises(Killed):
        world.extract_next()
    assert through(world) == [20]
    world.settle()
    assert reader.asked == [(0, 1, 20), (20, 21, 40), (20, 21, 40), (40, 41, 50)]
    assert facts(world, 1)[-1] == "50"


def same_archive() -> World:
    """Another world with the same long archive."""
    other = World()
    long_archive(other, 50)
    return other


class Slow(Notes):
    """Each update takes so long that none begins after it in the same delivery."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world

    def summarise(self, update: Update) -> Summary:
        self._world.clock.advance(60)
        return super().summarise(update)


def test_a_model_that_is_slow_goes_on_in_another_delivery(world: World) -> None:
    slow = Slow(world)
    world.summariser, world.language_model = slow, world.model
    request = long_archive(world, 50)
    world.extract_queue.send(request)
    for made in ([20], [20, 40]):
        world.extract_next()
        assert through(world) == made
        assert len(world.extract_queue) == 1
        assert len(world.merge_queue) == 0
    world.settle()
    assert slow.asked == [(0, 1, 20), (20, 21, 40), (40, 41, 50)]


def test_an_answer_that_does_not_fit_is_asked_for_in_halves(world: World) -> None:
    reader = notes(world, most=4, usage=SPENT)
    names(world, committed(world, *"abcdefgh", ids="m"))
    assert reader.asked == [(0, 1, 8), (0, 1, 4), (4, 5, 8)]
    assert version(world, 1).of("facts")[-1] == "8: h"


# ---- not wanted, gone, paid


def test_without_a_working_memory_there_is_an_empty_one(world: World) -> None:
    reader = notes(world)
    world.create("s", memory_policy={"working_memory": {"enabled": False}})
    world.remember("s", "a", ids="m")
    assert world.body(Life(whose(world)).archive_file(1, "overview.md")) == b""
    world.append("s", "b", ids="n")
    assert run_summarise(world.services(), SummariseRequested(session=whose(world), through=2)) is None
    assert reader.asked == []


def test_an_overview_of_before_is_gone_on_from(world: World) -> None:
    world.remember("s", "a", "b", ids="m")
    old = "# boats\n\nAnn, on 8 May 2023, 2 messages\n\n## Dates\n- It is on 12 June.\n"
    world.objects.put(Life(whose(world)).archive_file(1, "overview.md"), old.encode())
    reader = notes(world)
    world.remember("s", "c", ids="n")
    assert reader.asked == [(2, 3, 3)]
    assert version(world, 2).title == "boats"
    assert version(world, 2).of("facts") == ("Ann, on 8 May 2023, 2 messages", "It is on 12 June.", "3: c")


def test_it_goes_with_its_session(world: World) -> None:
    live(world)
    run_summarise(world.services(), SummariseRequested(session=whose(world), through=20))
    assert through(world) == [20]
    request = SummariseRequested(session=whose(world), through=19)
    world.delete("s")
    assert run_summarise(world.services(), request) is None
    world.settle()
    world.sweep(HEAL_SECONDS + 1)
    world.settle()
    assert world.stored("/working/") == []
    assert world.stored("overview.md") == []


def test_what_it_has_cost_is_in_the_task() -> None:
    world = World(rules=Rules(heal_seconds=HEAL_SECONDS))
    reader = notes(world, usage=SPENT)
    world.settler = object()  # type: ignore[assignment]
    live(world)
    run_summarise(world.services(), SummariseRequested(session=whose(world), through=12))
    done = world.commit("s")
    assert isinstance(done, Committed)
    world.settle()
    assert len(reader.asked) == 2
    (task,) = [row for row in world.rows("TASKS#") if row.get("task_id") == done.task_id]
    tokens = task["result"]["tokens"]
    assert tokens == {"model": "test:m", "input": 200, "output": 40, "calls": 2}
    world.remember("s", "more", ids="n")
    (newest,) = [row for row in world.rows("TASKS#") if row["result"]["archive"] == 2]
    assert newest["result"]["tokens"]["calls"] == 1


def test_a_rebuild_makes_none(world: World) -> None:
    reader = notes(world)
    request = committed(world, "a", ids="m")
    world.extract_queue.send(request.model_copy(update={"rebuild": "r"}))
    world.extract_next()
    assert reader.asked == []
    assert world.bodies("overview.md") == {}


def test_the_text_of_old_candidates_is_no_obstacle(world: World) -> None:
    request = committed(world, "a", ids="m")
    names(world, request)
    (key,) = world.stored("candidates.json")
    kept = json.loads(world.body(key))
    assert "overview" not in kept
    world.objects.put(key, json.dumps({**kept, "overview": "# Old\n"}).encode())
    names(world, request)
    world.settle()
    assert world.head("s").latest_done == 1


def test_what_an_archive_reads_does_not_grow_with_the_session(world: World) -> None:
    reader = notes(world)
    calls = []
    for n in range(12):
        request = committed(world, f"one of {n}", f"two of {n}", ids=f"m{n}-")
        calls.append(len(names(world, request)))
        world.settle()
    assert calls[1:] == [calls[1]] * 11
    assert [last - first for _, first, last in reader.asked] == [1] * 12
