"""The ingest queue: AppendRequested from event-driven producers (API.md, "Ingest queue")."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from strandline.ports import Ambiguous, ConditionFailed
from strandline.storage.document import Retry
from tests.handlers.service import Client, Service, at

QUEUE = "IngestQueue"


def request(*texts: str, session: str = "s", user: str = "alice", **fields: Any) -> str:
    """The body of one queue message, its messages without ids."""
    messages = [{"role": "user", "content": text} for text in texts]
    body = {"type": "AppendRequested", "version": 1, "account_id": "acme", "user_id": user}
    return json.dumps({**body, "session_id": session, "messages": messages, **fields})


def send(service: Service, bodies: Sequence[str], received: int = 1) -> set[int]:
    return service.send_batch(QUEUE, [(body, received) for body in bodies])


def head_writes(service: Service) -> int:
    return service.world.objects.calls["put"]


def texts(client: Client, session: str = "s") -> list[str]:
    return [text for _, text in client.log(session)]


def test_of_ten_one_is_malformed(service: Service, alice: Client) -> None:  # B-A17
    bodies = [request(f"{n}") for n in range(10)]
    bodies[3] = "{"
    assert send(service, bodies) == {3}
    assert texts(alice) == ["0", "1", "2", "4", "5", "6", "7", "8", "9"]
    assert send(service, bodies, received=2) == {3}
    assert [seq for seq, _ in alice.log("s")] == list(range(1, 10))


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "null",
        request(),
        request("x", version=2),
        request("x", type="CommitRequested"),
        request("x", user="../bob"),
        request("x", session=""),
        request("x", messages=[{"role": "nobody", "content": "x"}]),
        request("x", messages=[{"role": "user"}]),
        request(*["x"] * 101),
        request("x", idempotency_key=""),
        request("x", idempotency_key="k" * 256),
        '{"type":"AppendRequested","version":1,"account_id":"acme","user_id":"alice","session_id":"s",'
        '"messages":[{"role":"user","content":"\\ud800"}]}',
    ],
)
def test_what_can_never_be_stored_fails_alone(service: Service, alice: Client, body: str) -> None:
    assert send(service, [request("before"), body, request("after")]) == {1}
    assert texts(alice) == ["before", "after"]


def test_the_messages_of_one_session_take_one_head_write(service: Service, alice: Client) -> None:
    alice.append("s", "there")
    alice.append("t", "there")
    before = head_writes(service)
    bodies = [request(f"{n}a", f"{n}b", session="st"[n % 2]) for n in range(10)]
    assert send(service, bodies) == set()
    assert head_writes(service) - before == 2
    assert texts(alice, "s") == ["there", *(f"{n}{x}" for n in (0, 2, 4, 6, 8) for x in "ab")]
    assert texts(alice, "t") == ["there", *(f"{n}{x}" for n in (1, 3, 5, 7, 9) for x in "ab")]


def test_more_than_an_append_takes_is_written_in_order_by_several(service: Service, alice: Client) -> None:
    bodies = [request(*(f"{n}.{m}" for m in range(60))) for n in range(3)]
    assert send(service, bodies) == set()
    assert alice.look("s").result["message_count"] == 180
    first = alice.get(f"{at('s')}/messages", limit=1000).result
    assert [m["content"] for m in first] == [f"{n}.{m}" for n in range(3) for m in range(60)]


def test_a_key_makes_a_second_sending_a_repeat(service: Service, alice: Client) -> None:
    """Under another SQS message id; without a key it is somebody saying the same again."""
    body = request("once", "twice", idempotency_key="turn-1")
    assert send(service, [body, request("x"), body]) == set()
    assert send(service, [request("y"), body]) == set()
    assert texts(alice) == ["once", "twice", "x", "y"]


def test_the_same_words_twice_are_two_messages(service: Service, alice: Client) -> None:
    assert send(service, [request("yes"), request("yes")]) == set()
    assert texts(alice) == ["yes", "yes"]


def test_ids_of_the_producer_are_kept(service: Service, alice: Client) -> None:  # B-A7
    mine = request(messages=[{"role": "user", "content": "x", "id": "mine"}])
    assert send(service, [mine, mine]) == set()
    answer = alice.append("s", "x", id="mine").result
    assert (answer["seq"], answer["duplicate"]) == (1, True)


def test_users_with_the_same_session_id_are_kept_apart(service: Service, alice: Client, bob: Client) -> None:
    assert send(service, [request("a"), request("b", user="bob")]) == set()
    assert (texts(alice), texts(bob)) == (["a"], ["b"])


def test_a_silent_store_brings_all_of_the_session_back(service: Service, alice: Client, bob: Client) -> None:
    """And nothing overtakes; other sessions go on."""
    alice.append("s", "there")
    bob.append("s", "there")
    for nth in range(1, Retry().attempts + 2):  # a guess, and as often as a write is tried
        service.world.objects.faults.before("put", Ambiguous("down"), nth=nth)
    bodies = [request("1"), request("b", user="bob"), request("2")]
    assert send(service, bodies) == {0, 2}
    assert (texts(alice), texts(bob)) == (["there"], ["there", "b"])
    assert send(service, [bodies[0], bodies[2]], received=2) == set()
    assert texts(alice) == ["there", "1", "2"]


def test_what_stands_behind_a_failure_waits_for_it(service: Service, alice: Client) -> None:
    """The second write of a batch that needs three is refused for good this time: the third is not tried."""
    alice.append("s", "there")
    bodies = [request(*(f"{n}.{m}" for m in range(60))) for n in range(3)]
    for nth in range(2, 80):
        service.world.objects.faults.before("put", ConditionFailed("412"), nth=nth)
    assert send(service, bodies) == {1, 2}
    service.world.mend()
    assert send(service, bodies, received=2) == set()
    stored = alice.get(f"{at('s')}/messages", limit=1000).result
    assert [m["content"] for m in stored[1:]] == [f"{n}.{m}" for n in range(3) for m in range(60)]


def test_a_request_whose_parts_are_too_many_fails_alone(service: Service, alice: Client) -> None:
    """What only the use case can refuse: a message of tool parts is stored as one message a part."""
    tools = {"role": "user", "parts": [{"type": "tool", "tool_name": "t", "tool_output": "x"}] * 100}
    bodies = [request("before"), request(messages=[tools] * 6), request("after")]
    assert send(service, bodies) == {1}
    assert texts(alice) == ["before", "after"]


def test_a_request_of_the_largest_message_that_sqs_takes(service: Service, alice: Client) -> None:
    text = "x" * (1024 * 1024 - 500)
    body = request(text)
    assert len(body) <= 1024 * 1024
    assert send(service, [body]) == set()
    assert texts(alice) == [text]
