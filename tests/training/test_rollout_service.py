"""A rollout service over HTTP on loopback: shapes, repeats, restarts, and what never gets into its spool."""

import json
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from strandline_sdk.errors import ApiError
from strandline_sdk.rollouts import (
    Attempt,
    Outcome,
    Patience,
    Policy,
    PolicySet,
    RolloutClient,
    RolloutService,
    serve,
)
from strandline_sdk.rollouts.model import Case, CasesQuery, ExecuteRequest
from strandline_sdk.rollouts.server import Answer, Asked, listening
from strandline_sdk.rollouts.spool import Spool

CASES: list[Case] = [{"name": f"c{n}", "task_signature": "ask", "input": f"what is {n}?"} for n in range(5)]
HELP = Policy(
    "ask",
    "viking://user/u/memories/experiences/ask.md",
    "## Situation\nasked what something is\n\n## Approach\n- say it\n",
)
POLICIES = PolicySet.of("viking://user/u/memories/experiences", [HELP])
FAST = Patience(poll=0.01)


def cases(wanted: CasesQuery) -> Sequence[Case]:
    if wanted["domain"] == "broken":
        raise AttributeError("'dict' object has no attribute 'domain'")
    if wanted["dataset"] != "numbers":
        raise LookupError(f"no data set {wanted['dataset']}")
    return CASES


def attempt(trial: Attempt) -> Outcome:
    """Reads what fits, and passes with it."""
    found = trial.experiences.search("asked what this is")
    text = trial.experiences.read(found[0]["uri"]) if found else None
    if trial.case["name"] == "c4":
        raise RuntimeError("out of order; api_key=abcdef123456")
    said = str(text or "I do not know")
    return Outcome([{"role": "user", "content": str(trial.case["input"])}, {"role": "assistant", "content": said}],
                   {"passed": text is not None, "score": float(text is not None)})  # fmt: skip


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    return tmp_path / "spool"


@pytest.fixture
def url(spool: Path) -> Iterator[str]:
    with serve(RolloutService("numbers", cases, attempt, spool, concurrency=2)) as server:
        yield server.url


def nested(levels: int) -> dict[str, Any]:
    return {"in": nested(levels - 1)} if levels else {}


def request(case: Case, policies: PolicySet = POLICIES, **metadata: Any) -> ExecuteRequest:
    return {
        "case": case,
        "policy_set": policies.document(content=not metadata, **metadata),
        "execution_context": {"policy_snapshot_id": policies.snapshot_id, "metadata": {}},
        "options": {},
    }


def test_the_shapes_of_the_protocol(url: str) -> None:
    health = httpx.get(f"{url}/health").json()
    assert health == {
        "status": "ok",
        "service": "numbers",
        "max_rollout_concurrency": 2,
        "rollout_executions": {"running": 0, "completed": 0, "failed": 0},
    }
    client = RolloutClient(url, patience=FAST)
    page = httpx.post(
        f"{url}/v1/cases/query", json={"dataset": "numbers", "domain": "d", "split": "s", "limit": 2}
    ).json()
    assert page == {"cases": CASES[:2], "next_cursor": "2"}
    started = client.execute(request(CASES[0]))
    assert set(started) == {
        "execution_id",
        "status",
        "case_name",
        "created_at",
        "updated_at",
        "error",
        "duration_ms",
    } | ({"rollout"} if started["status"] == "completed" else set())
    done = client.wait(started["execution_id"])
    assert (done["status"], done["case_name"], done["error"]) == ("completed", "c0", None)
    rollout = done["rollout"]
    assert rollout is not None
    assert rollout["evaluation"] == {"passed": True, "score": 1.0}
    assert rollout["policy_snapshot_id"] == POLICIES.snapshot_id
    assert rollout["metadata"]["memory"] == {"context": HELP.content, "read": ["ask"], "tool_calls": 2}
    assert client.health()["rollout_executions"] == {"running": 0, "completed": 1, "failed": 0}
    client.close()


def test_a_start_that_is_repeated_is_one_rollout(url: str) -> None:
    client = RolloutClient(url, patience=FAST)
    first = client.execute(request(CASES[1]), key="run 1, c1")
    assert client.execute(request(CASES[1]), key="run 1, c1")["execution_id"] == first["execution_id"]
    assert client.execute(request(CASES[1]), key="run 2, c1")["execution_id"] != first["execution_id"]
    client.close()


