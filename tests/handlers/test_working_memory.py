"""The working memory behind the deployed functions: of an archive, ahead of one, and with a language model."""

from collections.abc import Iterator

import pytest

from strandline.domain.contracts import SummariseRequested
from strandline.entry import settings, wiring
from tests.fakes.chat_server import ChatServer, listens, remembers, writes
from tests.handlers.service import MAX_RECEIVES, Client, Service
from tests.handlers.test_queues import reference
from tests.pipeline.models import Notes

SAID = ("I moved to Oslo in 2021.", "My dog Balder loves the snow.")


def request(service: Service, through: int) -> str:
    return SummariseRequested(session=reference(service, "s"), through=through).model_dump_json()


def say(alice: Client) -> None:
    for text in SAID:
        alice.append("s", text)


def test_a_context_begins_with_the_document(alice: Client) -> None:
    alice.remember("s", *SAID)
    text = alice.context("s").result["latest_archive_overview"]
    assert "\nMessages 1 to 2.\n" in text
    assert "## Key facts and decisions\n" in text
    assert "Balder" in text


def test_a_version_is_made_ahead(service: Service, alice: Client) -> None:
    say(alice)
    assert service.send_batch("ExtractQueue", [(request(service, 2), 1)]) == set()
    (key,) = service.world.stored("/working/")
    assert key.endswith("/working/000000000002.md")
    assert b"Balder" in service.world.body(key)


def test_one_that_fails_comes_again_and_is_let_go_in_the_end(service: Service, alice: Client) -> None:
    service.world.summariser = Notes(failing=2)
    service.cold()
    say(alice)
    body = request(service, 2)
    assert service.send_batch("ExtractQueue", [(body, 1)]) == {0}
    assert service.send_batch("ExtractQueue", [(body, MAX_RECEIVES)]) == set()
    assert service.world.stored("/working/") == []
    assert alice.context("s").result["messages"]


def test_without_one_there_is_none(service: Service, alice: Client) -> None:
    alice.post("/sessions", {"session_id": "s", "memory_policy": {"working_memory": {"enabled": False}}})
    alice.remember("s", *SAID)
    assert alice.context("s").result["latest_archive_overview"] == ""
    alice.append("s", "More.", id="more")
    assert service.send_batch("ExtractQueue", [(request(service, 3), 1)]) == set()
    assert service.world.stored("/working/") == []


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(listens(remembers)) as running:
        yield running


@pytest.fixture
def client(service: Service, server: ChatServer) -> Client:
    service.configure(
        STRANDLINE_MODEL_PROVIDER="openai",
        STRANDLINE_MODEL_ID="some-model",
        STRANDLINE_MODEL_BASE_URL=f"{server.url}/v1",
        STRANDLINE_MODEL_TIMEOUT_SECONDS="5",
    )
    model = wiring.language_model(settings.settings())
    service.world.language_model = service.world.settler = service.world.summariser = model
    return service.client()


def test_a_language_model_keeps_it(client: Client, server: ChatServer) -> None:
    task_id = client.remember("s", *SAID)
    text = client.context("s").result["latest_archive_overview"]
    assert text.startswith("# what was said\n\nMessages 1 to 2.\n\n## Current state\n- They talk.\n")
    assert "- the user said: My dog Balder loves the snow.\n" in text
    assert len(server.requests) == 2
    tokens = client.get(f"/tasks/{task_id}").result["result"]["tokens"]
    assert tokens == {"model": "openai:some-model", "input": 200, "output": 40, "calls": 2}


def test_a_model_that_writes_prose_fails_the_archive_whose_text_stays(
    client: Client, server: ChatServer
) -> None:
    server.turns = [listens(remembers), writes("Sure!")]
    task_id = client.remember("s", *SAID)
    task = client.get(f"/tasks/{task_id}").result
    assert task["status"] == "failed"
    assert "text, not the JSON" in task["error"]
    assert len(server.requests) == 1 + MAX_RECEIVES
    assert [m["content"] for m in client.context("s").result["messages"]] == list(SAID)
