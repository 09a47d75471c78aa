"""The backends every port's suite runs on. A further one is a `Backend` and a name in BACKENDS.

fake        tests/fakes
moto        in this process; not atomic under threads, so tests of concurrency leave it out (`atomic_backend`)
ministack   a server: its S3, DynamoDB and SQS
local       what the local run stands on: SeaweedFS as S3, DynamoDB and SQS of ministack behind a journal
"""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import RLock
from typing import Any, Protocol
from uuid import uuid4

import botocore.session
import httpx
import moto
import pytest
from botocore.config import Config
from moto.core.botocore_stubber import BotocoreStubber

from infra.local.emulators import Emulators, Service
from strandline.adapters import aws
from strandline.adapters.dynamodb import DynamoItems
from strandline.adapters.events import EventBus
from strandline.adapters.s3 import S3Objects
from strandline.adapters.sqs import SqsDeadLetters, SqsQueue
from strandline.ports import Bus, DeadLetters, Items, ObjectStore, Queue
from tests.fakes import FakeClock, MemoryBus, MemoryDeadLetters, MemoryItems, MemoryObjects, MemoryQueue

BACKENDS = ("fake", "moto", "ministack", "local")
SERVICES: tuple[Service, ...] = ("s3", "dynamodb", "sqs", "events")
EMULATORS = Path(__file__).parents[2] / ".venv-emulator" / "bin"
CREDENTIALS = {"access_key": "local", "secret_key": "local"}  # what SeaweedFS is told to expect


Trace = Callable[[], str | None]
Put = Callable[[str, str], None]


def no_trace() -> None:
    """Outside of any trace."""


@dataclass(frozen=True)
class Sent:
    """A message as it came out of a queue."""

    body: str
    group: str | None
    trace: str | None = None
    receipt: str = ""


class Backend(Protocol):
    def objects(self) -> ObjectStore: ...

    def items(self) -> Items: ...

    def queue(self, *, fifo: bool, trace: Trace = no_trace) -> tuple[Queue, Callable[[], list[Sent]]]:
        """A new queue, and what has arrived in it."""

    def dead_letters(self, *, fifo: bool) -> tuple[DeadLetters, Put]:
        """A new queue of dead letters, and what puts a body into a group of it."""

    def bus(self) -> tuple[Bus, Callable[[], list[dict[str, Any]]]]:
        """A new bus, and the details of what a rule of its own has caught."""


class Fakes:
    def objects(self) -> ObjectStore:
        return MemoryObjects(page=3)

    def items(self) -> Items:
        return MemoryItems()

    def queue(self, *, fifo: bool, trace: Trace = no_trace) -> tuple[Queue, Callable[[], list[Sent]]]:
        queue = MemoryQueue(fifo=fifo, trace=trace)
        return queue, lambda: [
            Sent(d.body, d.group if fifo else None, d.trace, d.receipt) for d in queue.receive(100)
        ]

    def dead_letters(self, *, fifo: bool) -> tuple[DeadLetters, Put]:
        letters = MemoryDeadLetters(FakeClock(), fifo=fifo)
        return letters, letters.put

    def bus(self) -> tuple[Bus, Callable[[], list[dict[str, Any]]]]:
        bus = MemoryBus()
        return bus, lambda: [event.model_dump(exclude_none=True) for event in bus.published]


def _sent(message: Any) -> Sent:
    named = message["Attributes"]
    group, trace = named.get("MessageGroupId"), named.get("AWSTraceHeader")
    return Sent(message["Body"], group, trace, message["ReceiptHandle"])


@cache
def aws_session() -> botocore.session.Session:
    """One for all tests, since loading the services' models takes 0.3 s. Made after moto's import, which hooks
    itself into sessions to come."""
    session = botocore.session.Session()
    session.set_credentials(**CREDENTIALS)
    return session


