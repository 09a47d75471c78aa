"""The same message again, many at once, and writers who say what they expect."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.handlers.service import Client, Service


def test_a_message_sent_again(alice: Client) -> None:  # B-A7
    first = alice.append("s", "hello", id="m1").result
    alice.append("s", "other", id="m2")
    again = alice.append("s", "hello", id="m1").result
    assert (first["seq"], first["duplicate"]) == (1, False)
    assert (again["seq"], again["duplicate"], again["added"], again["message_count"]) == (1, True, 0, 2)


def test_a_batch_sent_again_after_a_restart(service: Service, alice: Client) -> None:  # B-A7
    batch = {"messages": [{"role": "user", "content": f"text {n}", "id": f"m{n}"} for n in range(3)]}
    alice.post("/sessions/s/messages/batch", batch)
    service.cold()
    again = alice.post("/sessions/s/messages/batch", batch).result
    assert again["messages"] == [{"id": f"m{n}", "seq": n + 1, "duplicate": True} for n in range(3)]
    assert alice.log("s") == [(1, "text 0"), (2, "text 1"), (3, "text 2")]


def test_messages_without_ids_are_all_different(alice: Client) -> None:  # B-A7
    ids = {alice.append("s", "hello").result["message_id"] for _ in range(3)}
    assert len(ids) == 3
    assert len(alice.log("s")) == 3


def test_many_requests_at_once_through_one_function(alice: Client) -> None:  # B-A9
    alice.append("s", "first")

    def write(n: int) -> int:
        answer = alice.append("s", f"text {n}", id=f"m{n}")
        while answer.status == 409:
            assert answer.error["code"] == "ABORTED" and answer.error["retryable"]
            answer = alice.append("s", f"text {n}", id=f"m{n}")
        return int(answer.result["seq"])

    with ThreadPoolExecutor(8) as pool:
        seqs = list(pool.map(write, range(40)))

    assert sorted(seqs) == list(range(2, 42))
    assert [seq for seq, _ in alice.log("s")] == list(range(1, 42))


@pytest.mark.parametrize("expected", [0, 1, 3, 10**9])
@pytest.mark.parametrize("batch", [True, False])
def test_an_expectation_that_is_wrong(alice: Client, expected: int, batch: bool) -> None:  # B-A10
    alice.batch("s", "a", "b")
    if batch:
        answer = alice.batch("s", "c", expected_last_seq=expected)
    else:
        answer = alice.append("s", "c", expected_last_seq=expected)
    assert answer.status == 409
    assert (answer.error["code"], answer.error["retryable"]) == ("ABORTED", True)
    assert answer.error["details"] == {"last_seq": 2}
    assert len(alice.log("s")) == 2


@pytest.mark.parametrize("expected", [-1, "x", 1.5])
def test_an_expectation_that_is_none(alice: Client, expected: Any) -> None:  # B-A10
    assert alice.append("s", "c", expected_last_seq=expected).refusal == (400, "INVALID_ARGUMENT")


def test_an_expectation_that_is_right(alice: Client) -> None:  # B-A10
    alice.batch("s", "a", "b")
    assert alice.append("s", "c", expected_last_seq=2).result["seq"] == 3
    assert alice.append("new", "c", expected_last_seq=0).result["seq"] == 1
