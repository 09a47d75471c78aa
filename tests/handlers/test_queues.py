"""The queue edge: what of a batch must come again, and what is given up."""

from typing import Any

import pytest

from strandline.domain.contracts import (
    CommitRequested,
    ExtractRequested,
    LearnRequested,
    MergeRequested,
    SessionRef,
)
from strandline.ports import Ambiguous
from strandline.storage.document import Retry
from tests.handlers.service import MAX_RECEIVES, TEMPLATE, Client, Service

QUEUES = ["CommitQueue", "ExtractQueue", "MergeQueue", "LearnQueue"]
BAD_BODIES = [
    "",
    "{",
    "[]",
    "null",
    '{"type":"ExtractRequested","version":2}',
    '{"type":"SomethingElse","version":1}',
    '{"type":"MergeRequested","version":1}',
]


def reference(service: Service, name: str, user: str = "alice") -> SessionRef:
    from strandline.storage.layout import User

    head = service.world.head(name, User("acme", user))
    return SessionRef(account_id="acme", user_id=user, session_id=name, incarnation=head.incarnation)


def test_batches_are_as_large_as_the_template_says() -> None:
    sizes = {trigger.queue: trigger.batch_size for trigger in TEMPLATE.queue_triggers()}
    assert sizes["MergeQueue"] == 10
    assert set(sizes) == {*QUEUES, "IngestQueue", "EraseQueue"}


@pytest.mark.parametrize("queue", QUEUES)
def test_an_empty_answer_is_success(service: Service, queue: str) -> None:
    session = SessionRef(account_id="a", user_id="u", session_id="gone", incarnation="x")
    fields: dict[str, Any] = {"session": session, "archive": 1, "first": 1, "last": 1, "task_id": "t"}
    bodies = {
        "CommitQueue": CommitRequested(session=session),
        "ExtractQueue": ExtractRequested(**fields),
        "MergeQueue": MergeRequested(**fields),
        "LearnQueue": LearnRequested(**fields),
    }
    assert service.send_batch(queue, [(bodies[queue].model_dump_json(), 1)]) == set()


@pytest.mark.parametrize("queue", QUEUES)
@pytest.mark.parametrize("body", BAD_BODIES)
def test_what_cannot_be_read_fails_alone(service: Service, queue: str, body: str) -> None:
    session = SessionRef(account_id="a", user_id="u", session_id="gone", incarnation="x")
    fields: dict[str, Any] = {"session": session, "archive": 1, "first": 1, "last": 1, "task_id": "t"}
    good = {
        "CommitQueue": CommitRequested(session=session),
        "ExtractQueue": ExtractRequested(**fields),
        "MergeQueue": MergeRequested(**fields),
        "LearnQueue": LearnRequested(**fields),
    }[queue].model_dump_json()
    batch = [(good, 1), (body, 1), (good, 5), (body, 5)]
    assert service.send_batch(queue, batch) == {1, 3}


def test_a_commit_by_queue_is_the_commit_of_the_route(service: Service, alice: Client) -> None:
    alice.batch("s", "a", "b", "c")
    request = CommitRequested(session=reference(service, "s"), keep_recent_count=2)
    assert service.send_batch("CommitQueue", [(request.model_dump_json(), 1)]) == set()
    shown = alice.look("s").result
    assert (shown["message_count"], shown["commit_count"]) == (2, 1)


def test_a_commit_requested_twice_is_one_commit(service: Service, alice: Client) -> None:  # B-B3
    alice.batch("s", "a", "b", "c")
    body = CommitRequested(session=reference(service, "s")).model_dump_json()
    assert service.send_batch("CommitQueue", [(body, 1), (body, 1), (body, 2)]) == set()
    assert alice.look("s").result["commit_count"] == 1


def test_a_commit_meant_for_a_deleted_session_leaves_its_successor_alone(
    service: Service, alice: Client
) -> None:  # B-A15
    alice.append("s", "old")
    body = CommitRequested(session=reference(service, "s")).model_dump_json()
    alice.delete("/sessions/s")
    alice.append("s", "new")

    assert service.send_batch("CommitQueue", [(body, 1)]) == set()

    assert alice.look("s").result["commit_count"] == 0