class Aws:
    """The adapters, over whatever answers at these endpoints (by service; none: moto, in this process)."""

    def __init__(self, endpoints: Mapping[str, str] | None = None) -> None:
        self._endpoints = endpoints or {}
        self._buckets: list[str] = []

    def close(self) -> None:
        """Removes the buckets with all that is in them: SeaweedFS has room for a few at a time."""
        for bucket in self._buckets:
            self.client("s3").delete_bucket(Bucket=bucket)

    def client(self, service: str, config: Config = aws.REPEATING) -> Any:
        endpoint = self._endpoints.get(service)
        return aws_session().create_client(service, "us-east-1", endpoint_url=endpoint, config=config)

    def objects(self) -> ObjectStore:
        bucket = f"bucket-{uuid4().hex}"
        s3 = self.client("s3")
        s3.create_bucket(Bucket=bucket)
        self._buckets.append(bucket)
        s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
        return S3Objects(bucket, lambda config: self.client("s3", config))

    def items(self) -> Items:
        table = f"table-{uuid4().hex}"
        self.client("dynamodb").create_table(
            TableName=table,
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
            AttributeDefinitions=[
                {"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "listed_at")
            ],
            LocalSecondaryIndexes=[
                {
                    "IndexName": "listed_at",
                    "KeySchema": [
                        {"AttributeName": "pk", "KeyType": "HASH"},
                        {"AttributeName": "listed_at", "KeyType": "RANGE"},
                    ],
                    "Projection": {"ProjectionType": "ALL"},
                }
            ],
        )
        return DynamoItems(table, lambda config: self.client("dynamodb", config))

    def queue(self, *, fifo: bool, trace: Trace = no_trace) -> tuple[Queue, Callable[[], list[Sent]]]:
        sqs = self.client("sqs")
        name = f"queue-{uuid4().hex}" + (".fifo" if fifo else "")
        url = sqs.create_queue(QueueName=name, Attributes={"FifoQueue": "true"} if fifo else {})["QueueUrl"]

        def arrived() -> list[Sent]:
            answer = sqs.receive_message(
                QueueUrl=url, MaxNumberOfMessages=10, AttributeNames=["All"], WaitTimeSeconds=0
            )
            return [_sent(message) for message in answer.get("Messages", [])]

        return SqsQueue(url, lambda config: self.client("sqs", config), trace), arrived

    def dead_letters(self, *, fifo: bool) -> tuple[DeadLetters, Put]:
        sqs = self.client("sqs")
        name = f"dead-{uuid4().hex}" + (".fifo" if fifo else "")
        url = sqs.create_queue(QueueName=name, Attributes={"FifoQueue": "true"} if fifo else {})["QueueUrl"]

        def put(body: str, group: str) -> None:
            order = {"MessageGroupId": group, "MessageDeduplicationId": uuid4().hex} if fifo else {}
            sqs.send_message(QueueUrl=url, MessageBody=body, **order)

        return SqsDeadLetters(url, lambda config: self.client("sqs", config)), put

    def bus(self) -> tuple[Bus, Callable[[], list[dict[str, Any]]]]:
        events, sqs = self.client("events"), self.client("sqs")
        name = f"bus-{uuid4().hex}"
        events.create_event_bus(Name=name)
        url = sqs.create_queue(QueueName=name)["QueueUrl"]
        arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        pattern = json.dumps({"source": ["strandline"]})
        events.put_rule(Name="all", EventBusName=name, EventPattern=pattern)
        events.put_targets(Rule="all", EventBusName=name, Targets=[{"Id": "queue", "Arn": arn}])

        def caught() -> list[dict[str, Any]]:
            answer = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)
            return [json.loads(m["Body"])["detail"] for m in answer.get("Messages", [])]

        return EventBus(name, lambda config: self.client("events", config)), caught


@pytest.fixture
def moto_backend(monkeypatch: pytest.MonkeyPatch) -> Iterator[Aws]:
    """moto in this process, one call at a time: it is not atomic by itself."""
    one, answer = RLock(), BotocoreStubber.__call__

    def locked(self: BotocoreStubber, *args: Any, **kwargs: Any) -> Any:
        with one:
            return answer(self, *args, **kwargs)

    monkeypatch.setattr(BotocoreStubber, "__call__", locked)
    with moto.mock_aws():
        yield Aws()


@pytest.fixture(scope="session")
def local_endpoints(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    """The emulators of the local run, ended with the session."""
    if not EMULATORS.exists():
        pytest.skip(f"{EMULATORS} is missing: make setup")
    directory = tmp_path_factory.mktemp("emulators")
    emulators = Emulators(EMULATORS, directory, directory)
    try:
        emulators.wait()
        yield {service: emulators.endpoint(service) for service in SERVICES}
    finally:
        emulators.stop()


@pytest.fixture(scope="session")
def ministack_endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An emulator in a process of its own, on a free port of loopback, ended with the session."""
    if not (EMULATORS / "ministack").exists():
        pytest.skip(f"{EMULATORS} is missing: make setup")
    directory = tmp_path_factory.mktemp("ministack")
    port = _free_port()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(directory),
        "TMPDIR": str(directory),
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "IOT_MTLS_ENABLED": "0",
    }
    with (directory / "log").open("wb") as log:
        process = subprocess.Popen(
            [EMULATORS / "ministack"], env=environment, cwd=directory, stdout=log, stderr=log
        )
        try:
            _wait_for(f"http://127.0.0.1:{port}", process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(10)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_for(endpoint: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and process.poll() is None:
        try:
            httpx.get(f"{endpoint}/_ministack/health", timeout=1)
        except httpx.TransportError:
            time.sleep(0.05)
        else:
            return
    sys.exit("ministack did not start")


def _backend(name: str, request: pytest.FixtureRequest) -> Backend:
    if name == "moto":
        moto_backend: Aws = request.getfixturevalue("moto_backend")
        return moto_backend
    if name == "local":
        local_backend = Aws(request.getfixturevalue("local_endpoints"))
        request.addfinalizer(local_backend.close)
        return local_backend
    if name == "ministack":
        return Aws(dict.fromkeys(SERVICES, request.getfixturevalue("ministack_endpoint")))
    return Fakes()


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Backend:
    return _backend(request.param, request)


@pytest.fixture(params=[name for name in BACKENDS if name != "moto"])
def atomic_backend(request: pytest.FixtureRequest) -> Backend:
    return _backend(request.param, request)
