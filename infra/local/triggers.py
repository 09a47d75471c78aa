"""What calls functions besides HTTP: queues, with the semantics of Lambda's event source mappings, and schedules."""

import json
import logging
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from infra.local.template import ACCOUNT, REGION, QueueTrigger, Schedule
from infra.local.workers import PAYLOAD_LIMIT, FunctionError, PayloadTooLargeError, Pool, ThrottledError

log = logging.getLogger("triggers")

POLL_SECONDS = 10
# The runner itself ends an invocation at its timeout, so a message that is still invisible this much later was lost
# with a killed run. On AWS the template's longer visibility timeout covers throttled batches, which do not occur here.
VISIBILITY_MARGIN_SECONDS = 10
FIRST_FIRING_SECONDS = 5
ENVELOPE_BYTES = 1024  # what an invocation carries besides its event


@dataclass(frozen=True)
class Source:
    """A queue as polled: its URL, its limit of receives, and how soon a failed message comes back."""

    trigger: QueueTrigger
    url: str
    max_receives: int
    retry_seconds: int


class Triggers:
    """Threads that poll and fire until stopped."""

    def __init__(self) -> None:
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []

    def poll(self, sqs: Any, source: Source, pool: Pool) -> None:
        """Receives from a queue and calls its function, one batch after another."""
        self._start(lambda: poll_once(sqs, source, pool), 0, 0)

    def fire(self, schedule: Schedule, pool: Pool) -> None:
        """Calls a function on its schedule."""
        self._start(lambda: fire_once(schedule, pool), FIRST_FIRING_SECONDS, schedule.seconds)

    def stop(self) -> None:
        """Starts nothing more; what runs is left to its worker."""
        self._stopping.set()

    def _start(self, step: Callable[[], None], first: float, every: float) -> None:
        thread = threading.Thread(target=self._repeat, args=(step, first, every), daemon=True)
        self._threads.append(thread)
        thread.start()

    def _repeat(self, step: Callable[[], None], first: float, every: float) -> None:
        wait = first
        while not self._stopping.wait(wait):
            wait = every
            try:
                step()
            except (FunctionError, ThrottledError, PayloadTooLargeError):
                continue  # logged where it happened; the message or the next firing comes again
            except (BotoCoreError, ClientError) as error:
                if not self._stopping.is_set():
                    log.error("queue not reachable: %s", error)
                wait = max(every, 1)


def poll_once(sqs: Any, source: Source, pool: Pool) -> None:
    """One receive, one call, and what its answer means for each message."""
    received = sqs.receive_message(
        QueueUrl=source.url,
        MaxNumberOfMessages=source.trigger.batch_size,
        WaitTimeSeconds=POLL_SECONDS,
        VisibilityTimeout=pool.function.timeout + VISIBILITY_MARGIN_SECONDS,
        MessageSystemAttributeNames=["All"],
        MessageAttributeNames=["All"],
    ).get("Messages", [])
    if not received:
        return
    received, rest = _fitting(source, received)
    for each in rest:  # behind the others: a FIFO group that is in flight waits
        sqs.change_message_visibility(
            QueueUrl=source.url, ReceiptHandle=each["ReceiptHandle"], VisibilityTimeout=0
        )
    try:
        answer = pool.invoke(batch_event(source.trigger.queue, received))
        failed = failed_ids(answer, [each["MessageId"] for each in received])
    except (FunctionError, PayloadTooLargeError):
        failed = {each["MessageId"] for each in received}
    for each in received:
        if each["MessageId"] in failed:
            _retry(sqs, source, each)
        else:
            sqs.delete_message(QueueUrl=source.url, ReceiptHandle=each["ReceiptHandle"])


Messages = Sequence[Mapping[str, Any]]


def _fitting(source: Source, received: Messages) -> tuple[Messages, Messages]:
    """As many of the messages as one invocation takes, at least one, and the rest."""
    room = PAYLOAD_LIMIT - ENVELOPE_BYTES
    for number, each in enumerate(received):
        room -= len(json.dumps(batch_event(source.trigger.queue, [each])))
        if number and room < 0:
            return received[:number], received[number:]
    return received, ()


def fire_once(schedule: Schedule, pool: Pool) -> None:
    """One firing with the event that EventBridge Scheduler sends when the template names no input."""
    arn = f"arn:aws:scheduler:{REGION}:{ACCOUNT}:schedule/default/{schedule.name}"
    pool.invoke(
        {
            "version": "0",
            "id": str(uuid.uuid4()),
            "detail-type": "Scheduled Event",
            "source": "aws.scheduler",
            "account": ACCOUNT,
            "time": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "region": REGION,
            "resources": [arn],
            "detail": "{}",
        }
    )


def batch_event(queue: str, messages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Received messages as the event of an event source mapping."""
    arn = f"arn:aws:sqs:{REGION}:{ACCOUNT}:{queue}"
    return {
        "Records": [
            {
                "messageId": each["MessageId"],
                "receiptHandle": each["ReceiptHandle"],
                "body": each["Body"],
                "attributes": each.get("Attributes", {}),
                "messageAttributes": {
                    name: {key[0].lower() + key[1:]: value for key, value in attribute.items()}
                    for name, attribute in each.get("MessageAttributes", {}).items()
                },
                "md5OfBody": each["MD5OfBody"],
                "eventSource": "aws:sqs",
                "eventSourceARN": arn,
                "awsRegion": REGION,
            }
            for each in messages
        ]
    }


def failed_ids(answer: Any, received: Sequence[str]) -> set[str]:
    """The messages that a ReportBatchItemFailures answer hands back.

    As Lambda reads it: nothing, or an empty list, is success; an id that is empty or was not in the batch, or any
    other shape, fails the whole batch.
    """
    if not answer:
        return set()
    failures = answer.get("batchItemFailures") or [] if isinstance(answer, dict) else None
    if isinstance(failures, list) and all(isinstance(each, dict) for each in failures):
        named = {each.get("itemIdentifier") for each in failures}
        if named <= set(received):
            return named
    return set(received)


def _retry(sqs: Any, source: Source, message: Mapping[str, Any]) -> None:
    receives = int(message["Attributes"]["ApproximateReceiveCount"])
    log.error(
        "%s: message %s failed, receive %d of %d%s",
        source.trigger.queue,
        message["MessageId"],
        receives,
        source.max_receives,
        "; it goes to the dead-letter queue" if receives >= source.max_receives else "",
    )
    sqs.change_message_visibility(
        QueueUrl=source.url, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=source.retry_seconds
    )
