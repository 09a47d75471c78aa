"""A run in words: accuracy per epoch, what was promoted and why not, memory, cost, the worst cases with their files.

Written so that a person, or a model that is given it, can find out why: every case that fails names the files that show
how.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

Document = Mapping[str, Any]
WORST = 5
_FEEDBACK_CHARS = 200
_FILES = "messages.json, tool_calls.json, evaluation.json, memory_context.md"


def read_report(run: Path) -> dict[str, Any]:
    """The report of the run in this directory. Raises FileNotFoundError, ValueError."""
    document = json.loads((run / "report.json").read_text("utf-8"))
    if not isinstance(document, dict) or "epochs" not in document:
        raise ValueError(f"{run / 'report.json'} is no report of a run")
    return document


def lines(report: Document, run: Path) -> Iterator[str]:
    """The report as markdown, line by line."""
    options = report["options"]
    yield f"# {options['dataset']} / {options['domain']}: {report['status']}"
    yield ""
    yield f"{options['epochs']} epochs, {options['trials']} trials, seed {options['seed']}; service {report['service']}"
    yield ""
    yield from _table(report)
    yield ""
    yield from _decisions(report)
    yield ""
    yield from _worst(report, run)


def evaluations(report: Document) -> list[Document]:
    """Baseline and evaluations of epochs, in order."""
    found = [report["baseline"], *(epoch["evaluation"] for epoch in report["epochs"])]
    return [one for one in found if one]


def _table(report: Document) -> Iterator[str]:
    found = evaluations(report)
    if not found:
        yield "Nothing was evaluated."
        return
    yield "| held-out | accuracy | vs baseline | reward | memory read | errors | tokens | cost |"
    yield "|---|---|---|---|---|---|---|---|"
    for one in found:
        yield f"| {' | '.join(_row(one, found[0]))} |"


def _row(one: Document, baseline: Document) -> Iterator[str]:
    yield "baseline" if one["epoch"] == 0 else f"epoch {one['epoch']}"
    yield f"{one['accuracy_mean']:.3f} ± {one['accuracy_std']:.3f}"
    yield f"{one['accuracy_mean'] - baseline['accuracy_mean']:+.3f}"
    yield f"{one['average_reward_mean']:.3f} ± {one['average_reward_std']:.3f}"
    yield f"{one['memory_usage']['memory_context_ratio']:.0%}"
    yield str(one["errors"])
    yield f"{one['cost']['prompt_tokens'] + one['cost']['completion_tokens']:.0f}"
    yield f"{one['cost']['cost_usd']:.4f} USD"


def _decisions(report: Document) -> Iterator[str]:
    for epoch in report["epochs"]:
        gate, train = epoch["gate"], epoch["train"]
        decided = "promoted" if gate["promoted"] else "stays a draft"
        yield f"- epoch {epoch['epoch']}: {decided}: {gate['reason']}" + _numbers(gate)
        passed = f"{train['passed_count']} of {train['rollout_count']} training rollouts passed"
        yield f"  {passed}, {train['learnt_from']} taught something; {train['policies_after']} experiences in the draft"
        for written in epoch["published"]:
            yield f"  {written['change']}: experiences/{written['name']}.md"


def _numbers(gate: Document) -> str:
    if not gate["cases"]:
        return ""
    counted = f"{gate['better']} better and {gate['worse']} worse of {gate['cases']} cases"
    return f" ({counted}; 95 % of draws from {gate['low']:+.3f} to {gate['high']:+.3f})"


def _worst(report: Document, run: Path) -> Iterator[str]:
    found = evaluations(report)
    if not found:
        return
    failing = worst(found[-1])
    if not failing:
        yield "Every case of the last evaluation passed every time."
        return
    yield f"## Worst cases of the last evaluation (files of each: {_FILES})"
    yield ""
    for case in failing:
        scores = ", ".join(_score(result) for result in case["results"])
        yield f"- {case['case']}: {scores}"
        for result in case["results"]:
            if not result.get("passed"):
                yield from _why(result, run)


def worst(evaluation: Document, count: int = WORST) -> list[Document]:
    """The cases that did not pass every time, the worst first."""

    def mean(case: Document) -> float:
        return fmean(result.get("score", 0.0) for result in case["results"])

    failing = [c for c in evaluation["cases"] if not all(result.get("passed") for result in c["results"])]
    return sorted(failing, key=lambda case: (mean(case), case["case"]))[:count]


def _score(result: Document) -> str:
    return "failed to run" if "error" in result else f"{result['score']:.2f}"


def _why(result: Document, run: Path) -> Iterator[str]:
    told: Sequence[str] = [result["error"]] if "error" in result else result.get("feedback", [])
    said = "; ".join(told)[:_FEEDBACK_CHARS] or "no feedback"
    yield f"  trial {result['trial']}: {said}"
    yield f"  {run / result['path']}/"
