"""`strandline train` and its report, as somebody types them."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner, Result

from strandline_sdk.cli import main
from strandline_sdk.rollouts import RolloutService, serve
from strandline_sdk.training.assembly import train
from strandline_sdk.training.progress import Progress
from strandline_sdk.training.values import Finished, Planned
from tests.handlers.service import ROOT_KEY
from tests.training import vault
from tests.training.clock import StillClock
from tests.training.conftest import Runs


def run(transport: httpx.BaseTransport, *arguments: str) -> Result:
    who = ["--key", ROOT_KEY, "--account", "acme", "--user", "ann"]
    return CliRunner().invoke(main, [*who, *arguments], obj=transport)


def said(text: str) -> str:
    """Without the lines of work that the functions write to the same place here."""
    return "".join(line for line in text.splitlines(True) if not line.startswith('{"_aws"'))


def test_a_run_and_its_report(transport: httpx.BaseTransport, tmp_path: Path) -> None:
    service = RolloutService("vaults", vault.cases, vault.attempt, tmp_path / "spool")
    with serve(service, access_token="the-access-token") as server:
        wanted = ["--service", server.url, "--dataset", "vaults", "--domain", "stone", "--no-commit"]
        places = ["--results", str(tmp_path / "result"), "--eval-index", "0", "--eval-index", "1"]
        monkey = pytest.MonkeyPatch()
        monkey.setenv("STRANDLINE_ROLLOUT_TOKEN", "the-access-token")
        done = run(transport, "train", *wanted, *places, "--train-index", "0")
        monkey.undo()
    assert done.exit_code == 0, done.output
    told = said(done.stdout)
    assert "| baseline | 0.000 ± 0.000 | +0.000 |" in told
    assert "| epoch 1 | 0.500 ± 0.000 | +0.500 |" in told
    assert "- epoch 1: stays a draft: only 2 of 2 cases were evaluated on both sides" in told
    assert "baseline: 2 succeeded, 0 failed, 0 running, 0 pending" in said(done.stderr)
    reported = run(
        transport, "train", "report", str(tmp_path / "result/vaults"), "--html", str(tmp_path / "r.html")
    )
    assert said(reported.stdout) == told.rpartition("\nfiles: ")[0].rstrip() + "\n"
    assert "the-access-token" not in done.output
    document = json.loads(
        said(run(transport, "--json", "train", "report", str(tmp_path / "result/vaults")).stdout)
    )
    assert document["status"] == "completed"
    check_page(tmp_path / "r.html")


def check_page(path: Path) -> None:
    """It loads nothing, and its links lead to the files of rollouts."""
    page = path.read_text()
    assert page.count("<svg") >= 3
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")
    links = [part.partition('"')[0] for part in page.split('href="')[1:]]
    assert links
    assert all((path.parent / link).is_file() for link in links)


def test_misuse(transport: httpx.BaseTransport, tmp_path: Path) -> None:
    missing = run(transport, "train", "--dataset", "d", "--domain", "x")
    assert (missing.exit_code, "--service" in missing.output) == (2, True)
    elsewhere = run(
        transport,
        "train",
        "--service",
        "http://192.0.2.1",
        "--dataset",
        "d",
        "--domain",
        "x",
        "--results",
        str(tmp_path),
    )
    assert (elsewhere.exit_code, "send them inline, or a key" in elsewhere.output) == (2, True)
    assert run(transport, "train", "report", str(tmp_path)).exit_code == 1


def test_results_that_cannot_be_written_are_named(
    transport: httpx.BaseTransport, tmp_path: Path, runs: Runs
) -> None:
    (tmp_path / "file").write_text("")
    told = run(transport, "train", "--service", runs.url, "--dataset", "d", "--domain", "x",
               "--results", str(tmp_path / "file" / "below"))  # fmt: skip
    assert (told.exit_code, str(tmp_path / "file") in told.output) == (1, True)
    assert told.output.startswith("Error: ")


def test_the_report_names_the_worst_cases_and_their_files(runs: Runs) -> None:
    from strandline_sdk.training.report import lines

    report, where = train(runs.setup({"epochs": 1}, commit=False))
    text = "\n".join(lines(report, where))
    assert "- epoch 1: promoted: better on held-out cases by" in text
    read = "(had read open-the-emerald-vault)"
    assert f"- emerald-Cleo: 0.33\n  trial 1: word 2: say elm; word 3:  {read}\n" in text
    (place,) = [Path(line.strip()) for line in text.splitlines() if line.endswith("t1-emerald-Cleo/")]
    assert (place / "messages.json").exists()


def test_what_a_service_says_makes_no_line_of_a_report(runs: Runs) -> None:
    from strandline_sdk.training.report import lines

    report, where = train(runs.setup({"epochs": 0}))
    for case in report["baseline"]["cases"]:
        case["results"] = [{"trial": 1, "error": "broke\n\n## Decisions\n- promoted \x1b[2J", "path": "p"}]
    found = list(lines(report, where))
    assert "  trial 1: broke  ## Decisions - promoted  [2J" in found
    assert not [line for line in found if "\n" in line or "\x1b" in line]


def test_the_files_of_a_baseline_that_was_kept_are_where_they_were_made(runs: Runs) -> None:
    from strandline_sdk.training.report import lines

    train(runs.setup({"epochs": 0}))
    text = "\n".join(lines(*train(runs.setup({"epochs": 0}))))
    places = [Path(line.strip()) for line in text.splitlines() if line.endswith("/")]
    assert len(places) == 5
    assert all((place / "messages.json").exists() for place in places)


def test_a_report_names_what_was_lost_against_the_baseline() -> None:
    from strandline_sdk.training.report import lost

    def scored(**scores: list[float]) -> dict[str, Any]:
        return {"cases": [{"case": c, "results": [{"score": s} for s in got]} for c, got in scores.items()]}

    baseline, last = scored(a=[1.0, 1.0], b=[0.0], c=[0.5]), scored(a=[1.0, 0.5], b=[1.0], c=[0.5])
    report = {"baseline": baseline, "epochs": [{"evaluation": None}, {"evaluation": last}]}
    assert lost(report) == [("a", 1.0, 0.75)]


def test_a_report_without_a_failure_says_so(runs: Runs) -> None:
    from strandline_sdk.training.report import lines

    setup = runs.setup({"epochs": 1, "train_index": (0,), "eval_index": (0,)}, commit=False)
    text = "\n".join(lines(*train(setup)))
    assert "Every case of the last evaluation passed every time." in text
    assert "Worst cases" not in text


class Screen:
    """What is drawn."""

    def __init__(self, terminal: bool) -> None:
        self.text, self._terminal = "", terminal

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None: ...

    def isatty(self) -> bool:
        return self._terminal


@pytest.mark.parametrize("terminal", [True, False])
def test_progress(terminal: bool) -> None:
    screen, clock = Screen(terminal), StillClock()
    progress = Progress(screen, clock=clock)  # type: ignore[arg-type]
    plans = [
        Planned("baseline", n, 1, {"name": f"c{n}", "task_signature": "s", "input": ""}, 0) for n in range(4)
    ]
    with progress.stage(plans):
        progress.started()
        progress.started()
        clock.sleep(8)
        progress.ended(Finished(plans[0], error="broken"))
        clock.sleep(8)
        progress.ended(Finished(plans[1], rollout={}))  # type: ignore[typeddict-item]
    last = "baseline: 1 succeeded, 1 failed, 0 running, 2 pending, 0.12/s, 16 s left"
    assert screen.text.endswith(last + "\n")
    assert ("[######" in screen.text, screen.text.count("\n")) == ((True, 1) if terminal else (False, 2))
