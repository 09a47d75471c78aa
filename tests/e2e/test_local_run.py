"""The whole service as a person runs it: over HTTP, with real processes, killed and started again."""

import contextlib
import random
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import READY_SECONDS, LocalRun

pytestmark = pytest.mark.e2e

TALK = [
    ("user", "My name is Ann and I live in Lisbon."),
    ("assistant", "Nice to meet you, Ann."),
    ("user", "I love sailing. On 7 May 2023 I went to the regatta in Cascais with Caroline."),
    ("assistant", "That sounds wonderful."),
]
ENDED = ("completed", "failed", "cancelled")


def result(answer: httpx.Response) -> Any:
    assert answer.status_code == 200, answer.text
    return answer.json()["result"]


def eventually(found: Callable[[], Any], seconds: float = 60) -> Any:
    deadline = time.monotonic() + seconds
    while not (value := found()):
        assert time.monotonic() < deadline, "too late"
        time.sleep(0.2)
    return value


def say(client: httpx.Client, session: str, talk: list[tuple[str, str]]) -> Any:
    messages = [{"role": role, "content": text, "created_at": "2023-05-08T10:00:00Z"} for role, text in talk]
    return result(client.post(f"/sessions/{session}/messages/batch", json={"messages": messages}))


def ended(client: httpx.Client, task: str) -> Any:
    found = result(client.get(f"/tasks/{task}"))
    return found if found["status"] in ENDED else None


def committed(client: httpx.Client, session: str) -> Any:
    task = result(client.post(f"/sessions/{session}/commit", json={}))["task_id"]
    return eventually(lambda: ended(client, task))


def test_ready_in_time(local_run: LocalRun) -> None:
    assert local_run.ready_seconds < READY_SECONDS


def test_says_how_to_begin(local_run: LocalRun) -> None:
    eventually(lambda: "Strandline is ready" in local_run.output())
    assert local_run.url in local_run.output()
    assert local_run.output().count("curl -s") == 3


def test_health_needs_no_key(local_run: LocalRun) -> None:
    answer = httpx.get(f"{local_run.url}/health")
    assert (answer.status_code, answer.json()["status"]) == (200, "ok")


def test_documentation_needs_no_key(local_run: LocalRun) -> None:
    assert "paths" in httpx.get(f"{local_run.url}/openapi.json", timeout=30).json()
    assert "html" in httpx.get(f"{local_run.url}/docs", timeout=30).headers["content-type"]


@pytest.mark.parametrize("headers", [{}, {"X-API-Key": "wrong"}, {"Authorization": "Bearer wrong"}])
def test_no_key_no_access(local_run: LocalRun, headers: dict[str, str]) -> None:
    for method, path in (("GET", "/sessions"), ("POST", "/sessions/s/messages"), ("GET", "/nowhere")):
        answer = httpx.request(method, f"{local_run.url}/api/v1{path}", headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "UNAUTHENTICATED")


def test_from_message_to_memory(local_run: LocalRun) -> None:
    with local_run.client() as client:
        assert say(client, "talk", TALK)["message_count"] == len(TALK)
        assert committed(client, "talk")["status"] == "completed"
        listed = result(client.get("/memories"))
        assert listed
        for memory in listed:
            text = result(client.get("/content/read", params={"uri": memory["uri"]}))
            assert "---" in str(text)
        found = result(client.post("/search/find", json={"query": "Who went to the regatta?"}))
        assert any("regatta" in each["abstract"] for each in found["memories"])


def test_what_is_committed_is_still_in_the_log(local_run: LocalRun) -> None:
    with local_run.client("ben") as client:
        say(client, "log", TALK)
        committed(client, "log")
        say(client, "log", TALK[:1])
        log = result(client.get("/sessions/log/messages"))
        assert [message["seq"] for message in log] == [1, 2, 3, 4, 5]


def test_one_user_does_not_see_another(local_run: LocalRun) -> None:
    with local_run.client("carl") as carl, local_run.client("dora") as dora:
        say(carl, "secret", TALK)
        assert dora.get("/sessions/secret").status_code == 404
        assert result(dora.get("/memories")) == []


def test_odd_ids(local_run: LocalRun) -> None:
    with local_run.client("eve") as client:
        for session in ("你好 💾", "a+b&c=d", "what!", "50% off", "x" * 100):
            answer = client.post(
                f"/sessions/{quoted(session)}/messages", json={"role": "user", "content": session}
            )
            assert result(answer)["session_id"] == session


def test_ends_what_it_started(own_run: LocalRun) -> None:
    own_run.start()
    with own_run.client() as client:
        say(client, "s", TALK)
    assert own_run.stop() == 0
    assert own_run.processes() == []


def test_a_second_run_on_the_same_data_is_refused(local_run: LocalRun, own_run: LocalRun) -> None:
    second = LocalRun(local_run.data)
    with pytest.raises(AssertionError, match="another local run uses"):
        second.start()