def test_a_rollout_that_fails_says_why_without_its_secrets(url: str, spool: Path) -> None:
    client = RolloutClient(url, patience=FAST)
    done = client.wait(client.execute(request(CASES[4]))["execution_id"])
    assert (done["status"], done["error"]) == ("failed", "RuntimeError: out of order; <redacted>")
    assert "abcdef123456" not in "".join(path.read_text() for path in spool.glob("*/*"))
    client.close()


def test_whatever_an_attempt_does_is_the_end_of_that_execution_alone(spool: Path) -> None:
    def wild(trial: Attempt) -> Outcome:
        if trial.case["name"] == "c0":
            return Outcome([{"role": "user", "content": {"no", "JSON"}}], {"passed": True, "score": 1.0})  # type: ignore[typeddict-item]
        if trial.case["name"] == "c1":
            sys.exit("a library that ends the process")
        return attempt(trial)

    service = RolloutService("numbers", cases, wild, spool, concurrency=1)
    with serve(service) as server, RolloutClient(server.url, patience=FAST) as client:
        ends = [client.wait(client.execute(request(CASES[n]))["execution_id"]) for n in range(3)]
    assert [(one["status"], one["error"]) for one in ends] == [
        ("failed", "TypeError: Object of type set is not JSON serializable"),
        ("failed", "SystemExit: a library that ends the process"),
        ("completed", None),
    ]


def test_an_end_that_cannot_be_stored_ends_no_other(spool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    end, full = Spool.end, iter([OSError("no space left"), None])

    def once_full(self: Spool, identity: str, state: str, record: dict[str, Any]) -> None:
        if error := next(full):
            raise error
        end(self, identity, state, record)

    monkeypatch.setattr(Spool, "end", once_full)
    service = RolloutService("numbers", cases, attempt, spool, concurrency=1)
    with serve(service) as server, RolloutClient(server.url, patience=FAST) as client:
        lost = client.execute(request(CASES[0]))["execution_id"]
        assert client.wait(client.execute(request(CASES[1]))["execution_id"])["status"] == "completed"
        assert client.execution(lost)["status"] == "running"  # again after the next start


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/rollouts/execute", request({**CASES[0], "metadata": nested(450)}), 400),
        (
            "/v1/rollouts/execute",
            request(CASES[0]) | {"policy_set": {"metadata": None, "policies": [{"name": "x"}]}},
            400,
        ),
        ("/v1/cases/query", {"dataset": "numbers", "domain": "d", "split": "s", "limit": 0}, 400),
        ("/v1/cases/query", {"dataset": "other", "domain": "d", "split": "s"}, 404),
        ("/v1/rollouts/execute", {"case": {"name": "c"}}, 400),
        (
            "/v1/rollouts/execute",
            request(CASES[0]) | {"execution_context": {"policy_snapshot_id": "snap_other"}},
            400,
        ),
        ("/elsewhere", {}, 404),
    ],
)
def test_refusals(url: str, path: str, body: Any, status: int) -> None:
    assert httpx.post(f"{url}{path}", json=body).status_code == status
    assert httpx.get(f"{url}/v1/rollouts/executions/rollout_exec_0").status_code == 404


def test_a_fault_in_the_cases_is_told_at_once_to_who_asks_and_in_full_to_their_owner(
    url: str, capfd: pytest.CaptureFixture[str]
) -> None:
    told = "/v1/cases/query failed there: AttributeError: 'dict' object has no attribute 'domain'"
    with pytest.raises(ApiError, match=told) as failed:
        list(RolloutClient(url).cases("numbers", "broken", "train"))
    assert failed.value.status == 500
    assert 'raise AttributeError("' in capfd.readouterr().err


