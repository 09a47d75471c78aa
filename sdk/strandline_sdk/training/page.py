"""The report as one HTML page that loads nothing from elsewhere."""

import os
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from strandline_sdk.training import plots
from strandline_sdk.training.report import evaluations, worst

Document = Mapping[str, Any]
_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "table{border-collapse:collapse}td,th{padding:.3rem .7rem;border-bottom:1px solid #ddd;text-align:left}"
    "code{font-size:13px}li{margin:.3rem 0}"
)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(report: Document, run: Path, beside: Path) -> str:
    """The page; its links lead from the directory `beside`, where it is written, to the run's files."""
    options = report["options"]
    title = escape(f"{options['dataset']} / {options['domain']}")
    body = "".join(_body(report, Path(os.path.relpath(run, beside))))
    head = f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    return (
        f"<!doctype html><html lang=en><head>{head}<title>{title}</title><style>{_STYLE}</style></head>"
        f"<body><h1>{title}</h1>{body}</body></html>\n"
    )


def _body(report: Document, run: Path) -> Iterator[str]:
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
    yield "<h2>Decisions</h2><ul>"
    for epoch in report["epochs"]:
        decided = "promoted" if epoch["gate"]["promoted"] else "stays a draft"
        yield f"<li>epoch {epoch['epoch']}: <b>{decided}</b>: {escape(epoch['gate']['reason'])}</li>"
    yield "</ul>"
    if found:
        yield from _worst(found[-1], run)


def _table(found: list[Document]) -> Iterator[str]:
    yield "<table><tr><th></th><th>accuracy</th><th>reward</th><th>memory read</th><th>tokens</th><th>cost</th></tr>"
    for one in found:
        memory = one["memory_usage"]["memory_context_ratio"]
        tokens = one["cost"]["prompt_tokens"] + one["cost"]["completion_tokens"]
        accuracy = f"{one['accuracy_mean']:.3f} ± {one['accuracy_std']:.3f}"
        yield f"<tr><td>{_name(one)}</td><td>{accuracy}</td><td>{one['average_reward_mean']:.3f}</td>"
        cost = f"<td>{tokens:.0f}</td><td>{one['cost']['cost_usd']:.4f} USD</td>"
        yield f"<td>{plots.bar(memory)} {memory:.0%}</td>{cost}</tr>"
    yield "</table>"


def _worst(evaluation: Document, run: Path) -> Iterator[str]:
    yield "<h2>Worst cases of the last evaluation</h2><ul>"
    for case in worst(evaluation, count=20):
        yield f"<li>{escape(case['case'])}<ul>"
        for result in case["results"]:
            told = result["error"] if "error" in result else "; ".join(result.get("feedback", ())) or "passed"
            link = escape((run / result["path"]).as_posix(), quote=True)
            yield f'<li><a href="{link}/">trial {result["trial"]}</a>: {escape(str(told)[:400])}</li>'
        yield "</ul></li>"
    yield "</ul>"


def _name(one: Document) -> str:
    return "baseline" if one["epoch"] == 0 else f"epoch {one['epoch']}"
