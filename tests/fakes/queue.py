"""Queues in memory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from threading import Lock

from strandline.domain.contracts import Message
from strandline.ports import LETTERS_HIDDEN, Clock, Letter
from tests.fakes.faults import Faults

_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


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


class MemoryDeadLetters:
    """`ports.DeadLetters`, a few at a time, and what an operator does there. What was taken shows itself again when its
    time is over by the clock."""

    def __init__(self, clock: Clock, *, fifo: bool = False, at_once: int = 10) -> None:
        self.faults = Faults()
        self._clock = clock
        self._fifo = fifo
        self._at_once = at_once
        self._rows: list[_Dead] = []
        self._taken = 0
        self._lock = Lock()

    def put(self, body: str, group: str = "") -> None:
        """One more, behind the others."""
        with self._lock:
            letter = Letter(f"letter {id(body)} {len(self._rows)} {self._taken}", body, self._clock.now(), "")
            self._rows.append(_Dead(letter, group))

    def take(self) -> list[Letter]:
        return self.faults.run("take", self._take)

    def _take(self) -> list[Letter]:
        with self._lock:
            now = self._clock.now()
            busy = {row.group for row in self._rows if self._fifo and row.hidden_until > now}
            batch = [row for row in self._rows if row.hidden_until <= now and row.group not in busy]
            for row in batch[: self._at_once]:
                self._taken += 1
                row.hidden_until = now + LETTERS_HIDDEN
                row.letter = replace(row.letter, receipt=f"receipt {self._taken}")
            return [row.letter for row in batch[: self._at_once]]

    def remove(self, letters: Sequence[Letter]) -> None:
        receipts = {letter.receipt for letter in letters}

        def accept() -> None:
            with self._lock:
                self._rows = [row for row in self._rows if row.letter.receipt not in receipts]

        self.faults.run("remove", accept)

    def give_back(self, letters: Sequence[Letter]) -> None:
        receipts = {letter.receipt for letter in letters}

        def accept() -> None:
            with self._lock:
                for row in self._rows:
                    if row.letter.receipt in receipts:
                        row.hidden_until = _LONG_AGO

        self.faults.run("give_back", accept)

    def bodies(self) -> list[str]:
        """All that is there, hidden or not."""
        with self._lock:
            return [row.letter.body for row in self._rows]

    def redrive(self, to: MemoryQueue) -> None:
        """Sends all that is not hidden back to its queue."""
        with self._lock:
            now = self._clock.now()
            shown = [row for row in self._rows if row.hidden_until <= now]
            self._rows = [row for row in self._rows if row.hidden_until > now]
        for row in shown:
            to.put(row.letter.body, row.group)


@dataclass(eq=False)
class _Dead:
    letter: Letter
    group: str
    hidden_until: datetime = _LONG_AGO