class Talker:
    """Appends to one session and commits it now and then, sending again whatever got no answer."""

    def __init__(self, run: LocalRun, name: str) -> None:
        self.name = name
        self.number = 1
        self.acknowledged: list[str] = []
        self.tasks: list[str] = []
        self.heard = threading.Event()
        self._run = run

    def talk(self) -> None:
        """Until the service is gone."""
        with contextlib.suppress(httpx.HTTPError), self._run.client() as client:
            while True:
                self._append(client)
                if self.number % 7 == 0:
                    self._commit(client)

    def _append(self, client: httpx.Client) -> None:
        message = {
            "id": f"{self.name}-{self.number}",
            "role": "user",
            "content": f"I like number {self.number}.",
        }
        answer = client.post(f"/sessions/{self.name}/messages", json=message)
        if answer.status_code == 200:
            self.acknowledged.append(str(message["id"]))
            self.heard.set()
            self.number += 1

    def _commit(self, client: httpx.Client) -> None:
        answer = client.post(f"/sessions/{self.name}/commit", json={"keep_recent_count": 1})
        if answer.status_code == 200 and answer.json()["result"]["archived"]:
            self.tasks.append(answer.json()["result"]["task_id"])

    def check(self) -> None:
        """Every acknowledged message is there once, in order, and every task ends well."""
        with self._run.client() as client:
            stored = whole_log(client, self.name)
            assert [message["seq"] for message in stored] == list(range(1, len(stored) + 1))
            ids = [message["id"] for message in stored]
            assert len(ids) == len(set(ids))
            assert [each for each in ids if each in self.acknowledged] == self.acknowledged
            for task in self.tasks:
                assert eventually(lambda task=task: ended(client, task), 120)["status"] == "completed"


def whole_log(client: httpx.Client, session: str) -> list[Any]:
    stored: list[Any] = []
    while page := result(
        client.get(f"/sessions/{session}/messages", params={"after_seq": len(stored), "limit": 100})
    ):
        stored += page
    return stored


@pytest.mark.slow
def test_killed_at_any_moment_it_loses_nothing(own_run: LocalRun) -> None:
    seed = random.randrange(2**32)
    print("seed", seed)
    moment = random.Random(seed)
    talkers = [Talker(own_run, f"talk{number}") for number in range(3)]
    for _ in range(3):
        own_run.start()
        for talker in talkers:
            talker.heard.clear()
        in_threads(
            [*(talker.talk for talker in talkers), partial(kill, own_run, talkers, moment.uniform(0, 5))]
        )
        assert eventually(lambda: own_run.processes() == [], 10)
    own_run.start()
    for talker in talkers:
        assert talker.acknowledged, own_run.output()
        talker.check()


@pytest.mark.slow
def test_killed_while_it_learns_it_counts_each_lesson_once(own_run: LocalRun) -> None:  # B-E5
    """One user's lessons come one after the other: it is killed as soon as the first of them is there."""
    own_run.start()
    with own_run.client() as client:
        for number in range(6):
            judge(client, f"run{number}")
        assert eventually(lambda: learnt(client), 120)
    own_run.kill()
    assert eventually(lambda: own_run.processes() == [], 10)
    own_run.start()
    experience = {"experience_uri": "viking://user/ann/memories/experiences/cancel-it.md"}
    root = "/agent-evolution/experiences"
    with own_run.client() as client:
        assert eventually(lambda: len(learnt(client)) == 6, 120), own_run.output()
        counts = result(client.get(f"{root}/outcomes", params=experience))["learned_from"]
        assert counts == {"success": 6, "failure": 0, "partial": 0, "unfinished": 0, "unknown": 0}
        runs = result(client.get(f"{root}/trajectories", params=experience))["trajectories"]
        assert [run["outcome"] for run in runs] == ["success"] * 6
        assert len({run["case_uri"] for run in runs}) == 1
        case = result(client.get("/memories/cases/cancel.md"))["content"]
        assert "Runs: 6 success, 0 failure" in case


def judge(client: httpx.Client, session: str) -> None:
    """A run that was judged well, committed."""
    case = {"case": {"name": "Cancel", "task_signature": "Cancel it"}}
    verdict = {"evaluation": {"passed": True, "score": 1.0}}
    messages = [
        {"role": "user", "content": "Cancel my reservation.", "metadata": case},
        {"role": "system", "content": "Evaluation.", "metadata": verdict},
    ]
    result(client.post(f"/sessions/{session}/messages/batch", json={"messages": messages}))
    result(client.post(f"/sessions/{session}/commit", json={}))


def learnt(client: httpx.Client) -> list[Any]:
    """The lessons that have come to their end."""
    wanted = {"task_type": "session_learn", "status": "completed"}
    return list(result(client.get("/tasks", params=wanted)))


def kill(run: LocalRun, talkers: list[Talker], seconds: float) -> None:
    """Kills the run so long after each talker has been acknowledged something (or after a minute without)."""
    for talker in talkers:
        talker.heard.wait(60)
    time.sleep(seconds)
    run.kill()


def in_threads(work: list[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=each) for each in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def quoted(session: str) -> str:
    return "".join(f"%{byte:02X}" for byte in session.encode())
