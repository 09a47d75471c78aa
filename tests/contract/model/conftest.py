"""A server on loopback, and a model of either kind that asks it."""

from collections.abc import Iterator

import pytest

from strandline.adapters.language_model import LanguageModel, Patience
from tests.contract.model.setting import Setting, endpoint
from tests.fakes import FakeClock, FakeIds
from tests.fakes import chat_server as chat
from tests.fakes.chat_server import ChatServer


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(chat.listens(chat.remembers)) as running:
        yield running


@pytest.fixture(params=["openai", "bedrock"])
def setting(request: pytest.FixtureRequest, server: ChatServer) -> Setting:
    clock = FakeClock()
    made = endpoint(request.param, server, clock)
    return Setting(request.param, server, clock, LanguageModel(made, Patience(10, 100), clock, FakeIds()))
