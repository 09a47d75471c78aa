"""The report as one HTML page that loads nothing from elsewhere."""

import os
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from strandline_sdk.training import plots
from strandline_sdk.training.report import FILES, evaluations, failures, lost, place, summary, worst

Document = Mapping[str, Any]
_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "table{border-collapse:collapse}td,th{padding:.3rem .7rem;border-bottom:1px solid #ddd;text-align:left}"
    "code{font-size:13px}li{margin:.3rem 0}td.n{text-align:right;white-space:nowrap}table{font-size:13px}"
)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(report: Document, run: Path, beside: Path) -> str:
    """The page; its links lead from the directory `beside`, where it is written, to the run's files."""
    options = report["options"]
    title = escape(f"{options['dataset']} / {options['domain']}")
    body = "".join(_body(report, run, beside))
    head = f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    return (
        f"<!doctype html><html lang=en><head>{head}<title>{title}</title><style>{_STYLE}</style></head>"
        f"<body><h1>{title}</h1>{body}</body></html>\n"
    )


def _body(report: Document, run: Path, beside: Path) -> Iterator[str]:
    options = report["options"]
    asked = f"{options['epochs']} epochs, {options['trials']} trials, seed {options['seed']}"
    yield f"<p>{escape(report['status'])}; {asked}; service {escape(report['service'])}</p>"
    yield "".join(f"<p>{escape(line)}</p>" for line in (*summary(report), *failures(report)))
    found = evaluations(report)
    promoted = {epoch["epoch"] for epoch in report["epochs"] if epoch["gate"]["promoted"]}
    if found:
        dots = [
            plots.Dot(_name(e), e["accuracy_mean"], e["accuracy_std"], e["epoch"] in promoted | {0})
            for e in found
        ]
        yield "<h2>Accuracy on held-out cases</h2><p>Filled: served. Hollow: stayed a draft.</p>"
        yield plots.line_plot("Accuracy on held-out cases", dots)
        yield from _table(found)
    yield from _decisions(report)
    if found:
        yield from _lost(report)
        yield from _worst(found[-1], place(run, found[-1]), beside)


_COLUMNS = (
    "accuracy",
    "vs baseline",
    "reward",
    "memory read",
    "memory calls",
    "failed to run",
    "tokens",
    "cost",
)


def _table(found: list[Document]) -> Iterator[str]:
    yield f"<table><tr><th></th>{''.join(f'<th>{name}</th>' for name in _COLUMNS)}</tr>"
    for one in found:
        cells = "".join(f"<td class=n>{cell}</td>" for cell in _cells(one, found[0]))
        yield f"<tr><td>{_name(one)}</td>{cells}</tr>"
    yield "</table>"


def _cells(one: Document, baseline: Document) -> Iterator[str]:
    memory = one["memory_usage"]["memory_context_ratio"]
    yield f"{one['accuracy_mean']:.3f} ± {one['accuracy_std']:.3f}"
    yield f"{one['accuracy_mean'] - baseline['accuracy_mean']:+.3f}"
    yield f"{one['average_reward_mean']:.3f} ± {one['average_reward_std']:.3f}"
    yield f"{plots.bar(memory)} {memory:.0%}"
    yield str(one["memory_usage"]["memory_tool_call_total"])
    yield f"{one['errors']} of {one['rollout_count']}"
    yield f"{one['cost']['prompt_tokens'] + one['cost']['completion_tokens']:.0f}"
    yield f"{one['cost']['cost_usd']:.4f} USD"


def _decisions(report: Document) -> Iterator[str]:
    yield "<h2>Decisions</h2><ul>"
    for epoch in report["epochs"]:
        gate, train = epoch["gate"], epoch["train"]
        decided = "promoted" if gate["promoted"] else "stays a draft"
        passed = f"{train['passed_count']} of {train['rollout_count']} training rollouts passed"
        yield f"<li>epoch {epoch['epoch']}: <b>{decided}</b>: {escape(gate['reason'])}; {passed}, "
        yield f"{train['learnt_from']} taught something<ul>"
        for written in epoch["published"]:
            yield f"<li>{escape(written['change'])}: <code>experiences/{escape(written['name'])}.md</code></li>"
        yield "</ul></li>"
    yield "</ul>"


def _lost(report: Document) -> Iterator[str]:
    if found := lost(report):
        rows = (f"<li>{escape(case)}: {before:.2f} then, {now:.2f} now</li>" for case, before, now in found)
        yield f"<h2>Cases that did better in the baseline</h2><ul>{''.join(rows)}</ul>"


def _worst(evaluation: Document, run: Path, beside: Path) -> Iterator[str]:
    failing = worst(evaluation, count=20)
    if not failing:
        yield "<p>Every case of the last evaluation passed every time.</p>"
        return
    yield "<h2>Worst cases of the last evaluation</h2><ul>"
    for case in failing:
        rows = "".join(f"<li>{_trial(result, run, beside)}</li>" for result in case["results"])
        yield f"<li>{escape(case['case'])}<ul>{rows}</ul></li>"
    yield "</ul>"


def _trial(result: Document, run: Path, beside: Path) -> str:
    """How a trial went, what it had read, and its files."""
    told = result["error"] if "error" in result else "; ".join(result.get("feedback", ())) or "no feedback"
    said = "passed" if result.get("passed") else escape(str(told)[:400])
    read = f"; had read <code>{escape(', '.join(result['read']))}</code>" if result.get("read") else ""
    files = [run / result["path"] / name for name in FILES if (run / result["path"] / name).exists()]
    links = (
        f'<a href="{escape(quote(Path(os.path.relpath(file, beside)).as_posix()))}">{file.name}</a>'
        for file in files
    )
    score = f", {result['score']:.2f}" if "score" in result else ""
    return f"trial {result['trial']}{score}: {said}{read}<br>{' '.join(links)}"


def _name(one: Document) -> str:
    return "baseline" if one["epoch"] == 0 else f"epoch {one['epoch']}"
