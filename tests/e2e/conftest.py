"""The local run as a process of its own, on a free port and with data of its own."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

ROOT = Path(__file__).parents[2]
KEY = "e2e-root-key-0123456789"
# What the local run promises once everything is installed.
READY_SECONDS = 20


class LocalRun:
    """`python -m infra.local`: to be started, asked over HTTP, stopped, killed and started again."""

    python = sys.executable

    def __init__(self, data: Path, **settings: str) -> None:
        self.data = data
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.ready_seconds = 0.0
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Returns when `GET /health` is ok."""
        started = time.monotonic()
        with (self.data / "output.txt").open("ab") as output:
            self._process = subprocess.Popen(
                [self.python, "-m", "infra.local"],
                cwd=ROOT,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        while not self._healthy():
            assert self._process.poll() is None, self.output()
            assert time.monotonic() - started < 3 * READY_SECONDS, self.output()
            time.sleep(0.1)
        self.ready_seconds = time.monotonic() - started

    def stop(self) -> int:
        """Asks it to end, as ctrl-C does; its exit code."""
        assert self._process is not None
        self._process.send_signal(signal.SIGINT)
        return self._process.wait(timeout=20)

    def kill(self) -> None:
        """SIGKILL, at whatever it is doing."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def end(self) -> None:
        """Kills it if it still runs."""
        if self._process is not None and self._process.poll() is None:
            self.kill()

    def client(self, user: str = "ann", account: str = "acme", **settings: Any) -> httpx.Client:
        """A client that acts as one user, by the root key."""
        headers = {"X-API-Key": KEY, "X-Strandline-Account": account, "X-Strandline-User": user}
        return httpx.Client(base_url=f"{self.url}/api/v1", headers=headers, timeout=40, **settings)

    def output(self) -> str:
        """Everything it has printed."""
        return (self.data / "output.txt").read_text()

    def processes(self) -> list[str]:
        """Command lines of all processes that work on its data."""
        lines = subprocess.run(["ps", "-eo", "args"], check=True, capture_output=True, text=True).stdout
        return [line for line in lines.splitlines() if str(self.data) in line]

    def _healthy(self) -> bool:
        try:
            return httpx.get(f"{self.url}/health", timeout=30).json()["status"] == "ok"
        except httpx.HTTPError:
            return False

    def _environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "LANG") if name in os.environ}
        return {
            **kept,
            "STRANDLINE_PORT": str(self.port),
            "STRANDLINE_DATA_DIR": str(self.data),
            "STRANDLINE_LOCAL_KEY": KEY,
            **self._settings,
        }


@pytest.fixture(scope="session")
def local_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRun]:
    """One run for all tests that leave it running; each takes a user of its own."""
    run = LocalRun(tmp_path_factory.mktemp("strandline"))
    run.start()
    yield run
    run.end()


@pytest.fixture
def own_run(tmp_path: Path) -> Iterator[LocalRun]:
    """A run, not yet started, for a test that stops or kills it. It heals and retries quickly."""
    run = LocalRun(tmp_path, STRANDLINE_HEAL_SECONDS="5", STRANDLINE_LOCAL_RETRY_SECONDS="2")
    yield run
    run.end()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
