"""Runs functions: a pool of worker processes for each, started when they are needed.

A worker that fails by exception lives on, as in Lambda; one that exceeds the function's timeout is killed, and the next
event gets a fresh one.
"""

import json
import logging
import os
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

from infra.local.output import follow
from infra.local.template import Function

log = logging.getLogger("functions")

# The invocation payload that Lambda takes, and the answer it gives, in bytes.
PAYLOAD_LIMIT = 6 * 1024 * 1024
START_SECONDS = 60


class FunctionError(Exception):
    """The function raised, ended, or took too long. `trace` is for a person to read."""

    def __init__(self, message: str, trace: str = "") -> None:
        super().__init__(message)
        self.trace = trace


class PayloadTooLargeError(Exception):
    """The event is larger than Lambda takes."""


class ThrottledError(Exception):
    """No worker became free in time."""


@dataclass(frozen=True)
class Launch:
    """How the processes of one function are started."""

    function: Function
    environment: Mapping[str, str]
    path: tuple[Path, ...]
    log_file: Path


class Worker:
    """One process of a function. Not for use by two threads at once."""

    def __init__(self, launch: Launch) -> None:
        """Starts the process and waits for its handler to be imported. Raises FunctionError when that fails."""
        self._timeout = launch.function.timeout
        self._connection, child = Pipe()
        command = [sys.executable, "-P", "-u", str(Path(__file__).with_name("worker.py"))]
        path = os.pathsep.join(str(each) for each in (launch.function.code, *launch.path))
        self._process = subprocess.Popen(
            [*command, str(child.fileno()), launch.function.handler],
            env={**launch.environment, "PYTHONPATH": path},
            cwd=launch.function.code,
            pass_fds=[child.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        child.close()
        follow(self._process.stdout, launch.function.name, launch.log_file)
        try:
            self._receive(START_SECONDS)
        except FunctionError:
            self.close()
            raise

    @property
    def alive(self) -> bool:
        """Whether the process can take another event."""
        return self._process.poll() is None

    def invoke(self, event: bytes) -> Any:
        """Sends one JSON request and waits for its result. Raises FunctionError."""
        try:
            self._connection.send_bytes(event)
        except OSError as error:
            raise FunctionError(f"process ended before the event: {error}") from error
        return self._receive(self._timeout)

    def close(self) -> None:
        """Ends the process, whatever it is doing."""
        self._process.kill()
        self._process.wait()
        self._connection.close()

    def _receive(self, seconds: float) -> Any:
        try:
            if not self._connection.poll(seconds):
                self.close()
                raise FunctionError(f"timed out after {seconds} seconds")
            answer = json.loads(self._connection.recv_bytes())
        except (EOFError, OSError) as error:
            raise FunctionError(f"process ended with code {self._process.wait()}") from error
        if failed := answer.get("error"):
            raise FunctionError(f"{failed['type']}: {failed['message']}", failed["trace"])
        return answer["result"]


class Pool:
    """The workers of one function, at most `size` of them."""

    def __init__(self, launch: Launch, size: int) -> None:
        self.function = launch.function
        self._launch = launch
        self._slots = threading.BoundedSemaphore(size)
        self._idle: list[Worker] = []
        self._lock = threading.Lock()
        self._closed = False

    def invoke(self, event: Mapping[str, Any], wait_seconds: float = 29) -> Any:
        """The handler's result. Raises FunctionError (already logged), PayloadTooLargeError, ThrottledError."""
        request = json.dumps(
            {
                "event": event,
                "request_id": str(uuid.uuid4()),
                "deadline": time.time() + self.function.timeout,
            }
        ).encode()
        if len(request) > PAYLOAD_LIMIT:
            raise PayloadTooLargeError
        if not self._slots.acquire(timeout=wait_seconds):
            raise ThrottledError
        try:
            return self._run(request)
        except FunctionError as error:
            if not self._closed:
                log.error("%s failed: %s\n%s", self.function.name, error, error.trace.rstrip())
            raise
        finally:
            self._slots.release()

    def warm(self) -> None:
        """Starts a first worker, so that the first event does not wait for imports."""
        with self._slots:
            self._give_back(self._take())

    def close(self) -> None:
        """Ends every idle worker; a busy one ends when it is given back, or with this process."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.close()

    def _run(self, request: bytes) -> Any:
        worker = self._take()
        try:
            return worker.invoke(request)
        finally:
            self._give_back(worker)

    def _take(self) -> Worker:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return Worker(self._launch)

    def _give_back(self, worker: Worker) -> None:
        with self._lock:
            if worker.alive and not self._closed:
                self._idle.append(worker)
                return
        worker.close()
