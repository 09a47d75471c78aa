"""The Python client and the command line, before each call of a model."""

import json
from typing import Any

import pytest

from strandline_sdk.client import Client as SdkClient
from tests.handlers.service import Client
from tests.handlers.test_sdk_topics import run, said, transport


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


CALL = {"type": "tool", "tool_id": "t1", "tool_name": "Read", "tool_output": "x" * 60_000}


def test_the_command_line(alice: Client) -> None:
    alice.remember("before", "I moved to Oslo.")
    alice.append("s", "Where do I live?\x1b[2J\nAnd since when?")
    alice.append("s", role="assistant", parts=[{"type": "text", "text": "Let me see."}, CALL])
    told = said(run(alice, "context", "s", "--window", "50000", "--max-output", "1000"))
    block, _, rest = told.partition("\n\n--- 1 user\n")
    assert "The user moved to Oslo." in block
    assert rest.startswith(
        "Where do I live?\ufffd[2J\nAnd since when?\n--- 2 assistant\nLet me see.\n[Read completed] x"
    )
    assert " of 49000 tokens; compaction: none\npreview: t1, 2" in rest
    without = said(run(alice, "context", "s", "--no-memory"))
    assert without.startswith("--- 1 user\nWhere")
    assert "Oslo" in said(run(alice, "context", "s", "--query", "Oslo"))
    assert run(alice, "context", "nobody").exit_code == 1
    assert run(alice, "context", "s", "--window", "0").exit_code == 2


def test_the_command_line_as_json(alice: Client) -> None:
    alice.append("s", "I moved to Oslo.")
    made = json.loads(said(run(alice, "context", "s", "--window", "1000", "--json")))
    assert [message["content"] for message in made["messages"]] == ["I moved to Oslo."]
    assert made["tokens"]["effective_window"] == 1_000
