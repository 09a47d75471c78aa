"""Workers that die at whatever they are given, dead letters, and dead letters that are sent back."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from strandline.domain.extraction import Extraction, Transcript
from tests.fakes import Delivery, MemoryQueue
from tests.handlers.service import MAX_RECEIVES, Client, Service
from tests.pipeline.models import Echo
from tests.pipeline.trips import Killed

TEXT = "cello: I love the cello."
LINE = "I love the cello."
HEAL_SECONDS = 901


class Deadly(Echo):
    """Ends the process that asks it, as running out of memory or time does."""

    def extract(self, transcript: Transcript) -> Extraction:
        raise Killed


@contextmanager
def deadly(service: Service, stage: str) -> Iterator[None]:
    """Meanwhile whoever works at this stage dies of it, every time."""
    if stage == "extract":
        model, service.world.model = service.world.model, Deadly()
    else:
        for nth in range(1, 100):
            service.world.objects.faults.before("put", kill_a_merge, nth=nth)
    service.cold()
    yield
    if stage == "extract":
        service.world.model = model
    service.world.mend()
    service.cold()


def kill_a_merge() -> None:
    raise Killed


@pytest.fixture
def echoing(service: Service) -> Service:
    service.world.model = Echo()
    service.cold()
    return service


def committed(service: Service, alice: Client, stage: str) -> str:
    """A session whose archive waits for this stage; the task's id."""
    alice.append("s", TEXT)
    task = str(alice.commit("s").result["task_id"])
    if stage == "merge":
        service.deliver("ExtractQueue", service.world.extract_queue)
    return task


def shown(alice: Client, task: str) -> tuple[str, Any]:
    found = alice.get(f"/tasks/{task}").result
    return found["status"], found["error"]


def texts(alice: Client) -> list[str]:
    return [message["content"] for message in alice.context("s").result["messages"]]


def lines(service: Service) -> list[str]:
    return service.world.find("cello", limit=50)


def until_failed(service: Service, stage: str) -> None:
    """The sweep sends what has stood still again, and each time it ends in the dead letters."""
    with deadly(service, stage):
        service.pump()
    for _ in range(service.world.rules.heal_rounds + 1):
        service.sweep(HEAL_SECONDS)
        with deadly(service, stage):
            service.pump()


@pytest.mark.parametrize("stage", ["extract", "merge"])
def test_what_is_in_the_dead_letters_is_open_until_the_sweep_gives_up(
    echoing: Service, alice: Client, stage: str
) -> None:  # B-B15
    task = committed(echoing, alice, stage)
    with deadly(echoing, stage):
        echoing.pump()

    assert [delivery.received for delivery in echoing.dead] == [MAX_RECEIVES]
    assert shown(alice, task)[0] == "running"
    assert texts(alice) == [TEXT]


@pytest.mark.parametrize("stage", ["extract", "merge"])
def test_then_the_task_and_the_archive_have_failed_and_nothing_is_lost(
    echoing: Service, alice: Client, stage: str
) -> None:  # B-B15
    task = committed(echoing, alice, stage)
    until_failed(echoing, stage)

    assert shown(alice, task) == ("failed", "no progress after repeated attempts")
    assert alice.get("/sessions/s/archives/archive_001").result["status"] == "failed"
    assert texts(alice) == [TEXT]
    assert echoing.world.rows("DUE#") == []


@pytest.mark.parametrize("stage", ["extract", "merge"])
def test_the_next_commit_goes_through_and_a_retry_completes(
    echoing: Service, alice: Client, stage: str
) -> None:  # B-B15
    task = committed(echoing, alice, stage)
    until_failed(echoing, stage)
    next_task = alice.remember("s", "oboe: I play the oboe.")
    assert shown(alice, next_task) == ("completed", None)

    assert alice.post(f"/tasks/{task}/retry").result["status"] == "pending"
    echoing.pump()

    assert shown(alice, task) == ("completed", None)
    assert alice.look("s").result["archives"] == {"pending": 0, "completed": 2, "failed": 0}
    assert lines(echoing) == [LINE]
    assert texts(alice) == []