def merges(service: Service, alice: Client, count: int) -> list[str]:
    """The bodies of that many merge requests, taken off their queue."""
    for n in range(count):
        alice.append(f"s{n}", f"I love cello number {n}.")
        alice.commit(f"s{n}")
        service.deliver("ExtractQueue", service.world.extract_queue)
    batch = service.world.merge_queue.receive(count)
    for delivery in batch:
        service.world.merge_queue.done(delivery)
    return [delivery.body for delivery in batch]


def test_ten_merges_in_a_batch(service: Service, alice: Client) -> None:  # B-C8
    bodies = merges(service, alice, 10)
    assert service.send_batch("MergeQueue", [(body, 1) for body in bodies]) == set()
    assert [alice.look(f"s{n}").result["archives"]["completed"] for n in range(10)] == [1] * 10


@pytest.mark.parametrize(
    "bad",
    ["unreadable", "no candidates", "cut candidates"],
)
@pytest.mark.parametrize("received", [1, MAX_RECEIVES])
def test_one_bad_merge_fails_alone(service: Service, alice: Client, bad: str, received: int) -> None:  # B-C8
    bodies = merges(service, alice, 10)
    (key,) = [k for k in service.world.stored("/sessions/s3/") if k.endswith("candidates.json")]
    if bad == "unreadable":
        bodies[3] = "{"
    elif bad == "no candidates":
        service.world.objects.delete(key)
    else:
        service.world.objects.put(key, b'{"extraction"')

    failed = service.send_batch("MergeQueue", [(body, received) for body in bodies])

    assert failed <= {3}  # what can never succeed is given up: the archive has failed, its task says why
    done = [alice.look(f"s{n}").result["archives"]["completed"] for n in range(10)]
    assert done == [1, 1, 1, 0, 1, 1, 1, 1, 1, 1]
    if bad != "unreadable":
        assert alice.look("s3").result["archives"] == {"pending": 0, "completed": 0, "failed": 1}


@pytest.mark.parametrize("received", range(1, MAX_RECEIVES + 1))
def test_a_store_that_is_silent_is_asked_again_until_the_last_receive(
    service: Service, alice: Client, received: int
) -> None:  # B-B15
    (body,) = merges(service, alice, 1)
    for nth in range(1, 4 * Retry().attempts):
        service.world.objects.faults.before("put", Ambiguous("down"), nth=nth)

    failed = service.send_batch("MergeQueue", [(body, received)])

    assert failed == {0}  # on the last receive the failure itself cannot be written down either
    service.world.mend()
    assert service.send_batch("MergeQueue", [(body, received)]) == set()
    assert alice.look("s0").result["archives"]["completed"] == 1


def test_a_message_that_is_never_read_ends_in_the_dead_letter_queue(service: Service) -> None:
    session = SessionRef(account_id="a", user_id="u", session_id="s", incarnation="x")
    service.world.merge_queue.send(MergeRequested(session=session, archive=1, first=1, last=1, task_id="t"))
    (delivery,) = service.world.merge_queue.receive()
    service.world.merge_queue.back(delivery)
    delivery.received, delivery.body = 0, "{"

    service.pump()

    assert [(d.body, d.received) for d in service.dead] == [("{", MAX_RECEIVES)]


def test_a_merge_lost_in_the_dead_letter_queue_is_healed_by_the_sweep(
    service: Service, alice: Client
) -> None:
    # B-B17
    merges(service, alice, 1)
    service.sweep(901)
    service.pump()
    assert alice.look("s0").result["archives"] == {"pending": 0, "completed": 1, "failed": 0}
    assert service.sweep(901)["failed"] == 0
    assert service.world.rows("DUE#") == []


def test_a_user_waits_for_his_own_merges_only(service: Service, alice: Client, bob: Client) -> None:
    for client in (alice, bob):
        client.append("s", "I love the cello.")
        client.commit("s")
        service.deliver("ExtractQueue", service.world.extract_queue)
    held = service.world.merge_queue.receive(1)
    assert [d.group for d in held] == ["acme/alice"]
    assert service.deliver("MergeQueue", service.world.merge_queue)
    assert len(bob.find("cello")) == 1
    assert alice.find("cello") == []
