"""A run in words: accuracy per epoch, what was promoted and why not, memory, cost, the worst cases with their files.

Written so that a person, or a model that is given it, can find out why: every case that fails names the files that show
how.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from strandline_sdk.training.results import whole_lines

Document = Mapping[str, Any]
WORST = 5
_FEEDBACK_CHARS = 200
FILES = ("messages.json", "tool_calls.json", "evaluation.json", "memory_context.md", "error.json")


def read_report(run: Path) -> dict[str, Any]:
    """The report of the run in this directory. Raises FileNotFoundError, ValueError."""
    document = json.loads((run / "report.json").read_text("utf-8"))
    if not isinstance(document, dict) or not document.keys() >= {"options", "status", "epochs"}:
        raise ValueError(f"{run / 'report.json'} is no report of a run")
    return document


def lines(report: Document, run: Path) -> Iterator[str]:
    """The report as markdown, line by line: what a service has said begins no line, and steers no terminal."""
    for line in _lines(report, run):
        yield "".join(letter if letter.isprintable() else " " for letter in line)


def _lines(report: Document, run: Path) -> Iterator[str]:
    options = report["options"]
    yield f"# {options['dataset']} / {options['domain']}: {report['status']}"
    yield ""
    yield f"{options['epochs']} epochs, {options['trials']} trials, seed {options['seed']}; service {report['service']}"
    yield from summary(report)
    yield ""
    yield from _table(report)
    yield from failures(report)
    yield ""
    yield from _decisions(report)
    yield ""
    yield from _worst(report, run)
    yield from _lost(report)


def summary(report: Document) -> Iterator[str]:
    """What is served now, against what was served before; and what all of it has cost."""
    parts = [*evaluations(report), *(epoch["train"] for epoch in report["epochs"])]
    spent = {name: sum(part["cost"][name] for part in parts) for name in parts[0]["cost"]} if parts else {}
    if report.get("accuracy_delta") is not None:
        served = "a new set is served" if report["promoted"] else "what was served is served still"
        yield f"{served}: accuracy {report['accuracy_delta']:+.3f} against the baseline"
    if spent:
        tokens = spent["prompt_tokens"] + spent["completion_tokens"]
        yield f"all rollouts, training too: {tokens:.0f} tokens, {spent['cost_usd']:.4f} USD"


def failures(report: Document) -> Iterator[str]:
    """How many rollouts did not run."""
    for one in (*evaluations(report), *(epoch["train"] for epoch in report["epochs"])):
        if one["errors"]:
            counted = f"{one['errors']} of {one['rollout_count']} rollouts failed to run"
            yield f"{one['group']}: {counted}: they count as not passed, and teach nothing"


def lost(report: Document) -> list[tuple[str, float, float]]:
    """Cases that did better in the baseline than in the last evaluation: name, mean score then and now."""
    if not (found := evaluations(report)):
        return []
    before = {case["case"]: _mean(case) for case in found[0]["cases"]}
    now = ((case["case"], before.get(case["case"], 0.0), _mean(case)) for case in found[-1]["cases"])
    return sorted(one for one in now if one[2] < one[1])


def _lost(report: Document) -> Iterator[str]:
    if found := lost(report):
        yield ""
        yield "## Cases that did better in the baseline"
        yield ""
        yield from (f"- {case}: {before:.2f} then, {now:.2f} now" for case, before, now in found)


def evaluations(report: Document) -> list[Document]:
    """Baseline and evaluations of epochs, in order."""
    found = [report["baseline"], *(epoch["evaluation"] for epoch in report["epochs"])]
    return [one for one in found if one]


def _table(report: Document) -> Iterator[str]:
    found = evaluations(report)
    if not found:
        yield "Nothing was evaluated."
        return
    yield "| held-out | accuracy | vs baseline | reward | memory read | memory calls | errors | tokens | cost |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for one in found:
        yield f"| {' | '.join(_row(one, found[0]))} |"


def _row(one: Document, baseline: Document) -> Iterator[str]:
    yield "baseline" if one["epoch"] == 0 else f"epoch {one['epoch']}"
    yield f"{one['accuracy_mean']:.3f} ± {one['accuracy_std']:.3f}"
    yield f"{one['accuracy_mean'] - baseline['accuracy_mean']:+.3f}"
    yield f"{one['average_reward_mean']:.3f} ± {one['average_reward_std']:.3f}"
    yield f"{one['memory_usage']['memory_context_ratio']:.0%}"
    yield str(one["memory_usage"]["memory_tool_call_total"])
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
    files = f"{', '.join(FILES[:-1])}; of one that failed, {FILES[-1]}"
    yield f"## Worst cases of the last evaluation (files of each: {files})"
    yield ""
    base = place(run, found[-1])
    for case in failing:
        scores = ", ".join(_score(result) for result in case["results"])
        yield f"- {case['case']}: {scores}"
        for result in case["results"]:
            if not result.get("passed"):
                yield from _why(result, base)


def worst(evaluation: Document, count: int = WORST) -> list[Document]:
    """The cases that did not pass every time, the worst first."""
    failing = [c for c in evaluation["cases"] if not all(result.get("passed") for result in c["results"])]
    return sorted(failing, key=lambda case: (_mean(case), case["case"]))[:count]


def place(run: Path, evaluation: Document) -> Path:
    """The run whose files they are: of a baseline that was kept, the one that made it."""
    if evaluation["epoch"] == 0 and (run / "events.jsonl").exists():
        for event in map(json.loads, whole_lines((run / "events.jsonl").read_text("utf-8"))):
            if event["event"] == "baseline_cached":
                return run.parent / str(event.get("run", run.name))
    return run


def _mean(case: Document) -> float:
    return fmean(result.get("score", 0.0) for result in case["results"])


def _score(result: Document) -> str:
    return "failed to run" if "error" in result else f"{result['score']:.2f}"


def _why(result: Document, run: Path) -> Iterator[str]:
    told: Sequence[str] = [result["error"]] if "error" in result else result.get("feedback", [])
    said = "; ".join(told)[:_FEEDBACK_CHARS] or "no feedback"
    read = f" (had read {', '.join(result['read'])})" if result.get("read") else " (had read no experience)"
    yield f"  trial {result['trial']}: {said}{'' if 'error' in result else read}"
    yield f"  {run / result['path']}/"
