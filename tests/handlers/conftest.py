"""A service of its own for every test, with the deterministic extractor."""

import pytest

from strandline.entry.wiring import RuleModel
from tests.handlers.service import Client, Service
from tests.pipeline.world import World


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Service:
    return Service(monkeypatch, World(model=RuleModel()))


@pytest.fixture
def alice(service: Service) -> Client:
    return service.client("alice")


@pytest.fixture
def bob(service: Service) -> Client:
    return service.client("bob")
