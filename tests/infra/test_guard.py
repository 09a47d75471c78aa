"""A guarded command ends with its parent, and a leftover of an earlier run is ended by the next."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

GUARD = Path(__file__).parents[2] / "infra" / "local" / "guard.py"
# Prints its process id, then stays.
COMMAND = [sys.executable, "-c", "import os, time; print(os.getpid(), flush=True); time.sleep(60)"]


class Guarded:
    """A guard with its command, and the pipe that keeps both alive."""

    def __init__(self, lock: Path) -> None:
        self.guard = subprocess.Popen(
            [sys.executable, str(GUARD), str(lock), *COMMAND], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self.guard.stdout is not None
        self.command = int(self.guard.stdout.readline())

    def let_go(self) -> None:
        """What the operating system does for a parent that is killed."""
        assert self.guard.stdin is not None
        self.guard.stdin.close()

    def end(self) -> None:
        self.guard.kill()
        self.guard.wait()
        for pipe in (self.guard.stdin, self.guard.stdout):
            if pipe is not None:
                pipe.close()


@pytest.fixture
def guard(tmp_path: Path) -> Iterator[Callable[[], Guarded]]:
    started: list[Guarded] = []

    def start() -> Guarded:
        started.append(Guarded(tmp_path / "lock"))
        return started[-1]

    yield start
    for each in started:
        each.let_go()
        each.guard.wait(10)
        each.end()


def test_ends_with_its_parent(guard: Callable[[], Guarded]) -> None:
    running = guard()
    running.let_go()
    assert running.guard.wait(10) != 0
    eventually(lambda: not alive(running.command))


def test_a_leftover_is_ended_by_the_next(guard: Callable[[], Guarded]) -> None:
    leftover = guard()
    leftover.guard.kill()
    leftover.guard.wait()
    assert alive(leftover.command)
    following = guard()
    eventually(lambda: not alive(leftover.command))
    assert alive(following.command)


def alive(pid: int) -> bool:
    status = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)], check=False, capture_output=True, text=True
    ).stdout
    return bool(status.strip()) and not status.startswith("Z")


def eventually(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)
