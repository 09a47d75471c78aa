"""A language model behind the deployed functions: an OpenAI-compatible server on loopback, by the real wiring."""

import json
import logging
from collections.abc import Iterator

import pytest

from strandline.entry import settings, wiring
from strandline.entry.wiring import RuleModel
from tests.fakes.chat_server import (
    ChatServer,
    Notes,
    fails,
    learns,
    listens,
    remembers,
    says,
    updates,
    writes,
)
from tests.handlers.service import Client, Service

CANARY = "correct-horse-battery-staple"
SAID = ("I moved to Oslo in 2021.", "My dog Balder loves the snow.")


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
    service.world.model = RuleModel()
    service.world.language_model = wiring.language_model(settings.settings())
    return service.client()


def lines(client: Client) -> list[str]:
    listed = client.get("/memories").result
    files = [client.memory(each["path"]).result["content"] for each in listed]
    return [
        line for content in files for line in content.splitlines() if line.startswith("- ") and "<!--" in line
    ]


def test_facts_and_lines_with_their_sources(client: Client, service: Service) -> None:
    task_id = client.remember("s", *SAID)
    found = lines(client)
    for number, text in enumerate(SAID, start=1):
        (fact,) = [
            line for line in found if line.startswith(f"- It is noted of the user: {text} <!-- s/1#{number} ")
        ]
        assert fact.endswith("-->")
    assert any("Oslo" in line and "noted" not in line for line in found)
    assert any("Balder" in line and "noted" not in line for line in found)
    result = client.get(f"/tasks/{task_id}").result["result"]
    assert result["tokens"] == {"model": "openai:some-model", "input": 100, "output": 20, "calls": 1}
    (candidates,) = service.world.bodies("candidates.json").values()
    assert json.loads(candidates)["extractor"] == "rules/1+openai:some-model/4"


def test_a_fact_that_cannot_be_used_is_kept_with_its_reason(
    client: Client, service: Service, server: ChatServer
) -> None:  # B-C4 B-C12
    bad = {"text": "Ann is rich.", "speaker": "unclear", "seq_from": 1, "seq_to": 1, "quote": SAID[0]}
    answer = Notes().answer
    answer["profile"] = [bad, {**bad, "speaker": "S1", "quote": "I am rich, you know."}]
    server.turns = [says(answer)]
    task_id = client.remember("s", *SAID)
    assert client.get(f"/tasks/{task_id}").result["status"] == "completed"
    assert not any("rich" in line for line in lines(client))
    (candidates,) = service.world.bodies("candidates.json").values()
    assert [row["reason"] for row in json.loads(candidates)["rejected"]] == [
        "its speaker is not clear",
        "its quote is not in the messages it cites",
    ]


def test_a_model_that_writes_prose_fails_the_task_with_a_reason_that_quotes_nothing(
    client: Client, server: ChatServer, caplog: pytest.LogCaptureFixture
) -> None:  # B-C3 B-B15
    caplog.set_level(logging.DEBUG)
    server.turns = [writes(f"Of course! {CANARY}"), fails(400, "context_length_exceeded")]
    task_id = client.remember("s", f"My word is {CANARY}, and I like tea.")
    task = client.get(f"/tasks/{task_id}").result
    assert (task["status"], task["stage"], task["attempts"]) == ("failed", "extract", 2)
    assert task["error"] == "the model did not answer: HTTP 400 context_length_exceeded"
    assert "ExtractionFailed at answer.py" in caplog.text  # its place; texts are not logged
    assert CANARY not in caplog.text
    assert [m["content"] for m in client.context("s").result["messages"]] == [
        f"My word is {CANARY}, and I like tea."
    ]

    server.turns = [listens(remembers)]
    client.post(f"/tasks/{task_id}/retry")
    client.service.pump()
    assert client.get(f"/tasks/{task_id}").result["status"] == "completed"


def test_an_archive_is_paid_once_however_often_it_is_delivered(
    client: Client, service: Service, server: ChatServer
) -> None:  # B-B16
    for text in SAID:
        client.append("s", text)
    client.commit("s")
    (delivery,) = service.world.extract_queue.receive(1)
    for received in (1, 2, 1):
        assert service.send_batch("ExtractQueue", [(delivery.body, received)]) == set()
    assert len(server.requests) == 1
    service.pump()
    assert sum(line.startswith("- It is noted") for line in lines(client)) == 2


