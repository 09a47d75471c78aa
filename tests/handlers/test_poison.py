"""Messages that can come to nothing, on every queue: they end where an operator finds them, or do nothing at all, and
hold nobody up.

                    ingest                     commit, extract, merge, learn, erase
    not JSON        dead letter                dead letter
    unknown version dead letter                dead letter
    no session      dead letter (unnamed)      acknowledged: a session that is gone needs nothing any more
    wrong tenant    dead letter (no such name) acknowledged: keys are built of the message's own account, user and
                                               session, and there is no such life of a session
    too large       dead letter                dead letter
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from strandline.domain.contracts import (
    CommitRequested,
    EraseRequested,
    ExtractRequested,
    LearnRequested,
    MergeRequested,
    SessionRef,
)
from strandline.storage.layout import User
from tests.fakes import MemoryQueue
from tests.handlers.service import MAX_RECEIVES, TEMPLATE, Client, Service
from tests.handlers.test_ingest import request

Fate = Literal["dead", "harmless"]
ALICE, BOB = User("acme", "alice"), User("acme", "bob")
QUEUES = ("IngestQueue", "CommitQueue", "ExtractQueue", "MergeQueue", "LearnQueue", "EraseQueue")
ORDERED = ("IngestQueue", "MergeQueue", "LearnQueue")
STAGES = QUEUES[1:]
INGEST: Mapping[str, str] = {
    "not JSON": "{",
    "unknown version": request("x", version=2),
    "no session": json.dumps({k: v for k, v in json.loads(request("x")).items() if k != "session_id"}),
    "wrong tenant": request("x", user="../bob"),
    "too large": request(messages=[{"role": "user", "content": "x", "metadata": {"a": [""] * 100_001}}]),
}
KINDS = tuple(INGEST)


@dataclass
class Stage:
    """A queue, one good message that waits for its worker, and the session it is about."""

    name: str
    queue: MemoryQueue
    good: str
    session: SessionRef

    def poison(self, kind: str) -> tuple[str, Fate]:
        """A body of that kind, and what becomes of it."""
        if self.name == "IngestQueue":
            return INGEST[kind], "dead"
        good = json.loads(self.good)
        unheard_of = {"task_id": "unheard-of"} if good.get("task_id") else {}
        bad: Mapping[str, Mapping[str, Any]] = {
            "unknown version": {"version": 2},
            "no session": {"session": self._other(session_id="gone")},
            "wrong tenant": {"session": self._other(user_id="bob")},
            "too large": {"session": self._other(session_id="x" * 1_000_000), **unheard_of},
        }
        body = "{" if kind == "not JSON" else json.dumps({**good, **bad[kind]})
        return body, "harmless" if kind in ("no session", "wrong tenant") else "dead"

    def _other(self, **fields: str) -> dict[str, str]:
        return {**self.session.model_dump(), **fields}


def at(service: Service, name: str, alice: Client, session: str = "s") -> Stage:
    """What is waiting for the stage's worker in a session of Alice's."""
    word = name.removesuffix("Queue").lower()
    queue = getattr(service.world, f"{word}_queue", MemoryQueue())
    told = {"metadata": {"case": {"name": "c"}}} if word == "learn" else {}
    alice.append(session, "I love the cello.", **told)
    found = SessionRef(
        account_id="acme",
        user_id="alice",
        session_id=session,
        incarnation=service.world.head(session).incarnation,
    )
    return Stage(name, queue, good(service, word, alice, found), found)


def good(service: Service, word: str, alice: Client, session: SessionRef) -> str:
    if word == "ingest":
        return request("more", session=session.session_id)
    if word == "commit":
        return CommitRequested(session=session).model_dump_json()
    if word == "erase":
        alice.delete(f"/sessions/{session.session_id}")
        return EraseRequested(scope="session", session=session).model_dump_json()
    task = alice.commit(session.session_id).result["task_id"]
    if word in ("merge", "learn"):
        service.deliver("ExtractQueue", service.world.extract_queue)
    if word == "learn":
        service.deliver("MergeQueue", service.world.merge_queue)
        task = f"{task}-learn"
    for queue in (service.world.extract_queue, service.world.merge_queue, service.world.learn_queue):
        take_all(queue)
    kind = {"extract": ExtractRequested, "merge": MergeRequested, "learn": LearnRequested}[word]
    return kind(session=session, archive=1, first=1, last=1, task_id=task).model_dump_json()


def take_all(queue: MemoryQueue) -> None:
    for delivery in queue.receive(100):
        queue.done(delivery)


def stored(service: Service) -> tuple[Any, Any]:
    """Everything that can be read."""
    world = service.world
    return {key: world.body(key) for key in world.stored()}, world.rows("")


def time_passes(queue: MemoryQueue) -> None:
    """What was hidden is visible again."""
    for delivery in queue._waiting:
        queue.back(delivery)


def bodies(queue: MemoryQueue) -> list[str]:
    return [delivery.body for delivery in queue._waiting]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", QUEUES)
def test_it_ends_in_the_dead_letters_or_does_nothing(
    service: Service, alice: Client, bob: Client, name: str, kind: str
) -> None:
    bob.remember("s", "I play the oboe.")
    stage = at(service, name, alice)
    body, fate = stage.poison(kind)
    before = stored(service)

    stage.queue.put(body, "acme/alice")
    for _ in range(MAX_RECEIVES):
        service.deliver(name, stage.queue, hide=True)
        time_passes(stage.queue)

    assert len(stage.queue) == 0
    dead = [(delivery.body, delivery.received) for delivery in service.dead]
    assert dead == ([(body, MAX_RECEIVES)] if fate == "dead" else [])
    assert stored(service) == before


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", QUEUES)
def test_its_neighbours_are_served_at_once(service: Service, alice: Client, name: str, kind: str) -> None:
    stages = [at(service, name, alice, session) for session in ("s", "t")]
    body, fate = stages[0].poison(kind)
    queue = stages[0].queue
    for each in (stages[0].good, body, stages[1].good):
        queue.put(each, "acme/alice")

    for _ in range(3 if batch_size(name) < 3 else 1):
        service.deliver(name, queue, hide=True)

    assert bodies(queue) == ([body] if fate == "dead" else [])
    for stage in stages:
        assert happened(service, alice, stage), stage.session.session_id


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ORDERED)
def test_what_comes_later_in_its_group_does_not_wait(
    service: Service, alice: Client, name: str, kind: str
) -> None:
    """While a message is hidden its whole group waits, on a FIFO queue: what can never be read is let go."""
    stage = at(service, name, alice)
    body, _ = stage.poison(kind)
    stage.queue.put(body, "acme/alice")
    service.deliver(name, stage.queue, hide=True)
    stage.queue.put(stage.good, "acme/alice")

    service.deliver(name, stage.queue, hide=True)

    assert happened(service, alice, stage)


@pytest.mark.parametrize("name", ORDERED)
def test_it_is_soon_in_the_dead_letters(service: Service, alice: Client, name: str) -> None:
    stage = at(service, name, alice)
    stage.queue.put("{", "acme/alice")
    for _ in range(MAX_RECEIVES):
        service.deliver(name, stage.queue, hide=True)
    assert [(delivery.body, delivery.received) for delivery in service.dead] == [("{", MAX_RECEIVES)]


def batch_size(name: str) -> int:
    return next(trigger.batch_size for trigger in TEMPLATE.queue_triggers() if trigger.queue == name)


def happened(service: Service, alice: Client, stage: Stage) -> bool:
    """Whether the stage's good message has had its effect."""
    session = stage.session.session_id
    if stage.name == "EraseQueue":
        return service.world.stored(f"/{stage.session.incarnation}/") == []
    if stage.name == "IngestQueue":
        return alice.log(session)[-1] == (2, "more")
    if stage.name == "ExtractQueue":
        return len(service.world.stored(f"/sessions/{session}/{stage.session.incarnation}/archives/")) > 1
    if stage.name == "LearnQueue":
        lesson = json.loads(stage.good)["task_id"]
        return bool(alice.get(f"/tasks/{lesson}").result["status"] == "completed")
    archives = alice.look(session).result["archives"]
    done = {"CommitQueue": ("pending", 1), "MergeQueue": ("completed", 1)}
    name, count = done[stage.name]
    return bool(archives[name] == count)


@pytest.mark.parametrize(
    "wrong",
    [{"archive": 7}, {"last": 2}, {"first": 2, "last": 2}],
    ids=["another archive", "a longer one", "another range"],
)
def test_an_extraction_of_what_is_not_there_starts_nothing(
    service: Service, alice: Client, wrong: dict[str, int]
) -> None:
    stage = at(service, "ExtractQueue", alice)
    before = stored(service)
    for received in (1, MAX_RECEIVES):
        body = json.dumps({**json.loads(stage.good), "task_id": "unheard-of", **wrong})
        assert service.send_batch("ExtractQueue", [(body, received)]) == set()
    assert stored(service) == before
    assert service.send_batch("ExtractQueue", [(stage.good, 1)]) == set()
    assert happened(service, alice, stage)
