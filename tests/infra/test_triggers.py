"""Event source mappings of the local run: what a batch looks like, and what an answer means for its messages."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from infra.local.template import Function, QueueTrigger, Schedule
from infra.local.triggers import Source, batch_event, failed_ids, fire_once, poll_once
from infra.local.workers import FunctionError

SOURCE = Source(QueueTrigger("Jobs", "Work", 10), "http://queue", max_receives=5, retry_seconds=7)


def message(name: str, receives: int = 1) -> dict[str, Any]:
    return {
        "MessageId": name,
        "ReceiptHandle": f"receipt-{name}",
        "Body": "{}",
        "MD5OfBody": "md5",
        "Attributes": {"ApproximateReceiveCount": str(receives), "MessageGroupId": "g"},
        "MessageAttributes": {"kind": {"StringValue": "v", "DataType": "String"}},
    }


@dataclass
class Queue:
    """Just enough of an SQS client: what was received, deleted, and put back."""

    messages: list[dict[str, Any]]
    deleted: list[str] = field(default_factory=list)
    back: dict[str, int] = field(default_factory=dict)
    asked: dict[str, Any] = field(default_factory=dict)

    def receive_message(self, **asked: Any) -> dict[str, Any]:
        self.asked = asked
        return {"Messages": self.messages} if self.messages else {}

    def delete_message(self, **asked: Any) -> None:
        self.deleted.append(asked["ReceiptHandle"])

    def change_message_visibility(self, **asked: Any) -> None:
        self.back[asked["ReceiptHandle"]] = asked["VisibilityTimeout"]


@dataclass
class Answering:
    """A pool whose function gives one answer, or fails."""

    answer: Any = None
    error: Exception | None = None
    events: list[Any] = field(default_factory=list)
    function: Function = field(default_factory=lambda: Function("Work", None, "h", 30, 128, {}))  # type: ignore[arg-type]

    def invoke(self, event: Any) -> Any:
        self.events.append(event)
        if self.error:
            raise self.error
        return self.answer


def poll(queue: Queue, pool: Answering) -> None:
    poll_once(queue, SOURCE, pool)  # type: ignore[arg-type]


@pytest.mark.parametrize("answer", [None, {}, {"batchItemFailures": []}, {"batchItemFailures": None}])
def test_success(answer: Any) -> None:
    assert failed_ids(answer, ["a", "b"]) == set()


def test_named_messages_fail() -> None:
    assert failed_ids({"batchItemFailures": [{"itemIdentifier": "b"}]}, ["a", "b"]) == {"b"}


@pytest.mark.parametrize(
    "answer",
    [
        "done",
        ["a"],
        {"batchItemFailures": "a"},
        {"batchItemFailures": ["a"]},
        {"batchItemFailures": [{"itemIdentifier": ""}]},
        {"batchItemFailures": [{"itemIdentifier": None}]},
        {"batchItemFailures": [{"messageId": "a"}]},
        {"batchItemFailures": [{"itemIdentifier": "unknown"}]},
    ],
)
def test_a_malformed_answer_fails_the_batch(answer: Any) -> None:
    assert failed_ids(answer, ["a", "b"]) == {"a", "b"}


def test_succeeded_messages_are_deleted_and_failed_ones_come_back() -> None:
    queue = Queue([message("a"), message("b")])
    poll(queue, Answering({"batchItemFailures": [{"itemIdentifier": "a"}]}))
    assert (queue.deleted, queue.back) == (["receipt-b"], {"receipt-a": 7})


def test_a_function_that_raises_fails_the_batch() -> None:
    queue = Queue([message("a"), message("b")])
    poll(queue, Answering(error=FunctionError("boom")))
    assert (queue.deleted, queue.back.keys()) == ([], {"receipt-a", "receipt-b"})


def test_a_batch_is_as_large_as_an_invocation_takes() -> None:
    queue = Queue([{**message(name), "Body": "x" * 1024 * 1024} for name in "abcdefgh"])
    pool = Answering()
    poll(queue, pool)
    assert [r["messageId"] for r in pool.events[0]["Records"]] == ["a", "b", "c", "d", "e"]
    assert len(queue.deleted) == 5
    assert queue.back == {"receipt-f": 0, "receipt-g": 0, "receipt-h": 0}


def test_what_a_message_says_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    poll(Queue([{**message("a"), "Body": "canary"}]), Answering(error=FunctionError("boom")))
    assert "message a failed" in caplog.text
    assert "canary" not in caplog.text


def test_nothing_received_calls_nobody() -> None:
    pool = Answering()
    poll(Queue([]), pool)
    assert pool.events == []


def test_what_is_asked_of_the_queue() -> None:
    queue = Queue([])
    poll(queue, Answering())
    assert (queue.asked["MaxNumberOfMessages"], queue.asked["VisibilityTimeout"]) == (10, 40)


def test_the_last_receive_is_announced(caplog: pytest.LogCaptureFixture) -> None:
    poll(Queue([message("a", receives=5)]), Answering(error=FunctionError("boom")))
    assert "receive 5 of 5; it goes to the dead-letter queue" in caplog.text


def test_batch_event() -> None:
    (record,) = batch_event("Jobs", [message("a")])["Records"]
    assert record == {
        "messageId": "a",
        "receiptHandle": "receipt-a",
        "body": "{}",
        "attributes": {"ApproximateReceiveCount": "1", "MessageGroupId": "g"},
        "messageAttributes": {"kind": {"stringValue": "v", "dataType": "String"}},
        "md5OfBody": "md5",
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:Jobs",
        "awsRegion": "us-east-1",
    }


def test_schedule_event() -> None:
    pool = Answering()
    fire_once(Schedule("EveryMinute", "Work", 60), pool)  # type: ignore[arg-type]
    (event,) = pool.events
    assert (event["source"], event["detail-type"], event["detail"]) == (
        "aws.scheduler",
        "Scheduled Event",
        "{}",
    )
    assert event["resources"] == ["arn:aws:scheduler:us-east-1:000000000000:schedule/default/EveryMinute"]
