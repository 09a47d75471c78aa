"""Imports through the whole service by the command line, killed in the middle and resumed; and `watch` beside them."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.e2e.conftest import KEY, ROOT, LocalRun
from tests.e2e.test_local_run import eventually, result
from tests.e2e.test_real_input import DATA, SHARED, strandline

pytestmark = pytest.mark.e2e

SESSIONS, MESSAGES = 8, 1500


@contextmanager
def started(run: LocalRun, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """The command line as a process of its own."""
    command = [str(Path(sys.executable).with_name("strandline")), "--url", run.url, *arguments]
    environment = {"STRANDLINE_KEY": KEY, "PYTHONUNBUFFERED": "1"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
    with subprocess.Popen(command, cwd=ROOT, env=environment, **pipes) as process:  # type: ignore[call-overload]
        try:
            yield process
        finally:
            process.kill()


def stored(client: httpx.Client) -> int:
    """Messages of all sessions."""
    sessions = result(client.get("/sessions"))
    looked = [client.get(f"/sessions/{session['session_id']}") for session in sessions]
    return sum(result(answer)["total_message_count"] for answer in looked if answer.status_code == 200)


def log(client: httpx.Client, session_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    while page := result(
        client.get(f"/sessions/{session_id}/messages", params={"after_seq": len(found), "limit": 1000})
    ):
        found += page
    return found


@pytest.fixture
def client(local_run: LocalRun) -> Iterator[httpx.Client]:
    """A user of this test's own, whose name is in the client's headers."""
    with local_run.client(f"importer-{uuid4().hex[:8]}", account="default") as client:
        yield client


def me(client: httpx.Client) -> tuple[str, str]:
    """The command line's option to act as the client's user."""
    return "--user", client.headers["X-Strandline-User"]


def test_an_import_killed_again_and_again_is_resumed_without_loss_or_double(
    local_run: LocalRun, client: httpx.Client, tmp_path: Path
) -> None:
    path = tmp_path / "long.jsonl"
    conversations = [
        {"id": f"talk-{s}", "messages": [{"role": "user", "content": f"{s}/{m}"} for m in range(MESSAGES)]}
        for s in range(SESSIONS)
    ]
    path.write_text("\n".join(map(json.dumps, conversations)), encoding="utf-8")
    command = (*me(client), "import", str(path), "--jobs", "2", "--no-wait")
    before = kills = 0
    for resume in ((), ("--resume",), ("--resume",)):
        with started(local_run, *command, *resume) as process:
            eventually(lambda known=before: stored(client) > known)  # type: ignore[misc]
            process.send_signal(signal.SIGKILL)
            kills += process.wait() == -signal.SIGKILL
        before = eventually(lambda: stored(client))
        if before == SESSIONS * MESSAGES:  # it was faster than the kill
            break
    assert kills

    done = strandline(local_run, *me(client), "import", str(path), "--resume")
    assert done["sessions"] == SESSIONS
    assert done["messages_stored"] + done["duplicates"] == SESSIONS * MESSAGES
    assert done["duplicates"] >= before
    assert done["archives"] == {"unfinished": 0, "failed": 0}
    for s in range(SESSIONS):
        found = log(client, f"talk-{s}")
        assert [message["content"] for message in found] == [f"{s}/{m}" for m in range(MESSAGES)]
        assert [message["seq"] for message in found] == list(range(1, MESSAGES + 1))
    again = strandline(local_run, *me(client), "import", str(path), "--resume")
    assert (again["messages_stored"], again["tasks"]["started"]) == (0, 0)


@SHARED
@pytest.mark.parametrize(
    ("name", "sessions", "messages"),
    [
        ("formats/representative_messages.jsonl", 1, 11),
        ("formats/session_b.jsonl", 1, 3),
        ("formats/sharegpt_tools_zh.json", 60, 378),
        ("swe_agent/marshmallow-1867.function_calling.traj", 1, 24),
    ],
)
def test_real_exports_go_in_whole_and_once(
    local_run: LocalRun, client: httpx.Client, name: str, sessions: int, messages: int
) -> None:
    for new in (messages, 0):
        done = strandline(local_run, *me(client), "import", str(DATA / name))
        assert (done["sessions"], done["messages_stored"], done["duplicates"]) == (
            sessions,
            new,
            messages - new,
        )
        assert (done["failures"], done["skipped"]) == ([], [])


@SHARED
def test_a_tool_and_its_result_are_read_back_as_they_were(local_run: LocalRun, client: httpx.Client) -> None:
    strandline(local_run, *me(client), "import", str(DATA / "formats/representative_messages.jsonl"))
    found = log(client, "test_session")
    assert [message["id"] for message in found] == [f"msg_{n:03d}" for n in range(1, 12)]
    call, answer = found[7]["parts"][0], found[8]["parts"][0]
    assert (call["tool_name"], call["tool_status"]) == ("Bash", "pending")
    assert (answer["tool_id"], answer["tool_name"]) == (call["tool_id"], "Bash")
    assert answer["tool_output"] == "Hello, Alice!\nHello, Alice!\nHello, Alice!"
    assert found[8]["created_at"] == "2025-06-14T10:03:01.000Z"


def lines(process: subprocess.Popen[bytes], count: int) -> list[Any]:
    """So many JSON lines of what a process prints."""
    assert process.stdout is not None
    text = b""
    while text.count(b"\n") < count:
        ready, _, _ = select.select([process.stdout], [], [], 30)
        assert ready, text
        text += os.read(process.stdout.fileno(), 1 << 16)
    return [json.loads(line) for line in text.splitlines()]


def test_a_session_is_watched_from_before_it_exists_until_ctrl_c(
    local_run: LocalRun, client: httpx.Client
) -> None:
    command = (*me(client), "--json", "watch", "later", "--interval", "0.1")
    with started(local_run, *command) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == b"waiting for session later\n"
        for n in range(3):
            batch = [{"role": "user", "content": f"{n}/{m}"} for m in range(50)]
            result(client.post("/sessions/later/messages/batch", json={"messages": batch}))
            if n == 1:
                result(client.post("/sessions/later/commit", json={}))
        seen = lines(process, 150)
        result(client.post("/sessions/later/messages", json={"role": "user", "content": "last"}))
        seen += lines(process, 1)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0
        assert process.stderr.read() == b""
    said = [f"{n}/{m}" for n in range(3) for m in range(50)]
    assert [message["content"] for message in seen] == [*said, "last"]
    assert [message["seq"] for message in seen] == list(range(1, 152))


def test_a_task_is_listed_once_it_has_begun(local_run: LocalRun, client: httpx.Client) -> None:
    strandline(local_run, *me(client), "send", "talk", "I moved to Oslo last week.")
    done = strandline(local_run, *me(client), "commit", "talk", "--wait")
    (task,) = strandline(local_run, *me(client), "tasks", "ls", "--session", "talk")
    assert (task["task_id"], task["status"]) == (done["task_id"], "completed")
    assert strandline(local_run, *me(client), "tasks", "ls", "--status", "failed") == []
