"""A queue in memory."""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from strandline.domain.contracts import Message
from tests.fakes.faults import Faults


@dataclass(eq=False)
class Delivery:
    """A message as a handler gets it; `received` counts its deliveries, this one included."""

    message: Message | None
    body: str
    group: str
    received: int = 0
    in_flight: bool = False
    trace: str | None = None
    receipt: str = ""


class MemoryQueue:
    """`ports.Queue`, and its other end. On a FIFO queue a group waits while one of its messages is in flight."""

    def __init__(self, *, fifo: bool = False, trace: Callable[[], str | None] = lambda: None) -> None:
        self.trace = trace
        self.faults = Faults()
        self.sent: list[Message] = []
        self._fifo = fifo
        self._waiting: list[Delivery] = []
        self._lock = Lock()

    def send(self, message: Message) -> None:
        def accept() -> None:
            with self._lock:
                self.sent.append(message)
                self._waiting.append(self._delivery(message))

        self.faults.run("send", accept)

    def put(self, body: str, group: str = "") -> None:
        """Anything at all, from anybody who may write to the queue."""
        with self._lock:
            self._waiting.append(Delivery(None, body, group))

    def release(self, receipt: str) -> None:
        def accept() -> None:
            with self._lock:
                for delivery in self._waiting:
                    delivery.in_flight = delivery.in_flight and delivery.receipt != receipt

        self.faults.run("release", accept)

    def _delivery(self, message: Message) -> Delivery:
        return Delivery(message, message.model_dump_json(), message.session.owner, trace=self.trace())

    def receive(self, limit: int = 10) -> list[Delivery]:
        """Up to `limit` messages, in flight until `done` or `back` says otherwise."""
        with self._lock:
            busy = {d.group for d in self._waiting if d.in_flight} if self._fifo else set()
            batch = [d for d in self._waiting if not d.in_flight and d.group not in busy][:limit]
            for delivery in batch:
                delivery.in_flight = True
                delivery.received += 1
                delivery.receipt = f"receipt {id(delivery)}, {delivery.received}"
            return batch

    def done(self, delivery: Delivery) -> None:
        """The consumer has deleted it."""
        with self._lock:
            self._waiting.remove(delivery)

    def back(self, delivery: Delivery) -> None:
        """Its visibility timeout is over: it will be delivered again."""
        with self._lock:
            delivery.in_flight = False

    def __len__(self) -> int:
        with self._lock:
            return len(self._waiting)
