"""The time, and waiting for it: given from outside, so that an hour of polling is tested in no time."""

import time
from datetime import UTC, datetime
from threading import Event
from typing import Protocol


class Clock(Protocol):
    """What the user's side needs of time."""

    def monotonic(self) -> float:
        """Seconds that only grow."""

    def now(self) -> datetime:
        """The time of day, in UTC."""

    def sleep(self, seconds: float) -> None:
        """Waits."""


class SystemClock:
    """The clock of this machine."""

    def monotonic(self) -> float:
        return time.monotonic()

    def now(self) -> datetime:
        return datetime.now(UTC)

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class Halted(Exception):
    """Waiting was ended."""


class HaltingClock(SystemClock):
    """The clock of this machine, until `halt`: then everybody who waits is told, and nobody waits any more."""

    def __init__(self) -> None:
        self._halted = Event()

    def halt(self) -> None:
        """Ends all waiting."""
        self._halted.set()

    def sleep(self, seconds: float) -> None:
        """Waits. Raises Halted."""
        if self._halted.wait(seconds):
            raise Halted


def stamp(moment: datetime) -> str:
    """RFC 3339 with milliseconds."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
