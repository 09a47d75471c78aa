"""One process at a time works in a run's directory; the system takes the lock back when a process is killed."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # a system without it: nobody is kept apart
    fcntl = None  # type: ignore[assignment]


@contextmanager
def locked(run: Path) -> Iterator[None]:
    """Holds the directory. Raises ValueError when another process does."""
    with (run / ".lock").open("w") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise ValueError(
                    f"another process is at work in {run}: wait for it, or end it first"
                ) from error
        yield
