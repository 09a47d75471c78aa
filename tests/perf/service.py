"""The service behind the SDK's client: the local run as a process, or all of it in this process, counted by stage.

In this process the same template wires the same handlers to the same emulators; only the worker processes are left out.
A function is cold again at the start of each stage.
"""

import importlib
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
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
REFUSED = (404, 409, 412)
"""How S3 answers a conditional write whose condition does not hold."""
_ASKED = re.compile(
    r'^SeaweedFS_s3_request_total\{bucket="[^"]+",code="(\d+)",type="(\w+)"\} (\S+)$', re.MULTILINE
)


@dataclass(frozen=True)
class Run:
    """A local run: a client of it, and where it says what happens."""

    client: Client
    logs: Path
    sqs: str
    _metrics: str

    def asked(self) -> Counter[tuple[str, int]]:
        """What its S3 server has been asked so far, by verb and status."""
        with urllib.request.urlopen(self._metrics, timeout=10) as answer:
            found = _ASKED.findall(answer.read().decode())
        asked: Counter[tuple[str, int]] = Counter()
        for status, verb, count in found:
            asked[verb, int(status)] += int(float(count))
        return asked


@contextmanager
def local_run() -> Iterator[Client]:
    """A client of a local run with an empty data directory. Raises TimeoutError when it does not get ready."""
    with running() as run:
        yield run.client


@contextmanager
def running(**settings: str) -> Iterator[Run]:
    """`python -m infra.local` with an empty data directory. Raises TimeoutError when it does not get ready."""
    with tempfile.TemporaryDirectory(prefix="strandline-bench-") as data:
        port, metrics = _free_ports(2)
        chosen = {
            "STRANDLINE_PORT": str(port),
            "STRANDLINE_LOCAL_KEY": KEY,
            "STRANDLINE_DATA_DIR": data,
            "STRANDLINE_LOCAL_METRICS_PORT": str(metrics),
            **settings,
        }
        command = [sys.executable, "-m", "infra.local"]
        with Path(data, "output.txt").open("wb") as output:
            process = subprocess.Popen(
                command, cwd=ROOT, env={**isolated(), **chosen}, stdout=output, start_new_session=True
            )
        try:
            with Client(f"http://127.0.0.1:{port}", KEY) as client:
                sqs = _ready(Path(data, "output.txt"))
                yield Run(client, Path(data, "logs"), sqs, f"http://127.0.0.1:{metrics}/metrics")
        finally:
            os.kill(process.pid, signal.SIGINT)
            process.wait(30)


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [int(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return ports


def _ready(output: Path) -> str:
    """Where SQS is, which the local run says when it is ready."""
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        found = re.search(r"^ +SQS +(http://\S+)", output.read_text(), re.MULTILINE)
        if found is not None:
            return found[1]
        time.sleep(0.2)
    raise TimeoutError("the local run does not get ready")


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
