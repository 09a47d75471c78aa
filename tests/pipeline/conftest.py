"""A world of its own for every test."""

import pytest

from tests.pipeline.world import World


@pytest.fixture
def world() -> World:
    return World()
