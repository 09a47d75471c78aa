"""A clock that goes on only when somebody waits."""

from datetime import UTC, datetime, timedelta
from threading import Lock

START = datetime(2026, 5, 1, tzinfo=UTC)


class StillClock:
    """Waiting takes no time here, and its time is noted."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.slept: list[float] = []
        self._lock = Lock()

    def monotonic(self) -> float:
        return self.seconds

    def now(self) -> datetime:
        return START + timedelta(seconds=self.seconds)

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self.seconds += seconds
            self.slept.append(seconds)
