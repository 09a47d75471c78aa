"""The world of tests/pipeline over AWS's own protocol: the real adapters, the wire, and moto behind it."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar
from uuid import uuid4

from pydantic import TypeAdapter

from strandline.adapters.dynamodb import DynamoItems, _plain_item
from strandline.adapters.events import EventBus
from strandline.adapters.sqs import SqsQueue
from strandline.domain.contracts import Message
from strandline.domain.events import Event
from strandline.pipeline.services import Ports
from tests.fakes import Delivery
from tests.pipeline.world import World
from tests.sim.moto.wire import Fault, Wire, Wired

T = TypeVar("T")
_MESSAGE: TypeAdapter[Message] = TypeAdapter(Message)
_EVENT: TypeAdapter[Event] = TypeAdapter(Event)
QUEUES = ("ingest_queue", "commit_queue", "extract_queue", "merge_queue", "learn_queue", "erase_queue")


class MotoWorld(World):
    """`services()` is one more function with new adapters; everything outside the adapters' calls is quiet."""

    def __init__(self) -> None:
        self.aws = Wired()
        self.wire: Wire = Wired.wire
        super().__init__()
        with self.wire.quiet():
            self._provide()

    def _provide(self) -> None:
        self.objects: Any = self.aws.objects()
        self.items: Any = Table(self.aws)
        self.bus: Any = Bus(self.aws)
        for name in QUEUES:
            setattr(self, name, Queue(self.aws, fifo=name in ("ingest_queue", "merge_queue", "learn_queue")))

    def ports(self) -> Ports:
        return replace(super().ports(), bus=self.bus.anew)

    def mend(self) -> None:
        self.wire.fault = None

    def heal(self, times: int = 2) -> None:
        """As in any world, but the sweep that has left nothing to be looked at is the last: each asks sixteen times."""
        for _ in range(times):
            super().heal(1)
            if not self.rows("DUE#"):
                return

    def break_call(self, offset: int, fault: Fault) -> None:
        self.wire.break_call(offset, fault)

    def land(self) -> int:  # type: ignore[override]
        """What was held back arrives now; answers how much that was."""
        return self.wire.land()

    def _quiet(self, look: Callable[[], T]) -> T:
        with self.wire.quiet():
            return look()


class Table(DynamoItems):
    """The table, and all that is in it."""

    def __init__(self, aws: Wired) -> None:
        made = aws.items()
        super().__init__(made._table, lambda config: aws.client("dynamodb", config))
        self._aws = aws

    def rows(self) -> list[dict[str, Any]]:
        with self._aws.wire.quiet():
            answer = self._aws.client("dynamodb").scan(TableName=self._table)
        return [dict(_plain_item(item)) for item in answer["Items"]]


class Queue(SqsQueue):
    """A queue, and its other end as the platform holds it. Nothing becomes visible again by time alone."""

    def __init__(self, aws: Wired, *, fifo: bool) -> None:
        name = f"queue-{uuid4().hex}" + (".fifo" if fifo else "")
        attributes = {"VisibilityTimeout": "600", **({"FifoQueue": "true"} if fifo else {})}
        url = aws.client("sqs").create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
        super().__init__(url, lambda config: aws.client("sqs", config))
        self._aws = aws
        self._handles: dict[int, str] = {}

    def receive(self, limit: int = 10) -> list[Delivery]:
        answer = self._call("receive_message", MaxNumberOfMessages=limit, MessageSystemAttributeNames=["All"])
        return [self._delivery(each) for each in answer.get("Messages", [])]

    def _delivery(self, received: Any) -> Delivery:
        attributes, body = received["Attributes"], received["Body"]
        delivery = Delivery(
            _MESSAGE.validate_python(json.loads(body)),
            body,
            attributes.get("MessageGroupId", ""),
            int(attributes["ApproximateReceiveCount"]),
        )
        self._handles[id(delivery)] = received["ReceiptHandle"]
        return delivery

    def done(self, delivery: Delivery) -> None:
        self._call("delete_message", ReceiptHandle=self._handles.pop(id(delivery)))

    def back(self, delivery: Delivery) -> None:
        handle = self._handles.pop(id(delivery))
        self._call("change_message_visibility", ReceiptHandle=handle, VisibilityTimeout=0)

    def __len__(self) -> int:
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        answer = self._call("get_queue_attributes", AttributeNames=names)
        return sum(int(answer["Attributes"][name]) for name in names)

    def _call(self, operation: str, **request: Any) -> Any:
        with self._aws.wire.quiet():
            return getattr(self._aws.client("sqs"), operation)(QueueUrl=self._url, **request)


class Bus:
    """A bus; `published` is what a rule of its own has caught."""

    def __init__(self, aws: Wired) -> None:
        self._aws = aws
        made, self._caught = aws.bus()
        self._name = made._name
        self._published: list[Event] = []

    def anew(self) -> EventBus:
        """As a new function has it, which has not seen the bus fail yet."""
        return EventBus(self._name, lambda config: self._aws.client("events", config))

    @property
    def published(self) -> list[Event]:
        with self._aws.wire.quiet():
            while found := self._caught():
                self._published += map(_EVENT.validate_python, found)
        return self._published
