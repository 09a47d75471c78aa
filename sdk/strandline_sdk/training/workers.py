"""Threads that nobody waits for when there is no more to wait for.

What one call raises ends all of them. Whoever leaves in the middle, then or by ctrl-C, waits a moment for what runs,
not for a peer that hangs: the threads end with the process, and what they had not finished is begun again by the next.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Generic, Self, TypeVar

In = TypeVar("In")
Out = TypeVar("Out")
GRACE_SECONDS = 1.0


class Workers(Generic[In, Out]):
    """`call` for each of the items, by so many threads, from `with` to its end."""

    def __init__(self, call: Callable[[In], Out], items: Sequence[In], count: int) -> None:
        self._call = call
        self._futures: list[Future[Out]] = [Future() for _ in items]
        self._broken: Future[Out] = Future()
        self._lock = threading.Lock()
        self._waiting: SimpleQueue[tuple[Future[Out], In]] = SimpleQueue()
        for told in zip(self._futures, items, strict=True):
            self._waiting.put(told)
        self._threads = [
            threading.Thread(target=self._work, daemon=True) for _ in range(min(count, len(items)))
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._break(InterruptedError())
        end = monotonic() + GRACE_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, end - monotonic()))

    def results(self) -> Iterator[Out]:
        """What came of the items, in their order. Raises what any call has raised, as soon as it did."""
        for future in self._futures:
            wait((future, self._broken), return_when=FIRST_COMPLETED)
            yield (self._broken if self._broken.done() else future).result()

    def _work(self) -> None:
        try:
            while not self._broken.done():
                future, item = self._waiting.get_nowait()
                future.set_result(self._call(item))
        except Empty:
            return
        except BaseException as error:  # noqa: BLE001 - it is raised where the results are asked for
            self._break(error)

    def _break(self, error: BaseException) -> None:
        """Nothing more is begun."""
        with self._lock:
            if not self._broken.done():
                self._broken.set_exception(error)
