"""The Python client and the command line, as an agent's memory."""

import json
from typing import Any

import httpx
import pytest
from click.testing import CliRunner, Result

from strandline_sdk.cli import main
from strandline_sdk.client import Client as SdkClient
from tests.handlers.service import Client


def transport(client: Client) -> httpx.MockTransport:
    def answer(request: httpx.Request) -> httpx.Response:
        target = request.url.raw_path.decode()
        found = client.service.request(request.method, target, dict(request.headers), request.content)
        return httpx.Response(found.status, headers=dict(found.headers), content=found.text.encode())

    return httpx.MockTransport(answer)


@pytest.fixture
def sdk(alice: Client) -> Any:
    with SdkClient("http://localhost", alice.headers["X-API-Key"], transport=transport(alice)) as client:
        yield client


def test_a_topic_is_remembered_and_recalled(sdk: SdkClient) -> None:
    saved = sdk.remember("# Boat\n\nThe boat is green.", memory_type="user", ttl_seconds=3600)
    assert (saved["name"], saved["type"], saved["filename"][:5]) == ("Boat", "user", "boat-")
    assert sdk.remember("# Boat\n\nThe boat is green.")["path"] == saved["path"]
    assert sdk.remember("It is blue.", name="The boat!")["filename"] == "the-boat.md"
    assert sdk.remember("It is red.", name="The boat!")["filename"] == "the-boat.md"
    assert sdk.topics()["total"] == 2
    assert "The boat is green." in sdk.recall("green boat", max_tokens=500)["block"]["text"]


def test_the_memory_tool(sdk: SdkClient) -> None:
    path = "/memories/notes.md"
    assert not sdk.memory_tool("create", path=path, file_text="x")["is_error"]
    assert sdk.memory_tool("create", path=path, file_text="x") == {
        "output": f"Error: File {path} already exists",
        "is_error": True,
    }


def run(alice: Client, *arguments: str, stdin: str | None = None) -> Result:
    key = alice.headers["X-API-Key"]
    return CliRunner().invoke(main, ["--key", key, *arguments], obj=transport(alice), input=stdin)


def said(result: Result) -> str:
    """What the command printed; the functions' own lines of work land in the same place here."""
    assert result.exit_code == 0, result.output
    return "".join(line for line in result.output.splitlines(True) if not line.startswith('{"_aws"'))


def test_the_command_line(alice: Client) -> None:
    told = run(alice, "remember", "The boat is green.", "--name", "Boat", "--type", "project")
    assert said(told) == "topics/boat.md\n"
    assert said(run(alice, "remember", "-", "--name", "Sea", stdin="The sea is wide.\n")) == "topics/sea.md\n"
    assert "- [Boat](boat.md): The boat is green. (project, today)\n" in said(run(alice, "recall"))
    assert "The boat is green.\n" in said(run(alice, "recall", "boat"))
    assert said(run(alice, "recall", "submarine")) == "nothing found\n"
    found = json.loads(said(run(alice, "--json", "recall", "boat")))
    assert found["block"]["memories"][0]["uri"].endswith("/topics/boat.md")
    assert run(alice, "remember", "x", "--type", "other").exit_code == 2
