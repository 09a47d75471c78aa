"""The whole loop: the API in this process, the rollout service on loopback.  # B-E6 B-E7 B-E8"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from strandline_sdk.client import Client
from strandline_sdk.rollouts import Attempt, Outcome, RolloutService, serve
from strandline_sdk.rollouts.server import Answer, Asked, listening
from strandline_sdk.training.assembly import CannotResume, train
from strandline_sdk.training.hooks import Silent
from strandline_sdk.training.values import Finished
from tests.handlers.service import ROOT_KEY, Service
from tests.training import vault
from tests.training.conftest import Runs

ROLLOUT_FILES = {
    "memory_context.md",
    "messages.json",
    "tool_calls.json",
    "evaluation.json",
    "commit_result.json",
    "memory_diff.json",
}


def accuracies(report: Any) -> list[float]:
    """Baseline and epochs, on held-out cases."""
    return [
        report["baseline"]["accuracy_mean"],
        *(e["evaluation"]["accuracy_mean"] for e in report["epochs"]),
    ]


@pytest.mark.slow
def test_accuracy_rises_over_epochs_on_held_out_cases(runs: Runs, client: Client) -> None:
    report, run = train(runs.setup({"epochs": 3}))
    assert accuracies(report) == [0.0, 0.333333, 0.666667, 1.0]
    assert [epoch["gate"]["promoted"] for epoch in report["epochs"]] == [True] * 3
    assert report["accuracy_delta"] == 1.0
    written = client.memory("experiences/open-the-flint-vault.md")["content"]
    assert "- word 1: say fir\n- word 2: say fig\n- word 3: say fern\n" in written
    assert (run.parent / "latest").read_text() == f"{run.name}\n"
    trained = json.loads((run / "rollouts_index.json").read_text())
    assert len(trained) == 12 * 7
    places = [run / row["path"] for row in trained if row["group"] == "epoch-2-train"]
    assert all({path.name for path in place.iterdir()} == ROLLOUT_FILES for place in places)


def test_sessions_of_training_are_committed_and_remembered_by_nobody(runs: Runs, client: Client) -> None:
    report, run = train(runs.setup({"epochs": 1, "eval_split": "none"}))
    sessions = [session["session_id"] for session in client.sessions()]
    assert len(sessions) == 12
    assert all(client.session(session_id)["message_count"] == 0 for session_id in sessions)
    (row, *_) = json.loads((run / "rollouts_index.json").read_text())
    log = list(client.messages(row["session_id"]))
    assert log[0]["metadata"]["case"]["name"] == "amber-Ann"
    assert log[-1]["metadata"]["evaluation"]["criteria"] == [
        {"name": "word 1", "passed": False, "feedback": "say aspen"}
    ]
    assert list(client.memories()) == []
    assert report["epochs"][0]["gate"]["reason"] == "there is no evaluation on held-out cases"


def test_no_epochs_are_the_baseline_only_and_it_is_cached(runs: Runs) -> None:
    report, _ = train(runs.setup({"epochs": 0, "trials": 2}))
    assert accuracies(report) == [0.0]
    assert report["baseline"]["trial_count"] == 2
    again, second = train(runs.setup({"epochs": 0, "trials": 2}))
    assert again == report
    assert not (second / "rollouts").exists()
    other, third = train(runs.setup({"epochs": 0, "trials": 1}))
    assert other["baseline"]["trial_count"] == 1
    assert (third / "rollouts").exists()


@pytest.mark.slow
def test_a_poisoned_experience_is_not_promoted(runs: Runs, client: Client) -> None:
    train(runs.setup({"epochs": 1}))
    before = {m["path"]: m["sha256"] for m in client.memories("experiences/")}
    report, _ = train(runs.setup({"epochs": 2, "options": {"poison": True}}))
    assert accuracies(report) == [0.333333, 0.0, 0.0]
    assert [epoch["gate"]["promoted"] for epoch in report["epochs"]] == [False, False]
    assert report["epochs"][0]["gate"]["reason"].startswith("not better on held-out cases: -")
    assert {m["path"]: m["sha256"] for m in client.memories("experiences/")} == before
    assert (report["promoted"], report["accuracy_delta"]) == (False, 0.0)


class Kill(BaseException):
    """The process is gone."""


class Killer(Silent):
    """Kills the run after so many rollouts."""

    def __init__(self, after: int) -> None:
        self.left = after

    def rollout_ended(self, finished: Finished) -> None:
        self.left -= 1
        if self.left < 0:
            raise Kill


@pytest.mark.slow
@pytest.mark.parametrize("after", [20, 45])
def test_a_killed_run_goes_on_without_repeating_a_rollout(
    runs: Runs, client: Client, tmp_path: Path, after: int
) -> None:
    whole, _ = train(runs.setup({"epochs": 2}, results=tmp_path / "whole", concurrency=1, commit=False))
    for path in [m["path"] for m in client.memories("experiences/")]:
        client.delete_memory(path)
    tried: list[str] = []

    def counted(trial: Attempt) -> Outcome:
        tried.append(f"{trial.case['name']} {trial.options['seed']}")
        return vault.attempt(trial)

    with serve(RolloutService("vaults", vault.cases, counted, tmp_path / "spool2", concurrency=2)) as server:
        runs.url = server.url
        with pytest.raises(Kill):
            train(runs.setup({"epochs": 2}, hooks=Killer(after)))
        with (runs.results / "vaults").joinpath("latest").open() as latest:
            run = runs.results / "vaults" / latest.read().strip()
        with (run / "events.jsonl").open("a") as events:
            events.write('{"event": "rollout_fin')  # the kill came in the middle of a line
        report, same = train(runs.setup({"epochs": 2}, resume=True))
    assert same == run
    assert report == whole
    assert len(tried) == 12 * 5
    with pytest.raises(CannotResume, match="complete"):
        train(runs.setup({"epochs": 2}, resume=True))
    with pytest.raises(CannotResume, match="epochs: 2 there"):
        train(runs.setup({"epochs": 3}, resume=True))


@pytest.mark.slow
def test_two_runs_with_one_seed_report_the_same_byte_for_byte(
    runs: Runs, client: Client, tmp_path: Path
) -> None:
    texts = []
    for name, jobs in (("one", 1), ("two", 4)):
        for path in [m["path"] for m in client.memories("experiences/")]:
            client.delete_memory(path)
        setup = runs.setup(
            {"epochs": 2, "trials": 2}, results=tmp_path / name, concurrency=jobs, commit=False
        )
        _, run = train(setup)
        texts.append((run / "report.json").read_bytes())
    assert texts[0] == texts[1]


def test_rollouts_that_fail_are_counted_and_the_draft_is_not_promoted_by_them(
    runs: Runs, tmp_path: Path
) -> None:
    def breaks(trial: Attempt) -> Outcome:
        if trial.case["name"].endswith("Dan") and trial.experiences.search("open vault"):
            raise RuntimeError("the simulator broke down")
        return vault.attempt(trial)

    with serve(RolloutService("vaults", vault.cases, breaks, tmp_path / "spool2")) as server:
        runs.url = server.url
        report, run = train(runs.setup({"epochs": 1}))
    (epoch,) = report["epochs"]
    assert (epoch["evaluation"]["errors"], epoch["evaluation"]["rollout_count"]) == (6, 12)
    assert not epoch["gate"]["promoted"]
    assert "only 6 of 12 cases were evaluated" in epoch["gate"]["reason"]
    events = map(json.loads, (run / "events.jsonl").read_text().splitlines())
    failed = [event for event in events if event["event"] == "rollout_failed"]
    assert failed[0]["error"] == "RuntimeError: the simulator broke down"


def test_a_rollout_that_cannot_be_committed_ends_nothing_but_itself(runs: Runs, tmp_path: Path) -> None:
    def odd(trial: Attempt) -> Outcome:
        made = vault.attempt(trial)
        role = "robot" if trial.case["name"] == "amber-Ann" else "assistant"
        return Outcome([*made.messages, {"role": role, "content": "x"}], made.evaluation)  # type: ignore[typeddict-item]

    with serve(RolloutService("vaults", vault.cases, odd, tmp_path / "spool2")) as server:
        runs.url = server.url
        report, run = train(runs.setup({"epochs": 1, "eval_split": "none"}))
    assert (report["status"], report["epochs"][0]["train"]["learnt_from"]) == ("completed", 12)
    results = [json.loads(path.read_text()) for path in sorted(run.glob("rollouts/*/*/commit_result.json"))]
    assert [result["status"] for result in results] == ["failed", *["completed"] * 11]
    assert "role" in results[0]["error"]


def test_a_dry_run_promotes_nothing_and_says_what_it_would(runs: Runs, client: Client) -> None:
    report, _ = train(runs.setup({"epochs": 1, "dry_run": True}))
    assert report["epochs"][0]["gate"]["promoted"]
    assert {line["change"] for line in report["epochs"][0]["published"]} == {"dry run"}
    assert list(client.memories("experiences/")) == []


def test_no_credential_in_any_file_of_a_run_or_of_the_service(runs: Runs, tmp_path: Path) -> None:
    def leaks(trial: Attempt) -> Outcome:
        made = vault.attempt(trial)
        leak = {
            "role": "assistant",
            "content": f"the key is {ROOT_KEY}, Authorization: Bearer abcdef0123456789",
        }
        return Outcome([*made.messages, leak], made.evaluation, made.usage)  # type: ignore[list-item]

    with serve(
        RolloutService("vaults", vault.cases, leaks, tmp_path / "spool2"), access_token="the-access-token"
    ) as server:
        runs.url = server.url
        _, run = train(runs.setup({"epochs": 1}, access_token="the-access-token"))
    texts = [path.read_text() for path in run.rglob("*") if path.is_file()]
    spooled = [path.read_text() for path in (tmp_path / "spool2").rglob("*.json")]
    assert len(texts) > 100
    assert len(spooled) > 30
    for secret in (ROOT_KEY, "abcdef0123456789", "the-access-token"):
        assert not any(secret in text for text in texts)
    for secret in ("abcdef0123456789", "the-access-token"):
        assert not any(secret in text for text in spooled)


@pytest.mark.slow
def test_the_service_learns_and_its_draft_is_served_once_it_is_proven(runs: Runs, client: Client) -> None:
    """Rollouts are learnt from by users of the run's own; the one who is served sees what was promoted, as text."""
    report, run = train(runs.setup({"epochs": 2, "learn": "service"}))
    assert accuracies(report) == [0.0, 0.333333, 0.666667]
    assert [epoch["gate"]["promoted"] for epoch in report["epochs"]] == [True, True]
    served = {memory["path"]: memory for memory in client.memories("experiences/")}
    assert len(served) == 6
    (row, *_) = json.loads((run / "rollouts_index.json").read_text())[12:]
    committed = json.loads((run / row["path"] / "commit_result.json").read_text())
    assert (committed["status"], committed["learn"]["status"]) == ("completed", "completed")
    learnt = json.loads((run / row["path"] / "memory_diff.json").read_text())
    assert "experiences: 1" in learnt["taken"]
    changed = [each for kind in ("adds", "updates") for each in learnt["diff"]["operations"][kind]]
    (experience,) = [change for change in changed if change["memory_type"] == "experiences"]
    assert "say aspen" in experience["after"]
    assert list(client.sessions()) == []


