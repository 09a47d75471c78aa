"""Time, chance and tokens that a test controls."""

import random
from datetime import UTC, datetime, timedelta


class FakeClock:
    """`ports.Clock` that moves only by `sleep` and `advance`. `slept` lists the waits."""

    def __init__(self, at: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._now = at
        self.slept: list[float] = []

    def now(self) -> datetime:
        return self._now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.advance(seconds)

    def advance(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)


class FakeIds:
    """`ports.Ids` by seed: the same seed gives the same ids."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)

    def new(self) -> str:
        return f"{self._random.getrandbits(128):032x}"

    def fraction(self) -> float:
        return self._random.random()


class WordCounter:
    """`ports.TokenCounter`: one token a word."""

    def count(self, text: str) -> int:
        return len(text.split())
