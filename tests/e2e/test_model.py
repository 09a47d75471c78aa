"""The local run with a language model: a well-behaved OpenAI-compatible server on loopback."""

from collections.abc import Iterator

import pytest

from tests.e2e.conftest import LocalRun
from tests.e2e.test_local_run import committed, ended, eventually, result, say
from tests.fakes.chat_server import ChatServer, fails, learns, listens, remembers

pytestmark = pytest.mark.e2e

KEY = "e2e-model-key"
TALK = [
    ("user", "My name is Ann and I live in Lisbon."),
    ("user", "On 7 May 2023 I went to the regatta in Cascais with Caroline."),
]


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with ChatServer(listens(remembers)) as running:
        yield running


@pytest.fixture(scope="module")
def run(server: ChatServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRun]:
    made = LocalRun(
        tmp_path_factory.mktemp("model"),
        STRANDLINE_MODEL_PROVIDER="openai",
        STRANDLINE_MODEL_ID="some-model",
        STRANDLINE_MODEL_BASE_URL=f"{server.url}/v1",
        STRANDLINE_LOCAL_MODEL_KEY=KEY,
        STRANDLINE_LOCAL_RETRY_SECONDS="1",
    )
    made.start()
    yield made
    made.end()


def test_memories_hold_the_models_facts_and_the_rules_lines(run: LocalRun, server: ChatServer) -> None:
    server.turns.insert(0, fails(429, Retry_After="0"))
    with run.client() as client:
        say(client, "s", TALK)
        task = committed(client, "s")
        assert task["status"] == "completed", task
        assert task["result"]["tokens"] == {
            "model": "openai:some-model",
            "input": 200,
            "output": 40,
            "calls": 3,  # one was refused, one reads the archive, one keeps the working memory
        }
        content = result(client.get("/memories/profile.md"))["content"]
        assert (
            "- It is noted of the user: My name is Ann and I live in Lisbon. <!-- s/1#1 2023-05-08" in content
        )
        by_rules = [line for line in content.splitlines() if "Lisbon" in line and "noted" not in line]
        assert len(by_rules) == 1 and "<!-- s/1#1 2023-05-08" in by_rules[0]
        found = result(client.post("/search/find", json={"query": "regatta Cascais", "limit": 5}))
        assert found["memories"][0]["sources"][0]["seq_from"] == 2
    assert {asked.headers["authorization"] for asked in server.requests} == {f"Bearer {KEY}"}
    assert KEY.encode() not in b"".join(f.read_bytes() for f in (run.data / "logs").iterdir() if f.is_file())


def test_an_ordinary_conversation_is_learnt_from(run: LocalRun, server: ChatServer) -> None:
    server.turns = [listens(learns)]
    talk = [
        ("user", "Please cancel my reservation EHGLP3."),
        ("assistant", "It is cancelled."),
        ("user", "Thank you, the refund is there already."),
    ]
    with run.client() as client:
        say(client, "t", talk)
        commit = committed(client, "t")
        lesson = eventually(lambda: ended(client, commit["result"]["learn_task_id"]))
        assert (lesson["status"], lesson["result"]["tokens"]["calls"]) == ("completed", 1), lesson
        experience = result(client.get("/memories/experiences/cancel-a-reservation.md"))["content"]
    assert "Confidence: 0.70 (runs remembered: 1 success; 1 judged by a model)" in experience
    assert "- Ask for the number." in experience
