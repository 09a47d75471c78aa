"""tau2-bench as a rollout service: the real package in its own environment, a scripted model on loopback."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from strandline_sdk.rollouts import Patience, Policy, PolicySet, RolloutClient
from strandline_sdk.rollouts.model import Case, ExecuteRequest, Rollout
from strandline_sdk.rollouts.scrub import Scrubber
from strandline_sdk.training.access import opened
from tests.fakes.chat_server import Asked, ChatServer, Turn

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-tau2" / "bin" / "python"
KEY = "the-key-of-the-model"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PYTHON.exists(), reason="tau2 has an environment of its own: make tau2"),
]
CREATE: dict[str, Any] = {
    "id": "call_1",
    "type": "function",
    "function": {
        "name": "create_task",
        "arguments": '{"user_id": "user_1", "title": "Important Meeting"}',
    },
}
TOKENS: list[str] = []
ADVICE = Policy(
    "mock-create-task",
    "viking://user/u/memories/experiences/mock-create-task.md",
    "## Situation\n\nmock: create task\n\n## Approach\n\n- changes: what has to be changed: create_task\n",
)


def chat(handler: Any, asked: Asked) -> None:
    """The user asks for a task, and ends it when there is an answer; the agent does it if it was advised to."""
    said = asked.body["messages"]
    if asked.body["model"] == "user-model":
        first = len(said) <= 2
        reply(handler, "Please create the task Important Meeting for user_1." if first else "###STOP###")
    elif "what has to be changed: create_task" in said[0]["content"] and said[-1]["role"] != "tool":
        reply(handler, None, [CREATE])
    else:
        disclosed(handler, asked)


def disclosed(handler: Any, asked: Asked) -> None:
    """Looks for experience where there are tools for that, reads it if its situation fits, and does what it says."""
    last = asked.body["messages"][-1]
    text = last["content"] or ""
    if last["role"] == "user" and "search_experience" in str(asked.body.get("tools")):
        reply(handler, None, [called("call_s", "search_experience", query=text), {**CREATE, "id": "call_0"}])
    elif last.get("tool_call_id") == "call_0" and "Not done" in text:
        (found,) = json.loads(asked.body["messages"][-2]["content"])
        fits = "create task" in found["situation"]
        reading = [called("call_r", "read_experience", uri=found["uri"])]
        reply(handler, *((None, reading) if fits else ("I do not know how.",)))
    elif "what has to be changed: create_task" in text:
        reply(handler, None, [CREATE])
    else:
        reply(handler, "It is created." if last["role"] == "tool" else "I do not know how.")


def called(name: str, tool: str, **arguments: str) -> dict[str, Any]:
    return {"id": name, "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}


def reply(handler: Any, content: str | None, calls: Any = None) -> None:
    message = {"role": "assistant", "content": content, **({"tool_calls": calls} if calls else {})}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    body = {
        "id": "c",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [choice],
        "usage": usage,
    }
    handler.send(200, json.dumps(body).encode(), {"Content-Type": "application/json"})


@pytest.fixture(scope="module")
def model() -> Iterator[ChatServer]:
    turn: Turn = chat
    with ChatServer(turn) as server:
        yield server


@pytest.fixture(scope="module")
def tau2(model: ChatServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RolloutClient]:
    """The adapter as a process of its own."""
    models = ["--model-url", f"{model.url}/v1", "--model", "agent-model", "--user-model", "user-model"]
    spool = tmp_path_factory.mktemp("tau2") / "spool"
    command = [str(PYTHON), "-m", "strandline_sdk.tau2", *models, "--spool", str(spool), "--port", "0"]
    told = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    environment = {**told, "PYTHONPATH": str(ROOT / "sdk"), "STRANDLINE_TAU2_KEY": KEY}
    log = spool.parent / "log.txt"
    with (
        log.open("w") as errors,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=spool.parent, env=environment
        ) as process,
    ):
        assert process.stdout
        url = process.stdout.readline().strip()
        with RolloutClient(url, patience=Patience(poll=0.1, timeout=120)) as client:
            yield client
        process.kill()
    kept = "".join(path.read_text() for path in (log, *spool.rglob("*.json")))
    told = json.dumps([asked.body for asked in model.requests])
    assert not any(secret in text for secret in (KEY, *TOKENS) for text in (kept, told))  # B-E7


def case(tau2: RolloutClient, name: str) -> Case:
    return next(one for one in tau2.cases("tau2", "mock", "base") if one["name"] == name)


def tried(tau2: RolloutClient, wanted: Case, *policies: Policy, **options: Any) -> Rollout:
    """Reads its policies from here, by a token."""
    known = PolicySet.of("root", policies)
    with opened(Scrubber()) as access:
        granted = access.grant(known)
        TOKENS.append(granted.token)
        request: ExecuteRequest = {
            "case": wanted,
            "policy_set": known.document(content=False, snapshot_url=granted.url),
            "execution_context": {"policy_snapshot_id": known.snapshot_id, "metadata": {}},
            "options": {"seed": 7, "max_steps": 20, **options},
        }
        done = tau2.wait(tau2.execute(request, policy_token=granted.token)["execution_id"])
    assert done["error"] is None
    rollout = done.get("rollout")
    assert rollout is not None
    return rollout


def test_the_splits_of_the_benchmark(tau2: RolloutClient) -> None:
    assert [len(list(tau2.cases("tau2", "airline", split))) for split in ("train", "test")] == [30, 20]
    assert case(tau2, "mock-create_task_1")["task_signature"] == "mock: create task"


def test_a_task_fails_without_experience_and_says_what_was_needed(
    tau2: RolloutClient, model: ChatServer
) -> None:
    rollout = tried(tau2, case(tau2, "mock-create_task_1"))
    assert rollout["evaluation"] == {
        "passed": False,
        "score": 0.0,
        "criterion_results": [
            {"name": "changes", "passed": False, "feedback": "what has to be changed: create_task"}
        ],
        "feedback": ["The agent confirmed the task was created successfully"],
    }
    assert model.requests[-1].headers["authorization"] == f"Bearer {KEY}"
    assert model.requests[-1].body["seed"] == 7


def calls(rollout: Rollout) -> list[Any]:
    return [part for message in rollout["messages"] for part in message["parts"] if part["type"] == "tool"]


def test_an_agent_looks_at_situations_and_reads_what_fits(tau2: RolloutClient, model: ChatServer) -> None:
    """The text is disclosed by a call alone; a call of the domain in the same breath as one of memory waits."""
    before = len(model.requests)
    rollout = tried(tau2, case(tau2, "mock-create_task_1"), ADVICE)
    assert rollout["evaluation"] == {"passed": True, "score": 1.0}
    told = [(call["tool_name"], call["tool_status"]) for call in calls(rollout)]
    assert told == [
        ("search_experience", "completed"),
        ("create_task", "error"),
        ("read_experience", "completed"),
        ("create_task", "completed"),
    ]
    memory = rollout["metadata"]["memory"]
    assert (memory["read"], memory["tool_calls"]) == (["mock-create-task"], 2)
    assert rollout["metadata"]["usage"]["prompt_tokens"] == 600
    first = next(a.body for a in model.requests[before:] if a.body["model"] == "agent-model")
    system = first["messages"][0]["content"]
    assert "Look at the situations only" in system
    assert "create_task" not in system.partition("<skill>")[2]


def test_an_experience_of_another_situation_is_not_read(tau2: RolloutClient) -> None:
    other = Policy(
        "mock-delete", "viking://x/mock-delete.md", "## Situation\n\nmock: delete the task\n\nno\n"
    )
    rollout = tried(tau2, case(tau2, "mock-create_task_1"), other)
    assert rollout["evaluation"]["passed"] is False
    memory = rollout["metadata"]["memory"]
    assert (memory["read"], memory["context"], memory["tool_calls"]) == ([], "", 1)


def test_a_task_is_solved_with_experience_in_the_prompt(tau2: RolloutClient) -> None:
    rollout = tried(tau2, case(tau2, "mock-create_task_1"), ADVICE, disclosure="inline")
    assert rollout["evaluation"] == {"passed": True, "score": 1.0}
    memory = rollout["metadata"]["memory"]
    assert (memory["read"], memory["tool_calls"]) == (["mock-create-task"], 0)
    (call,) = calls(rollout)
    assert (call["tool_name"], call["tool_status"], call["tool_id"]) == ("create_task", "completed", "call_1")
    assert "Important Meeting" in call["tool_output"]
    assert rollout["metadata"]["usage"]["prompt_tokens"] == 400
