"""The service behind the SDK's client: the local run as a process, or all of it in this process, counted by stage.

In this process the same template wires the same handlers to the same emulators; only the worker processes are left out.
A function is cold again at the start of each stage.
"""

import importlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from infra.local import gateway, template
from infra.local.server import Api
from infra.local.triggers import Source, poll_once
from strandline_sdk.client import Client
from tests.perf.counting import Counts
from tests.perf.environment import forget, isolated
from tests.perf.world import KEY, ROOT, Emulated

READY_SECONDS = 60


@contextmanager
def local_run() -> Iterator[Client]:
    """`python -m infra.local` with an empty data directory. Raises TimeoutError when it does not get ready."""
    with tempfile.TemporaryDirectory(prefix="strandline-bench-") as data:
        port = _free_port()
        chosen = {"STRANDLINE_PORT": str(port), "STRANDLINE_LOCAL_KEY": KEY, "STRANDLINE_DATA_DIR": data}
        command = [sys.executable, "-m", "infra.local"]
        process = subprocess.Popen(
            command, cwd=ROOT, env={**isolated(), **chosen}, stdout=subprocess.DEVNULL, start_new_session=True
        )
        try:
            with Client(f"http://127.0.0.1:{port}", KEY) as client:
                _wait(client)
                yield client
        finally:
            os.kill(process.pid, signal.SIGINT)
            process.wait(30)


def _free_port() -> int:
    with socket.socket() as each:
        each.bind(("127.0.0.1", 0))
        return int(each.getsockname()[1])


def _wait(client: Client) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        try:
            httpx.get(f"{client.url}/health", timeout=30).raise_for_status()
        except httpx.HTTPError:
            time.sleep(0.2)
            continue
        return
    raise TimeoutError("the local run does not answer GET /health")


@dataclass
class Stage:
    """What one stage took: calls of its function, requests, CPU seconds of this process, seconds."""

    calls: int = 0
    counts: Counts = field(default_factory=Counts)
    cpu: float = 0.0
    seconds: float = 0.0


class InProcess(httpx.BaseTransport):
    """A transport for the SDK's client that calls the handlers here; `stages` says what each took."""

    def __init__(self, world: Emulated) -> None:
        self.stages: dict[str, Stage] = defaultdict(Stage)
        self._world = world
        self._functions: Any = {
            name: _Function(self, function) for name, function in world.template.functions().items()
        }
        self._api = Api(world.template.routes(), self._functions)
        forget()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        received = gateway.Request(
            request.method,
            request.url.raw_path.decode(),
            list(request.headers.items()),
            request.read(),
            "127.0.0.1",
        )
        answer = self._api.answer(received)
        return httpx.Response(answer.status, headers=list(answer.headers), content=answer.body)

    def drain(self) -> None:
        """Calls the queues' functions until nothing is left to do."""
        forget()
        sqs = self._world.emulators.client("sqs")
        sources = [
            Source(trigger, self._world.known[trigger.queue], 5, 1)
            for trigger in self._world.template.queue_triggers()
        ]
        while busy := [source for source in sources if _waiting(sqs, source.url)]:
            for source in busy:
                poll_once(sqs, source, self._functions[source.trigger.function])

    def run(self, stage: str, handler: Any, event: Mapping[str, Any]) -> Any:
        """One call of a handler, noted under its stage."""
        self._world.take()
        cpu, began = time.process_time(), time.monotonic()
        try:
            return handler(event, None)
        finally:
            noted = self.stages[stage]
            noted.calls += 1
            noted.counts += self._world.take()
            noted.cpu += time.process_time() - cpu
            noted.seconds += time.monotonic() - began


class _Function:
    """Stands in for the local run's pool of worker processes."""

    def __init__(self, owner: InProcess, function: template.Function) -> None:
        self.function = function
        self._owner = owner
        self._word = function.code.name
        self._handler = importlib.import_module(f"functions.{self._word}.handler").handler

    def invoke(self, event: Mapping[str, Any], wait_seconds: float = 0) -> Any:
        return self._owner.run(_stage(self._word, event), self._handler, event)


def _stage(word: str, event: Mapping[str, Any]) -> str:
    """A manual commit is the commit stage, though the api function runs it."""
    return "commit" if word == "api" and str(event["rawPath"]).endswith("/commit") else word


def _waiting(sqs: Any, url: str) -> bool:
    names = ["ApproximateNumberOfMessages"]
    found = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
    return int(found[names[0]]) > 0
