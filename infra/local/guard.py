"""Runs a command that must not outlive its parent: `guard.py LOCK COMMAND...`, with a pipe as standard input.

When the pipe closes, because the parent said so or was killed, the command is killed too. Killing is what the emulators
are measured to survive, and it is quick. (A parent-death signal would be simpler, but is Linux only and follows the
thread that started the command.)

The command inherits a lock on the file LOCK, which names its process. Whoever finds it locked knows that a command of
an earlier run is still alive, its guard gone, and ends it.
"""

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import threading


def claim(path: str) -> int:
    """A locked descriptor of the file, after ending whoever held it."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        _end(os.read(lock, 32))
        fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def main(path: str, command: list[str]) -> int:
    """Runs until the command or the parent ends; the command's exit code."""
    lock = claim(path)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[lock])
    os.truncate(lock, 0)
    os.pwrite(lock, str(process.pid).encode(), 0)

    def wait_for_parent() -> None:
        sys.stdin.buffer.read()
        process.kill()

    threading.Thread(target=wait_for_parent, daemon=True).start()
    return process.wait()


def _end(recorded: bytes) -> None:
    # Otherwise it is not recorded yet, or already gone, and the lock is about to be free.
    with contextlib.suppress(ValueError, ProcessLookupError):
        os.kill(int(recorded), signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
