import json
from pathlib import Path

import pytest

from tests.unit.sdk.fake_service import FakeService
from tests.unit.sdk.test_importers_locomo import TALK


@pytest.fixture
def service() -> FakeService:
    return FakeService()


@pytest.fixture
def talk(tmp_path: Path) -> str:
    """A LoCoMo file of two sessions with three messages."""
    path = tmp_path / "talk.json"
    path.write_text(json.dumps(TALK), encoding="utf-8")
    return str(path)
