"""The local run, started with the service's own Python; the frameworks run in theirs, and speak to it over HTTP."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from strandline_sdk import Client
from tests.e2e.conftest import KEY, LocalRun

ROOT = Path(__file__).parents[2]

# before any of them is imported: nothing is told to anybody
os.environ.update(
    OPENAI_AGENTS_DISABLE_TRACING="1",
    LANGSMITH_TRACING="false",
    LANGCHAIN_TRACING_V2="false",
    OTEL_SDK_DISABLED="true",
)


class ServedRun(LocalRun):
    """The local run, in the environment that `make setup` makes."""

    python = str(ROOT / ".venv" / "bin" / "python")


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRun]:
    """One run for all tests; each takes a user of its own."""
    run = ServedRun(tmp_path_factory.mktemp("strandline"))
    run.start()
    yield run
    run.end()


@pytest.fixture
def connect(served: LocalRun) -> Iterator[Callable[..., Client]]:
    """Makes clients: of the root key unless told otherwise."""
    made: list[Client] = []

    def new(key: str = KEY, **whose: str) -> Client:
        made.append(Client(served.url, key, **whose))
        return made[-1]

    yield new
    for client in made:
        client.close()


@pytest.fixture
def client(connect: Callable[..., Client]) -> Client:
    """A client of a user of this test's own."""
    return connect(account="acme", user=f"user-{uuid4().hex[:12]}")


@pytest.fixture
def root(connect: Callable[..., Client]) -> Client:
    """A root key, and an account of this test's own."""
    return connect(account=f"acct-{uuid4().hex[:12]}", user="nobody")
