"""Every test here is a simulation."""

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.sim)


@pytest.fixture(autouse=True, scope="session")
def _little_to_collect() -> Iterator[None]:
    """What is there already need not be looked at after each of thousands of runs."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
