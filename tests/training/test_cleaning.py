"""What a run leaves in the service is deleted, and nothing else."""

import json
from pathlib import Path

import httpx
import pytest

from strandline_sdk.client import Client
from strandline_sdk.training.assembly import CannotResume, train
from strandline_sdk.training.lock import locked
from strandline_sdk.training.remains import NotCleanable, Remains
from strandline_sdk.training.results import RunDirectory
from tests.handlers.service import Service
from tests.training.conftest import Runs
from tests.training.test_cli_train import run as typed
from tests.training.test_cli_train import said
from tests.training.test_faults import odd

ONE = {"epochs": 1, "train_index": (0,), "eval_index": (0, 1, 2, 3, 4)}


def test_sessions_and_drafts_go_and_what_is_served_stays(
    runs: Runs, client: Client, service: Service, transport: httpx.BaseTransport, tmp_path: Path
) -> None:
    client.append("own", {"role": "user", "content": "I live in Lisbon."})
    client.put_memory("experiences/own.md", "## Situation\n\nmine\n")
    _, local = train(runs.setup(ONE, results=tmp_path / "local"))
    _, learnt = train(runs.setup({**ONE, "learn": "service"}, results=tmp_path / "learnt"))
    served = {memory["path"]: memory["sha256"] for memory in client.memories()}
    draft = client.acting_for(f"train-{named(learnt)}-1")
    assert list(draft.memories())

    first = typed(transport, "train", "clean", str(tmp_path / "learnt/vaults"))
    assert f"there is: user train-{named(learnt)}-1 and everything of it" in said(first.stdout)
    assert list(draft.memories())  # nothing is deleted unless it is asked for
    gone = typed(transport, "train", "clean", str(local), "--delete")
    assert "deleted: 1 sessions" in said(gone.stdout)
    assert [session["session_id"] for session in client.sessions()] == ["own"]

    begun = typed(transport, "train", "clean", str(learnt), "--delete")
    assert (begun.exit_code, "erased: user" in said(begun.stdout)) == (0, True), begun.output
    for _ in range(2):  # an erasure goes through everything twice
        service.pump()
        service.sweep(3_600)
    service.pump()
    again = typed(transport, "--json", "train", "clean", str(learnt), "--timeout", "1")
    (row,) = json.loads(said(again.stdout))["users"]
    assert (row["status"], row["receipt"]["user_id"]) == ("completed", f"train-{named(learnt)}-1")
    assert row["receipt"]["objects"]["memories"] > 0
    assert {memory["path"]: memory["sha256"] for memory in client.memories()} == served


def named(path: Path) -> str:
    return str(json.loads((path / "events.jsonl").read_text().partition("\n")[0])["run"])


def test_a_run_is_cleaned_by_whom_it_was_for_while_nobody_works_on_it(
    runs: Runs, client: Client, transport: httpx.BaseTransport, tmp_path: Path
) -> None:
    with odd(tmp_path / "odd", {}) as runs.url:
        _, path = train(runs.setup({"epochs": 0, "eval_index": (0,)}))
    with pytest.raises(NotCleanable, match="another user: strandline --account acme --user ann train clean"):
        Remains(RunDirectory(path), client.acting_for("bob"))
    with locked(path):
        busy = typed(transport, "train", "clean", str(path))
    assert (busy.exit_code, "another process is at work" in busy.output) == (2, True)
    assert "the run has left nothing" in said(typed(transport, "train", "clean", str(path)).stdout)


def test_a_run_that_was_cleaned_before_it_was_over_is_not_gone_on_with(
    runs: Runs, client: Client, tmp_path: Path
) -> None:
    _, path = train(runs.setup({"epochs": 0, "eval_index": (0,)}))
    events = (path / "events.jsonl").read_text().splitlines(True)
    (path / "events.jsonl").write_text("".join(events[:-1]))  # killed before its end
    report = json.loads((path / "report.json").read_text())
    (path / "report.json").write_text(json.dumps({**report, "status": "running"}))
    Remains(RunDirectory(path), client).delete()
    with pytest.raises(CannotResume, match="cleaned up"):
        train(runs.setup({"epochs": 0, "eval_index": (0,)}, resume=True))