def test_a_restarted_service_ends_what_it_had_begun(spool: Path) -> None:
    stuck, release = threading.Event(), threading.Event()

    def hangs(trial: Attempt) -> Outcome:
        stuck.set()
        release.wait(10)
        raise RuntimeError("the process was killed here")

    with serve(RolloutService("numbers", cases, hangs, spool, concurrency=1)) as server:
        client = RolloutClient(server.url, patience=FAST)
        running = client.execute(request(CASES[0]), key="a")["execution_id"]
        waiting = client.execute(request(CASES[1]), key="b")["execution_id"]
        assert stuck.wait(10)
        client.close()
    with serve(RolloutService("numbers", cases, attempt, spool, concurrency=1)) as server:
        client = RolloutClient(server.url, patience=FAST)
        assert [client.wait(one)["status"] for one in (running, waiting)] == ["completed"] * 2
        assert client.execute(request(CASES[0]), key="a")["status"] == "completed"
        client.close()
    release.set()


def test_an_end_and_its_beginning_after_a_kill_between_the_two(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.accept("rollout_exec_1", {"case_name": "c"})
    (tmp_path / "completed/rollout_exec_1.json").write_text(json.dumps({"case_name": "c"}))
    (tmp_path / "running/.rollout_exec_2.json.x.part").write_text("{half")
    again = Spool(tmp_path)
    assert list(again.unfinished()) == []
    assert again.counts() == {"running": 0, "completed": 1, "failed": 0}
    assert again.accept("rollout_exec_1", {}) is False
    assert list(tmp_path.glob("*/.*")) == []


def test_what_ended_long_ago_is_forgotten_and_what_is_needed_stays(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    waits = {"case_name": "c", "request": {"execution_context": {"policy_snapshot_id": "snap_1"}}}
    spool.accept("rollout_exec_1", waits)
    for name in ("rollout_exec_2", "rollout_exec_3"):
        spool.end(name, "completed", {"case_name": "c"})
    for name in ("snap_1", "snap_2"):
        spool.keep_snapshot(name, {})
    for old in ("running/rollout_exec_1", "completed/rollout_exec_2", "snapshots/snap_1", "snapshots/snap_2"):
        os.utime(tmp_path / f"{old}.json", (1000, 1000))
    spool.forget(before=2000)
    assert [spool.find(f"rollout_exec_{n}") is not None for n in (1, 2, 3)] == [True, False, True]
    assert [spool.snapshot(name) is not None for name in ("snap_1", "snap_2")] == [True, False]


def test_policies_by_reference_are_read_once_with_the_token_which_is_kept_nowhere(
    url: str, spool: Path
) -> None:
    """# B-E7"""
    asked: list[str | None] = []

    def snapshot(question: Asked) -> Answer:
        asked.append(question.headers.get("strandline-policy-token"))
        return Answer(
            200, {"policy_snapshot_id": POLICIES.snapshot_id, "policy_set": POLICIES.document(content=True)}
        )

    client = RolloutClient(url, patience=FAST)
    with listening(snapshot) as trainer:
        sent = request(CASES[0], snapshot_url=f"{trainer.url}/v1/policy-snapshots/x")
        assert "content" not in sent["policy_set"]["policies"][0]
        first = client.wait(client.execute(sent, policy_token="token-of-one-snapshot")["execution_id"])
    second = client.wait(client.execute(sent, policy_token="token-of-one-snapshot")["execution_id"])
    assert [e["rollout"]["evaluation"]["passed"] for e in (first, second) if e["rollout"]] == [True, True]
    assert asked == ["token-of-one-snapshot"]
    assert "token-of-one-snapshot" not in "".join(path.read_text() for path in spool.glob("*/*"))
    client.close()


@pytest.mark.parametrize("told", [[], {}, {"policy_set": []}, {"result": [{}]}, {"result": 7}])
def test_what_stands_where_policies_should_is_refused(url: str, told: Any) -> None:
    with (
        listening(lambda _: Answer(200, told)) as trainer,
        RolloutClient(url, patience=FAST) as client,
        pytest.raises(ApiError, match="are no policies"),
    ):
        client.execute(request(CASES[0], snapshot_url=trainer.url))


def test_an_access_token_is_asked_for(spool: Path) -> None:
    service = RolloutService("numbers", cases, attempt, spool)
    with serve(service, access_token="open-sesame") as server:
        assert httpx.get(f"{server.url}/health").status_code == 401
        with RolloutClient(server.url, "open-sesame") as let_in:
            assert let_in.health()["status"] == "ok"
        with RolloutClient(server.url, "open-barley") as other, pytest.raises(ApiError, match="access token"):
            other.health()
    with pytest.raises(ValueError, match="access token"), serve(service, "0.0.0.0"):
        pass
