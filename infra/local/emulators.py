"""Starts the emulated AWS on loopback: SeaweedFS is S3, ministack is DynamoDB, SQS and EventBridge.

Two, because of what a SIGKILL leaves. SeaweedFS keeps every acknowledged object and version, and writes as fast after
three thousand versions of a key as at first; tests/e2e kills it while it is written to. ministack's own S3 writes body
and metadata in two files, so that every other kill leaves a torn object, and all versions with each write, so that it
is ten times slower by then; its tables and queues are kept by `journaled_ministack`.

Where SeaweedFS differs from S3: a failed `If-Match` on a missing key is 412, not 404; times are whole seconds; a
listing sorts by path segment (`s1/x` before `s1-a/x`) and may skip keys when continued between two such siblings.
"""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from infra.local.template import REGION

HERE = Path(__file__).parent
READY_SECONDS = 60
Service = Literal["s3", "dynamodb", "sqs", "events", "ssm"]
ENDPOINTS = {"events": "EVENTBRIDGE"}  # the SDK's name for it
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"}


class EmulatorError(Exception):
    """An emulator is not installed, did not start, or ended."""


class Emulators:
    """The two processes, and how to reach them."""

    def __init__(self, tools: Path, data: Path, logs: Path, *, metrics_port: int | None = None) -> None:
        """Starts both with their programs in `tools`. Raises EmulatorError when one is missing.

        `metrics_port` is where SeaweedFS tells Prometheus what it was asked, if it is to.
        """
        self._data = data
        self._logs = logs
        ports = _free_ports(9)
        store = seaweedfs(_tool(tools, "weed"), data / "s3", ports[:8])
        if metrics_port is not None:
            store.append(f"-metricsPort={metrics_port}")
        self._processes = [
            self._start("seaweedfs", store, {}),
            self._start(
                "ministack", ministack(_tool(tools, "python"), data / "tables.sqlite"), _serving(ports[8])
            ),
        ]
        self._sockets = ports[:8]
        self._master = ports[4]
        self.environment = {
            **CREDENTIALS,
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{ports[0]}",
            "AWS_ENDPOINT_URL_DYNAMODB": f"http://127.0.0.1:{ports[8]}",
            "AWS_ENDPOINT_URL_EVENTBRIDGE": f"http://127.0.0.1:{ports[8]}",
            "AWS_ENDPOINT_URL_SQS": f"http://127.0.0.1:{ports[8]}",
            "AWS_ENDPOINT_URL_SSM": f"http://127.0.0.1:{ports[8]}",
        }

    def endpoint(self, service: Service) -> str:
        """Where an emulated service answers."""
        return self.environment[f"AWS_ENDPOINT_URL_{ENDPOINTS.get(service, service.upper())}"]

    def client(self, service: Service) -> Any:
        """A boto3 client of the emulated service."""
        return boto3.client(
            service,
            endpoint_url=self.endpoint(service),
            aws_access_key_id="local",
            aws_secret_access_key="local",
            region_name=REGION,
            config=Config(retries={"total_max_attempts": 1}, connect_timeout=2),
        )

    def wait(self) -> None:
        """Returns when both answer. Raises EmulatorError when one ends or stays silent."""
        self._until(self._has_volumes)
        self._until(lambda: bool(self.client("s3").list_buckets()))
        self._until(lambda: bool(self.client("sqs").list_queues()))

    def check(self) -> None:
        """Raises EmulatorError when one has ended."""
        for process in self._processes:
            if process.poll() is not None:
                raise EmulatorError(f"an emulator ended with code {process.returncode}; see {self._logs}")

    def stop(self) -> None:
        """Ends both."""
        for process in self._processes:
            assert process.stdin is not None
            process.stdin.close()
        for process in self._processes:
            process.wait()
        for port in self._sockets:  # SeaweedFS leaves its Unix sockets behind
            for socket_file in Path("/tmp").glob(f"seaweedfs-*-{port}.sock"):
                socket_file.unlink(missing_ok=True)

    def _start(self, name: str, command: list[str], settings: Mapping[str, str]) -> "subprocess.Popen[bytes]":
        kept = {key: os.environ[key] for key in ("PATH", "HOME", "TMPDIR") if key in os.environ}
        with (self._logs / f"{name}.log").open("wb") as log:
            return subprocess.Popen(
                [sys.executable, "-P", str(HERE / "guard.py"), str(self._data / f"{name}.lock"), *command],
                env={**kept, **settings},
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _has_volumes(self) -> bool:
        """Whether SeaweedFS's master knows its volume server; before, stored objects are errors, not there."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self._master}/dir/status", timeout=2) as answer:
            centers = json.load(answer)["Topology"]["DataCenters"] or []
        return any(rack["DataNodes"] for center in centers for rack in center["Racks"] or [])

    def _until(self, question: Callable[[], bool]) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(BotoCoreError, ClientError, OSError, KeyError):
                if question():
                    return
            self.check()
            time.sleep(0.1)
        raise EmulatorError(f"an emulator does not answer; see {self._logs}")


def seaweedfs(program: str, directory: Path, ports: list[int]) -> list[str]:
    """Master, volume server, filer and S3 gateway in one process, telling nobody about it."""
    directory.mkdir(parents=True, exist_ok=True)
    identity = {
        "name": "local",
        "credentials": [{"accessKey": "local", "secretKey": "local"}],
        "actions": ["Admin", "Read", "Write", "List", "Tagging"],
    }
    settings = directory / "identities.json"
    settings.write_text(json.dumps({"identities": [identity]}))
    names = [
        f"{part}.{kind}" for part in ("s3", "filer", "master", "volume") for kind in ("port", "port.grpc")
    ]
    return [
        *(program, "-logtostderr=true", "server", f"-dir={directory}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1"),
        *(f"-{name}={port}" for name, port in zip(names, ports, strict=True)),
        *("-master.telemetry=false", "-master.volumeSizeLimitMB=1024", "-volume.max=0", "-filer", "-s3"),
        *("-s3.iam=false", f"-s3.config={settings}", "-s3.port.iceberg=0", "-s3.port.lance=0"),
    ]


def ministack(python: str, journal: Path) -> list[str]:
    """ministack behind its journal."""
    return [python, "-P", str(HERE / "journaled_ministack.py"), str(journal)]


def _serving(port: int) -> dict[str, str]:
    # Without these ministack listens on every interface and opens ports of services that are not used here.
    return {
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "IOT_MTLS_ENABLED": "0",
        "SFTP_ENABLED": "0",
        "DOCKER_HOST": "unix:///nonexistent",
        "LOG_LEVEL": "WARNING",
    }


def _tool(tools: Path, name: str) -> str:
    found = shutil.which(name, path=str(tools))
    if found is None:
        raise EmulatorError(f"{tools / name} is not there: run `make setup`")
    return found


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports
