"""A bus in memory."""

from threading import Lock

from strandline.domain.events import Event
from tests.fakes.faults import Faults


class MemoryBus:
    """`ports.Bus`; `published` is what has arrived, in order. Operation for `faults`: put."""

    def __init__(self) -> None:
        self.faults = Faults()
        self.published: list[Event] = []
        self._lock = Lock()

    def put(self, event: Event) -> None:
        def accept() -> None:
            with self._lock:
                self.published.append(event)

        self.faults.run("put", accept)
