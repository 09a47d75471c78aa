"""Queues as SQS delivers from them: visibility timeouts, duplicates, any order or FIFO groups, dead letters."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from tests.fakes import Delivery, MemoryQueue
from tests.sim.scheduler import Scheduler

MAX_RECEIVES = 5


@dataclass(frozen=True, eq=False)
class Letter:
    """A message as one receive has it; `received` counts its receives, this one included. `sent_at` in seconds."""

    kept: Delivery
    id: str
    sent_at: float
    received: int

    @property
    def message(self) -> Any:
        return self.kept.message

    @property
    def group(self) -> str:
        return self.kept.group


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
        self._sent: dict[Delivery, float] = {}

    def _delivery(self, message: Any) -> Delivery:
        kept = Delivery(message, message.model_dump_json(), self._group(message))
        self._sent[kept] = self._scheduler.now
        self._scheduler.wake(self)
        return kept

    def has_any(self) -> bool:
        """Whether a message can be seen now."""
        return bool(self._visible())

    def take(self, limit: int) -> list[Letter]:
        """Messages that can be seen; hidden for `visibility` seconds from now. FIFO: those of a group in order, none
        while an earlier one is hidden. Otherwise in any order."""
        visible = self._visible()
        if not self._fifo:
            self._chance.shuffle(visible)
        return [self._handed_out(kept) for kept in visible[:limit] if not self._given_up(kept)]

    def _visible(self) -> list[Delivery]:
        now = self._scheduler.now
        hidden = [d for d in self._waiting if self._hidden.get(d, 0.0) > now]
        if not self._fifo:
            return [d for d in self._waiting if d not in hidden]
        busy = {d.group for d in hidden}
        return [d for d in self._waiting if d.group not in busy]

    def _given_up(self, kept: Delivery) -> bool:
        if kept.received < MAX_RECEIVES:
            return False
        self._waiting.remove(kept)
        self.dead.append(kept)
        self._scheduler.wake(self)
        return True

    def _handed_out(self, kept: Delivery) -> Letter:
        kept.received += 1
        self._hidden[kept] = again = self._scheduler.now + self.visibility
        self._scheduler.at(again, partial(self._scheduler.wake, self))
        identity = f"message {list(self._sent).index(kept)}"
        return Letter(kept, identity, self._sent[kept], kept.received)

    def delete(self, letter: Letter) -> None:
        """The consumer is done with it; more than once does no harm."""
        self._waiting = [kept for kept in self._waiting if kept is not letter.kept]
        self._scheduler.wake(self)

    def show(self, letters: Sequence[Letter]) -> None:
        """They can be seen again, although somebody has them."""
        for letter in letters:
            self._hidden.pop(letter.kept, None)
        self._scheduler.wake(self)
