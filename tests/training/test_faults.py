"""Rollout services that break the protocol, hang, forget, or are no use at all: what fails ends itself, not the run."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from strandline_sdk.client import Client
from strandline_sdk.errors import ApiError
from strandline_sdk.rollouts import Patience, Policy, PolicySet, RolloutClient, RolloutService
from strandline_sdk.rollouts.model import Rollout
from strandline_sdk.rollouts.server import Answer, Asked, answered, listening
from strandline_sdk.training import workers
from strandline_sdk.training.assembly import CannotResume, train
from strandline_sdk.training.evaluation import OwnEvaluation
from strandline_sdk.training.executors import RemoteExecutor
from strandline_sdk.training.lock import locked
from strandline_sdk.training.progress import Progress
from strandline_sdk.training.report import lines
from strandline_sdk.training.results import RunDirectory
from strandline_sdk.training.stage import Stage
from strandline_sdk.training.trust import Trust
from strandline_sdk.training.values import (
    Finished,
    OutsideProtocol,
    Planned,
    RolloutFailed,
    RolloutLate,
    ServiceBroken,
)
from tests.training import vault
from tests.training.clock import StillClock
from tests.training.conftest import Runs

AMBER = "## Situation\nopen the amber vault\n\n- word 1: say aspen\n"
Tamper = Callable[[dict[str, Any]], Any]


def without(field: str) -> Tamper:
    return lambda told: {**told, "rollout": {k: v for k, v in told["rollout"].items() if k != field}}


def of_another(field: str, value: Any) -> Tamper:
    return lambda told: {**told, "rollout": {**told["rollout"], field: value}}


# Per case: what the service makes of its answer, and what the report says of that.
ODD: dict[str, tuple[Tamper, str]] = {
    "amber-Cleo": (without("evaluation"), "rollout.evaluation: an object is needed"),
    "basalt-Cleo": (lambda _: "no object", "execution: an object is needed"),
    "cobalt-Cleo": (
        of_another("case", {"name": "x", "task_signature": "s", "input": ""}),
        "not the case that was asked for, but 'x'",
    ),
    "dolomite-Cleo": (lambda told: {**told, "status": "exploded"}, "execution.status: one of"),
    "emerald-Cleo": (of_another("policy_snapshot_id", "snap_0"), "tried with other policies: 'snap_0'"),
    "flint-Cleo": (lambda told: {**told, "rollout": "none"}, "rollout: an object is needed"),
}


@contextmanager
def odd(spool: Path, tampered: dict[str, Tamper], refuse: frozenset[str] = frozenset()) -> Iterator[str]:
    """The vaults, with answers tampered with by case; rollouts of some cases are refused with 422."""
    service = RolloutService("vaults", vault.cases, vault.attempt, spool, concurrency=4)
    service.start()

    def respond(asked: Asked) -> Answer:
        if asked.path.endswith("/execute") and asked.body["case"]["name"] in refuse:
            return Answer(422, {"error": {"message": "cannot be done here"}})
        answer = answered(service, asked)
        done = isinstance(answer.document, dict) and answer.document.get("status") == "completed"
        change = tampered.get(answer.document["case_name"]) if done else None
        return Answer(200, change(answer.document)) if change else answer

    with listening(respond) as server:
        yield server.url
    service.stop()


def test_a_rollout_outside_the_protocol_fails_and_the_run_goes_on(
    runs: Runs, client: Client, tmp_path: Path
) -> None:
    client.put_memory("experiences/open-the-amber-vault.md", AMBER)
    with odd(tmp_path / "odd", {c: t for c, (t, _) in ODD.items()}, frozenset({"basalt-Dan"})) as runs.url:
        report, run = train(runs.setup({"epochs": 0}))
    found = report["baseline"]
    assert (found["rollout_count"], found["errors"], found["passed_count"]) == (12, 7, 1)
    assert found["accuracy_mean"] == 0.083333  # 1 of 12: what failed has not passed
    told = {case["case"]: case["results"][0].get("error", "") for case in found["cases"]}
    for case, (_, reason) in ODD.items():
        assert reason in told[case]
    assert "cannot be done here" in told["basalt-Dan"]
    events = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    assert [event["how"] for event in events if event["event"] == "rollout_failed"] == ["protocol"] * 7
    assert (
        json.loads((run / "rollouts/baseline/0000-t1-amber-Cleo/error.json").read_text())["how"] == "protocol"
    )
    text = "\n".join(lines(report, run))
    assert "7 of 12 rollouts failed to run" in text
    assert not (run.parent / "cache/baseline").exists() or not list((run.parent / "cache/baseline").iterdir())


def test_a_service_that_is_no_use_ends_the_run_which_can_be_gone_on_with(runs: Runs, tmp_path: Path) -> None:
    everything = frozenset(f"{kind}-{who}" for kind in vault.WORDS for who in ("Cleo", "Dan"))
    whole, _ = train(runs.setup({"epochs": 0}, results=tmp_path / "whole"))
    url = runs.url
    with odd(tmp_path / "odd", {}, everything) as runs.url, pytest.raises(ServiceBroken) as broken:
        train(runs.setup({"epochs": 0}, concurrency=1))
    assert "the last 10 rollouts have all failed, this one: rollout service: cannot be done here" in str(
        broken.value
    )
    assert "--resume goes on from there" in broken.value.__notes__[0]
    runs.url = url
    report, _ = train(runs.setup({"epochs": 0}, resume=True))
    assert report == whole


def test_a_service_that_is_not_there_leaves_nothing_behind(runs: Runs) -> None:
    runs.url = "http://127.0.0.1:9"
    with pytest.raises(ApiError, match=r"127\.0\.0\.1:9 \(ConnectError\): is it running there"):
        train(runs.setup({"epochs": 0}))
    assert not runs.results.exists()


def test_nobody_else_goes_on_with_a_run(runs: Runs, client: Client, tmp_path: Path) -> None:
    everything = frozenset(f"{kind}-{who}" for kind in vault.WORDS for who in ("Cleo", "Dan"))
    with odd(tmp_path / "odd", {}, everything) as runs.url, pytest.raises(ServiceBroken):
        train(runs.setup({"epochs": 0}))
    run = runs.results / "vaults" / (runs.results / "vaults/latest").read_text().strip()
    with odd(tmp_path / "odd", {}) as runs.url:
        with locked(run), pytest.raises(ValueError, match="another process is at work"):
            train(runs.setup({"epochs": 0}, resume=True))
        runs.client = client.acting_for("bob")
        with pytest.raises(CannotResume, match="begun for user ann of account acme"):
            train(runs.setup({"epochs": 0}, resume=True))


# ---- one rollout --------------------------------------------------------------------------------------------------

CASE: Any = {"name": "c1", "task_signature": "s", "input": "do it"}
POLICIES = PolicySet.of("r", [Policy("p", "r/p.md", "text")])
RUNNING = {"execution_id": "e1", "status": "running", "case_name": "c1", "error": None}
ROLLOUT = {
    "case": CASE,
    "messages": [],
    "policy_snapshot_id": POLICIES.snapshot_id,
    "evaluation": {"passed": True, "score": 1.0},
}
DONE = {**RUNNING, "status": "completed", "rollout": ROLLOUT}
HEALTH = {"service": "s", "max_rollout_concurrency": 1}
PLANNED = Planned("baseline", 0, 1, CASE, seed=7)


class Service:
    """Answers by what is asked; what was asked is in `keys` (of starts)."""

    def __init__(self, looked: Callable[["Service"], httpx.Response], *, healthy: bool = True) -> None:
        self.clock = StillClock()
        self.keys: list[str] = []
        self._looked, self._healthy = looked, healthy
        transport = httpx.MockTransport(self._answer)
        client = RolloutClient("http://s", clock=self.clock, transport=transport)
        self.executor = RemoteExecutor(client, "run", {})

    def _answer(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/health":
            return httpx.Response(200, json=HEALTH) if self._healthy else httpx.Response(503)
        if request.method == "POST":
            self.keys.append(request.headers["Idempotency-Key"])
            return httpx.Response(200, json=RUNNING)
        return self._looked(self)


def test_what_a_restarted_service_has_forgotten_is_started_again_once() -> None:
    def looked(service: Service) -> httpx.Response:
        return httpx.Response(200, json=DONE) if len(service.keys) == 2 else httpx.Response(404)

    service = Service(looked)
    assert service.executor.execute(PLANNED, POLICIES)["evaluation"]["passed"]
    assert service.clock.seconds == 62  # a minute of grace, looked at every 2 s
    assert service.keys == [service.keys[0]] * 2

    forgetful = Service(lambda _: httpx.Response(404))
    with pytest.raises(OutsideProtocol):
        forgetful.executor.execute(PLANNED, POLICIES)
    assert (len(forgetful.keys), forgetful.clock.seconds) == (2, 124)


def test_a_rollout_that_never_ends_is_late_and_asked_for_again_by_the_same_key() -> None:
    service = Service(lambda _: httpx.Response(200, json=RUNNING))
    with pytest.raises(RolloutLate, match="3600 s"):
        service.executor.execute(PLANNED, POLICIES)
    assert service.clock.seconds == 3600


def test_trouble_with_one_rollout_is_its_own_where_the_service_is_well() -> None:
    with pytest.raises(OutsideProtocol, match="HTTP status 500"):
        Service(lambda _: httpx.Response(500)).executor.execute(PLANNED, POLICIES)
    away = Service(lambda _: httpx.Response(500), healthy=False)
    with pytest.raises(ApiError):
        away.executor.execute(PLANNED, POLICIES)
    assert away.clock.seconds == 302


def test_what_is_no_json_or_no_rollout_is_outside_the_protocol() -> None:
    with pytest.raises(OutsideProtocol, match="no JSON"):
        Service(lambda _: httpx.Response(200, content=b"{")).executor.execute(PLANNED, POLICIES)
    nothing = {**RUNNING, "status": "completed"}
    with pytest.raises(OutsideProtocol, match="there is no rollout"):
        Service(lambda _: httpx.Response(200, json=nothing)).executor.execute(PLANNED, POLICIES)


def test_a_refused_token_is_everybodys_trouble() -> None:
    with pytest.raises(ApiError) as refused:
        Service(lambda _: httpx.Response(401)).executor.execute(PLANNED, POLICIES)
    assert refused.value.status == 401


class Drops(httpx.SyncByteStream):
    """An answer of which a byte comes every twenty seconds."""

    def __init__(self, clock: StillClock) -> None:
        self._clock = clock

    def __iter__(self) -> Iterator[bytes]:
        while True:
            self._clock.sleep(20)
            yield b" "


def test_an_answer_that_drips_is_not_waited_for_without_end() -> None:
    clock = StillClock()
    transport = httpx.MockTransport(lambda _: httpx.Response(200, stream=Drops(clock)))
    client = RolloutClient("http://s", clock=clock, transport=transport, patience=Patience(away=500))
    with pytest.raises(ApiError, match="not whole after 120 s"):
        client.health()
    assert clock.seconds == 140
    with pytest.raises(ApiError, match="not whole after 120 s"):
        client.wait("e1")
    assert 500 < clock.seconds - 140 <= 500 + 2 * 142


def test_an_answer_without_end_is_cut_off() -> None:
    endless = httpx.MockTransport(lambda _: httpx.Response(200, content=b" " * 65_000_000))
    with pytest.raises(ApiError, match="longer than 64000000 bytes"):
        RolloutClient("http://s", transport=endless).health()


# ---- many of them ------------------------------------------------------------------------------------------------


class Script:
    """An executor that does with each rollout what is written; `attempts` are those it was asked for."""

    def __init__(self, *ends: RolloutFailed | None) -> None:
        self._ends = list(ends)
        self.attempts: list[int] = []

    def execute(self, planned: Planned, policies: PolicySet) -> Rollout:
        self.attempts.append(planned.attempt)
        if end := self._ends.pop(0):
            raise end
        return cast(Rollout, {**ROLLOUT, "case": planned.case})


def stage(script: Script, path: Path) -> Stage:
    return Stage(script, OwnEvaluation(), None, RunDirectory(path), Progress(quiet=True), 1)


def plans(count: int) -> list[Planned]:
    return [Planned("baseline", n, 1, {**CASE, "name": f"c{n}"}, seed=7) for n in range(count)]


def run(script: Script, path: Path, count: int) -> list[Finished]:
    return list(stage(script, path).run(plans(count), POLICIES, commit=False))


def test_what_failed_is_tried_again_by_a_run_that_was_killed_until_its_stage_is_over(tmp_path: Path) -> None:
    killed = Script(RolloutFailed("broke"), RolloutLate("slow"), KeyError("killed"))  # type: ignore[arg-type]
    with pytest.raises(KeyError):
        run(killed, tmp_path, 3)
    resumed = Script(None, None, RolloutFailed("broke"))
    assert [one.error for one in run(resumed, tmp_path, 3)] == [None, None, "broke"]
    assert resumed.attempts == [1, 0, 0]  # the late one is asked for by its old name
    assert [one.error for one in run(Script(), tmp_path, 3)] == [None, None, "broke"]
    assert not (tmp_path / "rollouts/baseline/0000-t1-c0/error.json").exists()


@pytest.mark.parametrize("reason", ["a \u2028 b", "a \x85 b", "a \n b", "a \ud800 b", "ä"])
def test_whatever_a_failure_says_the_run_can_be_gone_on_with(tmp_path: Path, reason: str) -> None:
    assert [one.error for one in run(Script(RolloutFailed(reason)), tmp_path, 1)] == [reason]
    assert [one.error for one in run(Script(), tmp_path, 1)] == [reason]


def test_a_case_that_is_called_like_a_key_is_not_repeated(tmp_path: Path) -> None:
    plan = [Planned("baseline", 0, 1, {**CASE, "name": "sk-learn-regression-of-houses"}, seed=7)]
    for script in (Script(None), Script()):
        (one,) = stage(script, tmp_path).run(plan, POLICIES, commit=False)
        assert one.rollout is not None


def test_ten_in_a_row_outside_the_protocol_end_the_run() -> None:
    trust = Trust()
    trust.succeeded()
    for _ in range(9):
        trust.failed(OutsideProtocol(), "odd")
    trust.failed(RolloutFailed(), "the agent raised")  # of the protocol: the service is well
    for _ in range(9):
        trust.failed(OutsideProtocol(), "odd")
    with pytest.raises(ServiceBroken, match="last 10 rollouts have all failed, this one: odd"):
        trust.failed(OutsideProtocol(), "odd")


def test_ten_failures_before_any_success_end_the_run_and_none_after_it() -> None:
    trust, proven = Trust(), Trust()
    proven.succeeded()
    for _ in range(9):
        trust.failed(RolloutFailed(), "no model")
    with pytest.raises(ServiceBroken):
        trust.failed(RolloutFailed(), "no model")
    for _ in range(100):
        proven.failed(RolloutFailed(), "the agent raised")


def test_whoever_leaves_does_not_wait_for_a_peer_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "GRACE_SECONDS", 0.01)
    never, hanging = threading.Event(), threading.Event()

    def call(item: int) -> int:
        if item == 0:
            hanging.set()
            never.wait()
        hanging.wait()
        raise ServiceBroken("UNAVAILABLE", f"{item}")

    with pytest.raises(ServiceBroken, match="1"), workers.Workers(call, [0, 1, 2], 2) as at_work:
        list(at_work.results())
    assert not never.is_set()  # the first call hangs still
    never.set()
