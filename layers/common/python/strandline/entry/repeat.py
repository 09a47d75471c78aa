"""What a route may know of the `Idempotency-Key` it is called with, and may say about its answer.

Apart from `entry/replay.py`, which does the work, so that a function without such a request loads nothing of it.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from strandline.domain.repeat import Repeat


@dataclass
class Attempt:
    """One attempt of a request with a key. `kept` stands for the result in what is remembered of the answer."""

    repeat: Repeat
    kept: Mapping[str, Any] | None = None
    again: bool = False


_attempt: ContextVar[Attempt | None] = ContextVar("attempt", default=None)


@contextmanager
def attempting(attempt: Attempt) -> Iterator[None]:
    """What runs inside is this attempt."""
    before = _attempt.set(attempt)
    try:
        yield
    finally:
        _attempt.reset(before)


def repeat() -> Repeat | None:
    """Identifies this request when it is repeated; None when it has no key. What it creates is named after this."""
    attempt = _attempt.get()
    return attempt.repeat if attempt else None


def keep_instead(result: Mapping[str, Any]) -> None:
    """A repeat hears this result: for an answer with something in it that may be shown once and never stored."""
    attempt = _attempt.get()
    if attempt:
        attempt.kept = result


def run_again() -> None:
    """This route only reads: its answer is not kept, and a repeat reads again."""
    attempt = _attempt.get()
    if attempt:
        attempt.again = True
