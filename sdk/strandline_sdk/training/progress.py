"""How far a stage is: four states, rate and time left; a bar on a terminal, plain lines elsewhere."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import TextIO

from strandline_sdk.rollouts.clock import Clock, SystemClock
from strandline_sdk.training.values import Finished, Planned

_BAR = 24
_LINE_SECONDS = 10.0


@dataclass
class Progress:
    """Draws on `out` (default stderr). `quiet` draws nothing."""

    out: TextIO | None = None
    quiet: bool = False
    clock: Clock | None = None

    def __post_init__(self) -> None:
        self._out = self.out or sys.stderr
        self._clock = self.clock or SystemClock()
        self._lock = Lock()
        self._began = self._drawn = 0.0
        self._reset("", 0)

    @contextmanager
    def stage(self, plans: Sequence[Planned]) -> Iterator["Progress"]:
        """One stage, drawn until its end."""
        with self._lock:
            self._reset(plans[0].group if plans else "", len(plans))
        try:
            yield self
        finally:
            self._draw(last=True)

    def started(self) -> None:
        """A rollout runs."""
        with self._lock:
            self._running += 1
        self._draw()

    def ended(self, finished: Finished) -> None:
        """It has ended, well or not."""
        with self._lock:
            self._running -= 1
            if finished.rollout is None:
                self._failed += 1
            else:
                self._succeeded += 1
        self._draw()

    def line(self) -> str:
        """The stage in words."""
        done = self._succeeded + self._failed
        spent = self._clock.monotonic() - self._began
        rate = done / spent if done and spent > 0 else 0.0
        left = f"{_duration((self._total - done) / rate)} left" if rate and done < self._total else ""
        states = (
            f"{self._succeeded} succeeded, {self._failed} failed, {self._running} running, "
            f"{max(0, self._total - done - self._running)} pending"
        )
        return ", ".join(filter(None, (f"{self._group}: {states}", f"{rate:.2f}/s" if rate else "", left)))

    def _draw(self, *, last: bool = False) -> None:
        if self.quiet or not self._total:
            return
        with self._lock:
            now = self._clock.monotonic()
            if self._out.isatty():
                self._out.write(f"\r\x1b[2K{self._bar()} {self.line()}" + ("\n" if last else ""))
            elif last or now - self._drawn >= _LINE_SECONDS:
                self._drawn = now
                self._out.write(self.line() + "\n")
            self._out.flush()

    def _bar(self) -> str:
        done = (self._succeeded + self._failed) * _BAR // self._total
        return f"[{'#' * done}{'.' * (_BAR - done)}]"

    def _reset(self, group: str, total: int) -> None:
        self._group, self._total = group, total
        self._succeeded = self._failed = self._running = 0
        self._began = self._drawn = self._clock.monotonic()


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return (
        f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
    )
