"""The Python client, before each call of a model."""

from typing import Any

import pytest

from strandline_sdk.client import Client as SdkClient
from tests.handlers.service import Client
from tests.handlers.test_sdk_topics import transport


@pytest.fixture
def sdk(alice: Client) -> Any:
    with SdkClient("http://localhost", alice.headers["X-API-Key"], transport=transport(alice)) as client:
        yield client


def test_a_context_that_fits(sdk: SdkClient) -> None:
    sdk.create_session("s", compaction={"auto_compact": {"keep_recent": 3}})
    sdk.append("s", {"role": "user", "content": "I moved to Oslo."})
    made = sdk.build_context("s", model_context_window_tokens=1_000, max_output_tokens=100)
    assert [message["content"] for message in made["messages"]] == ["I moved to Oslo."]
    assert made["tokens"]["effective_window"] == 900
    none = sdk.build_context("s", no_memory=True, compaction={"auto_compact": {"keep_recent": 5}})
    assert (none["memories"], none["tokens"]["effective_window"]) == ([], None)
