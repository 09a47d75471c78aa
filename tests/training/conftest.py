"""The service in this process, the vaults on loopback, and runs of the one with the other."""

import os
from collections.abc import Iterator
from pathlib import Path
from threading import RLock
from typing import Any

import httpx
import pytest

from strandline.entry.wiring import RuleModel
from strandline_sdk.client import Client
from strandline_sdk.rollouts import Patience, RolloutService, serve
from strandline_sdk.training.assembly import Setup
from strandline_sdk.training.values import TrainOptions
from tests.handlers.service import ROOT_KEY, Service
from tests.pipeline.world import World
from tests.training import vault


@pytest.fixture(autouse=True)
def unsynced(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test here turns the machine off, and a sync takes longer than a rollout."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Service:
    return Service(monkeypatch, World(model=RuleModel()))


@pytest.fixture
def transport(service: Service) -> httpx.BaseTransport:
    """One request at a time, as the handlers take them here; whoever looks at a task finds the queues empty."""
    lock = RLock()

    def answer(request: httpx.Request) -> httpx.Response:
        with lock:
            if "/tasks/" in request.url.path:
                service.pump()
            target = request.url.raw_path.decode()
            found = service.request(request.method, target, dict(request.headers), request.content)
            return httpx.Response(found.status, headers=dict(found.headers), content=found.text.encode())

    return httpx.MockTransport(answer)


@pytest.fixture
def client(transport: httpx.BaseTransport) -> Iterator[Client]:
    with Client("http://service", ROOT_KEY, account="acme", user="ann", transport=transport) as client:
        yield client


@pytest.fixture
def vaults(tmp_path: Path) -> Iterator[str]:
    """Where the rollout service is."""
    made = RolloutService("vaults", vault.cases, vault.attempt, tmp_path / "spool", concurrency=4)
    with serve(made) as server:
        yield server.url


class Runs:
    """Sets up runs of the vaults."""

    def __init__(self, url: str, client: Client, results: Path) -> None:
        self.url, self.client, self.results = url, client, results

    def setup(self, options: dict[str, Any], **beside: Any) -> Setup:
        wanted = TrainOptions(**{"dataset": "vaults", "domain": "stone", "eval_each_epoch": True, **options})
        patience = Patience(poll=0.01)
        return Setup(
            wanted, self.url, self.client, **{"results": self.results, "patience": patience, **beside}
        )


@pytest.fixture
def runs(vaults: str, client: Client, tmp_path: Path) -> Runs:
    return Runs(vaults, client, tmp_path / "result")
