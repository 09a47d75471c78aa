"""Queues as SQS delivers from them: visibility timeouts, duplicates, any order or FIFO groups, dead letters."""

import random
from collections.abc import Callable
from functools import partial
from typing import Any

from tests.fakes import Delivery, MemoryQueue
from tests.sim.scheduler import Scheduler

MAX_RECEIVES = 5


class TimedQueue(MemoryQueue):
    """A `MemoryQueue` whose messages come back by themselves, `visibility` seconds after they were received and not
    done. After `MAX_RECEIVES` one goes to `dead`. `group` says what is kept in order; None: nothing is. Whoever waits
    for the queue is woken when there may be something."""

    def __init__(
        self,
        scheduler: Scheduler,
        chance: random.Random,
        *,
        visibility: float,
        group: Callable[[Any], str] | None = None,
    ) -> None:
        super().__init__(fifo=group is not None)
        self.visibility = visibility
        self.dead: list[Delivery] = []
        self._scheduler = scheduler
        self._chance = chance
        self._group = group or (lambda _: "")
        self._hidden: dict[Delivery, float] = {}
        self._numbers: dict[Delivery, str] = {}

    def _delivery(self, message: Any) -> Delivery:
        delivery = Delivery(message, message.model_dump_json(), self._group(message))
        self._numbers[delivery] = f"message-{len(self._numbers)}@{self._scheduler.now:.3f}"
        self._scheduler.wake(self)
        return delivery

    def sent_at(self, delivery: Delivery) -> float:
        return float(self._numbers[delivery].partition("@")[2])

    def id_of(self, delivery: Delivery) -> str:
        return self._numbers[delivery]

    def has_any(self) -> bool:
        """Whether a message can be seen now."""
        return bool(self._visible())

    def receive(self, limit: int = 10) -> list[Delivery]:
        """Messages that can be seen; hidden for `visibility` seconds from now. FIFO: those of a group in order, none
        while an earlier one is hidden. Otherwise in any order."""
        visible = self._visible()
        if not self._fifo:
            self._chance.shuffle(visible)
        return [d for d in visible[:limit] if self._hand_out(d)]

    def _visible(self) -> list[Delivery]:
        now = self._scheduler.now
        hidden = [d for d in self._waiting if self._hidden.get(d, 0.0) > now]
        if not self._fifo:
            return [d for d in self._waiting if d not in hidden]
        busy = {d.group for d in hidden}
        return [d for d in self._waiting if d.group not in busy]

    def _hand_out(self, delivery: Delivery) -> bool:
        if delivery.received >= MAX_RECEIVES:
            self._waiting.remove(delivery)
            self.dead.append(delivery)
            self._scheduler.wake(self)
            return False
        delivery.received += 1
        self._hidden[delivery] = again = self._scheduler.now + self.visibility
        self._scheduler.at(again, partial(self._scheduler.wake, self))
        return True

    def done(self, delivery: Delivery) -> None:
        """The consumer has deleted it; more than once does no harm."""
        if delivery in self._waiting:
            self._waiting.remove(delivery)
            self._scheduler.wake(self)

    def back(self, delivery: Delivery) -> None:
        """It can be seen again, although somebody has it."""
        self._hidden.pop(delivery, None)
        self._scheduler.wake(self)
