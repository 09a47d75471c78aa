"""Stand-ins for every port, with the real ones' semantics: `tests/contract` holds them to it."""

from tests.fakes.bus import MemoryBus
from tests.fakes.faults import Faults
from tests.fakes.items import MemoryItems
from tests.fakes.objects import MemoryObjects
from tests.fakes.queue import Delivery, MemoryDeadLetters, MemoryQueue
from tests.fakes.values import FakeClock, FakeIds, WordCounter

__all__ = [
    "Delivery",
    "FakeClock",
    "FakeIds",
    "Faults",
    "MemoryBus",
    "MemoryDeadLetters",
    "MemoryItems",
    "MemoryObjects",
    "MemoryQueue",
    "WordCounter",
]