@pytest.mark.slow
def test_the_service_learns_the_same_in_whatever_order_rollouts_end(
    runs: Runs, client: Client, tmp_path: Path
) -> None:
    reports = []
    for name, jobs in (("one", 1), ("two", 4)):
        runs.client = client.acting_for(name)
        _, where = train(
            runs.setup(
                {"epochs": 1, "train_trials": 2, "learn": "service"},
                results=tmp_path / name,
                concurrency=jobs,
            )
        )
        reports.append((where / "report.json").read_bytes())
    assert reports[0] == reports[1]


class Cut(httpx.BaseTransport):
    """The process is killed as it looks for the n-th time at a task: committed, learnt or not, and nothing noted."""

    def __init__(self, inner: httpx.BaseTransport, after: int) -> None:
        self.inner, self.left = inner, after

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if "/tasks/" in request.url.path:
            self.left -= 1
            if self.left <= 0:
                raise Kill
        return self.inner.handle_request(request)


@pytest.mark.slow
def test_a_run_that_is_killed_while_the_service_learns_comes_to_the_same(
    runs: Runs, client: Client, tmp_path: Path
) -> None:
    """However it was killed, nothing is committed or learnt twice, and the report is that of an undisturbed run."""
    wanted = {"epochs": 1, "learn": "service", "train_index": (0, 6), "eval_index": (0,)}
    ends = []
    for name, kills in (("whole", ()), ("killed", (1, 2, 4))):
        place: Any = {"results": tmp_path / name, "concurrency": 1}
        for after in kills:
            with pytest.raises(Kill):
                runs.client = Client(
                    "http://service", ROOT_KEY, account="acme", user=name,
                    transport=Cut(client.transport, after),  # type: ignore[arg-type]
                )  # fmt: skip
                train(runs.setup(wanted, resume=True, **place))
        runs.client = client.acting_for(name)
        _, run = train(runs.setup(wanted, resume=True, **place))
        named = json.loads((run / "events.jsonl").read_text().partition("\n")[0])["run"]
        draft = client.acting_for(f"train-{named}-1")
        known = ((memory["path"], memory["version"]) for memory in draft.memories())
        learnt = {path.partition("-train-")[0]: version for path, version in known}
        found = [draft.session(one["session_id"]) for one in draft.sessions()]
        counts = [(one["commit_count"], one["archives"]["completed"]) for one in found]
        ends.append(((run / "report.json").read_bytes(), counts, learnt))
    assert ends[0] == ends[1]
    assert ends[0][1] == [(1, 1)] * 2