def redriven(service: Service, dead: list[Delivery]) -> None:
    """The dead letters are sent back to their queues, and delivered."""
    for delivery in dead:
        word = str(delivery.message.type).removesuffix("Requested").lower()  # type: ignore[union-attr]
        queue: MemoryQueue = getattr(service.world, f"{word}_queue")
        queue.send(delivery.message)
    service.pump()


def everything(service: Service, alice: Client, task: str) -> Any:
    world = service.world
    written = {key: (world.writes(key), world.body(key)) for key in world.stored()}
    events = [event.model_dump() for event in world.bus.published]
    return written, world.rows("DUE#"), shown(alice, task), alice.look("s").result, events


@pytest.mark.parametrize("stage", ["extract", "merge"])
def test_a_redrive_completes_what_was_mended(echoing: Service, alice: Client, stage: str) -> None:  # B-B15
    task = committed(echoing, alice, stage)
    with deadly(echoing, stage):
        echoing.pump()

    redriven(echoing, echoing.dead)

    assert shown(alice, task) == ("completed", None)
    assert lines(echoing) == [LINE]


@pytest.mark.parametrize("stage", ["extract", "merge"])
def test_a_redrive_after_success_does_nothing(echoing: Service, alice: Client, stage: str) -> None:  # B-B16
    """Twice, out of order, and with other things in between."""
    task = committed(echoing, alice, stage)
    until_failed(echoing, stage)
    alice.post(f"/tasks/{task}/retry")
    echoing.pump()
    alice.remember("s", "oboe: I play the oboe.")
    dead = list(echoing.dead)
    assert len(dead) == 1 + echoing.world.rules.heal_rounds
    before = everything(echoing, alice, task)

    redriven(echoing, dead)
    redriven(echoing, list(reversed(dead)))
    redriven(echoing, dead[:1] * 3)

    assert everything(echoing, alice, task) == before


@pytest.mark.parametrize("stage", ["extract", "merge"])
def test_a_redrive_after_the_session_is_gone_does_nothing(
    echoing: Service, alice: Client, stage: str
) -> None:  # B-A15
    committed(echoing, alice, stage)
    with deadly(echoing, stage):
        echoing.pump()
    alice.delete("/sessions/s")
    alice.append("s", "new")
    echoing.pump()
    before = {key: echoing.world.body(key) for key in echoing.world.stored()}

    redriven(echoing, echoing.dead)

    assert {key: echoing.world.body(key) for key in echoing.world.stored()} == before
    assert alice.get("/tasks").result == []


def test_a_commit_that_comes_back_after_another_has_done_its_work(service: Service, alice: Client) -> None:
    # B-B3 B-B16
    alice.append("s", TEXT)
    head = service.world.head("s")
    body = (
        '{"type":"CommitRequested","version":1,"session":{"account_id":"acme","user_id":"alice",'
        f'"session_id":"s","incarnation":"{head.incarnation}"}}}}'
    )
    alice.commit("s")
    service.pump()
    assert service.send_batch("CommitQueue", [(body, 1), (body, 3)]) == set()
    assert alice.look("s").result["commit_count"] == 1


def test_an_ingest_request_with_a_key_comes_back_after_it_was_stored(service: Service, alice: Client) -> None:
    """A message that is sent back has another SQS id. Without a key of its producer's it would be a new one."""
    from tests.handlers.test_ingest import request, send

    body = request("once", idempotency_key="turn-1")
    assert send(service, [body]) == set()
    alice.append("s", "in between")
    for _ in range(2):
        service.world.ingest_queue.put(body, "s")
        service.pump()
    assert alice.log("s") == [(1, "once"), (2, "in between")]