def test_an_ordinary_conversation_is_learnt_from(
    client: Client, service: Service, server: ChatServer
) -> None:
    service.world.analyst = service.world.language_model
    server.turns = [listens(learns)]
    client.append("s", "Please cancel my reservation EHGLP3.")
    call = {"type": "tool", "tool_id": "c1", "tool_name": "cancel", "tool_input": {"id": "EHGLP3"}}
    client.post("/sessions/s/messages", {"role": "assistant", "parts": [call]})
    client.post("/sessions/s/messages", {"role": "tool", "parts": [{**call, "tool_output": "cancelled"}]})
    client.append("s", "Thank you, that is what I wanted.")
    commit = client.get(f"/tasks/{client.remember('s')}").result["result"]
    lesson = client.get(f"/tasks/{commit['learn_task_id']}").result["result"]
    tokens = {"model": "openai:some-model", "input": 100, "output": 20, "calls": 1}
    assert (commit["tokens"], lesson["tokens"]) == (tokens, tokens)  # one reads the archive, one the run

    experience = "viking://user/alice/memories/experiences/cancel-a-reservation.md"
    root = "/agent-evolution/experiences"
    found = client.post(f"{root}/search", {"query": "I have to cancel a reservation", "limit": 1}).result
    assert found["cases"][0]["input"] == "Please cancel my reservation EHGLP3."
    assert [each["uri"] for each in found["cases"][0]["experiences"]] == [experience]
    read = client.get(f"{root}/read", uri=experience).result
    assert read["confidence"] == 0.7
    assert "- Ask for the number." in read["content"]
    (run,) = client.get(f"{root}/trajectories", experience_uri=experience).result["trajectories"]
    assert (run["outcome"], run["judged_by"]) == ("success", "openai:some-model/4")


def test_the_line_of_a_delivery_counts_what_was_asked_in_it_for_the_working_memory_too(
    client: Client, service: Service, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.turns = [listens(remembers), writes("no JSON"), listens(updates)]
    service.world.summariser = service.world.language_model
    client.append("s", SAID[0])
    client.commit("s")
    (delivery,) = service.world.extract_queue.receive(1)
    for received in (1, 2, 3):
        service.send_batch("ExtractQueue", [(delivery.body, received)])
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    names = ("model_calls", "model_input_tokens", "model_output_tokens", "failures")
    told = [{name: line[name][0] for name in names if name in line} for line in said]
    assert [row for row, line in zip(told, said, strict=True) if line["stage"] == "extract"] == [
        {"model_calls": 2, "model_input_tokens": 200, "model_output_tokens": 40, "failures": 1},
        {"model_calls": 1, "model_input_tokens": 100, "model_output_tokens": 20},
        {},  # everything is there
    ]


def test_a_model_that_is_half_configured_stops_no_append(service: Service) -> None:
    service.configure(STRANDLINE_MODEL_PROVIDER="openai")
    client = service.client()
    assert client.append("s", "hello").status == 200
    with pytest.raises(Exception, match="STRANDLINE_MODEL_ID is not set"):
        wiring.language_model(settings.settings())


def test_a_model_on_bedrock_by_its_endpoint(service: Service, server: ChatServer) -> None:
    service.configure(
        STRANDLINE_MODEL_PROVIDER="bedrock",
        STRANDLINE_MODEL_ID="eu.anthropic.some-model-v1:0",
        AWS_ENDPOINT_URL_BEDROCK_RUNTIME=server.url,
    )
    service.world.language_model = wiring.language_model(settings.settings())
    client = service.client()
    task_id = client.remember("s", *SAID)
    assert sum(line.startswith("- It is noted") for line in lines(client)) == 2
    assert client.get(f"/tasks/{task_id}").result["result"]["tokens"]["model"] == (
        "bedrock:eu.anthropic.some-model-v1:0"
    )
    assert [asked.path for asked in server.requests] == ["/model/eu.anthropic.some-model-v1%3A0/converse"]