def test_a_service_elsewhere_reads_a_snapshot_with_a_key_that_ends(
    runs: Runs, client: Client, service: Service, tmp_path: Path
) -> None:
    """The snapshot is a user of its own; its key does nothing but read it, and is revoked with the run.  # B-E7"""
    service.root.post("/admin/accounts", {"account_id": "acme", "admin_user_id": "ada"})
    client.put_memory(
        "experiences/open-the-amber-vault.md", "## Situation\nopen the amber vault\n\n- word 1: say aspen\n"
    )
    with passing_on(client) as api:
        runs.client = Client(api, ROOT_KEY, account="acme", user="ann", transport=client.transport)
        report, run = train(runs.setup({"epochs": 0}, policies="key", concurrency=1))
    assert report["baseline"]["passed_count"] == 2
    named = json.loads((run / "events.jsonl").read_text().partition("\n")[0])["run"]
    held = client.acting_for(f"snapshot-{named}-{report['start_snapshot_id'].removeprefix('snap_')}")
    assert [memory["path"] for memory in held.memories()] == ["experiences/open-the-amber-vault.md"]
    assert service.world.rows("KEY") and all("snapshot-" not in str(row) for row in service.world.rows("KEY"))
    spooled = [path.read_text() for path in (tmp_path / "spool").rglob("*.json")]
    assert not any("sl_" in text for text in (*spooled, *(p.read_text() for p in run.rglob("*.json*"))))


@contextmanager
def passing_on(client: Client) -> Iterator[str]:
    """The service in this process on a port of loopback: a rollout service reads there."""
    assert client.transport

    def respond(asked: Asked) -> Answer:
        body = b"" if asked.body is None else json.dumps(asked.body).encode()
        request = httpx.Request(
            asked.method, f"http://service{asked.path}", headers=asked.headers, content=body
        )
        answer = client.transport.handle_request(request)  # type: ignore[union-attr]
        return Answer(answer.status_code, json.loads(answer.read()))

    with listening(respond) as server:
        yield server.url
