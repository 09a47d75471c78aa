import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from strandline_sdk import Client, Retry
from tests.unit.sdk.fake_service import FakeService
from tests.unit.sdk.test_importers_locomo import TALK


@pytest.fixture
def service() -> FakeService:
    return FakeService()


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def client(service: FakeService, pauses: list[float]) -> Iterator[Client]:
    retry = Retry(attempts=4, first_pause=0.2, longest_pause=10)
    with Client("http://test", "good", retry=retry, transport=service, sleep=pauses.append) as client:
        yield client


@pytest.fixture
def talk(tmp_path: Path) -> str:
    """A LoCoMo file of two sessions with three messages."""
    path = tmp_path / "talk.json"
    path.write_text(json.dumps(TALK), encoding="utf-8")
    return str(path)
