"""`strandline bench`."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import click

from strandline_sdk.bench.chat import ChatModel
from strandline_sdk.bench.judge import answered
from strandline_sdk.bench.locomo import Locomo, NotImported, Wanted
from strandline_sdk.bench.measures import Asked, table
from strandline_sdk.bench.questions import ANSWERABLE, CATEGORIES
from strandline_sdk.cli.base import Command, Group, Settings, pass_settings
from strandline_sdk.cli.output import emit, progress
from strandline_sdk.rollouts.clock import SystemClock
from strandline_sdk.rollouts.scrub import Scrubber
from strandline_sdk.rollouts.spool import write_json, write_text
from strandline_sdk.training.results import Results

MODEL_KEY = "STRANDLINE_BENCH_KEY"


@click.group(cls=Group, short_help="Measure a service on public benchmarks.")
def bench() -> None:
    """Measure a service on public benchmarks."""


@bench.command("locomo", cls=Command, short_help="Questions about long conversations.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--conversations", type=click.IntRange(1), help="Only the first so many.")
@click.option("--category", type=click.IntRange(1, 5), multiple=True, default=ANSWERABLE, show_default=True)
@click.option("--search", type=click.Choice(["memory", "message"]), default="memory", show_default=True)
@click.option(
    "--import/--no-import", "store", default=True, show_default=True, help="Store the conversations first."
)
@click.option(
    "--jobs", type=click.IntRange(1, 64), default=4, show_default=True, help="Sessions, questions at a time."
)
@click.option("--user-prefix", default="", help="Put this before the name of each conversation's user.")
@click.option("--model-url", help="An OpenAI-compatible endpoint: a model answers, and is judged.")
@click.option("--model", help="Which model answers.")
@click.option("--judge", help="Which model judges.  [default: the one that answers]")
@click.option(
    "--results", type=click.Path(file_okay=False, path_type=Path), default="result", show_default=True
)
@pass_settings
def locomo(settings: Settings, /, **given: Any) -> None:
    """Store the conversations of LoCoMo's FILE, each as a user (admin or root key), and ask its questions.

    Without a model: how much of the evidence is among what a search finds, and how much of the answer is in its text.
    With --model-url and --model also how many answers a judge calls correct. The endpoint's key is taken from
    STRANDLINE_BENCH_KEY. Storing again stores nothing twice.
    """
    if bool(given["model_url"]) != bool(given["model"]):
        raise click.UsageError("--model-url and --model belong together")
    wanted = Wanted(
        given["file"],
        given["conversations"],
        tuple(sorted(set(given["category"]))),
        given["search"],
        given["jobs"],
        given["user_prefix"],
    )
    with settings.client() as client:
        data = Locomo.read(wanted, client)
        if given["store"]:
            _store(data)
        asked = _ask(data, given)
    document = _document(wanted, given, asked)
    where = _written(given["results"], document, asked)
    emit({"run": str(where), **document}, [*_lines(document["table"]), "", f"files: {where}"])


def _store(data: Locomo) -> None:
    with progress("storing", sum(len(session.messages) for session in data.sessions)) as advance:
        try:
            data.store(advance)
        except NotImported as error:
            raise click.ClickException(str(error)) from error


def _ask(data: Locomo, given: Mapping[str, Any]) -> list[Asked]:
    questions = data.questions()
    found: list[Asked] = []
    with progress("asking", len(questions)) as advance, _answering(given) as then:
        for asked in data.ask(questions, then):
            found.append(asked)
            advance(1)
    return found


@contextmanager
def _answering(given: Mapping[str, Any]) -> Iterator[Callable[[Asked], Asked]]:
    """What is done with a question beside the search."""
    if not given["model_url"]:
        yield lambda asked: asked
        return
    names = (given["model"], given["judge"] or given["model"])
    model, judge = (ChatModel(given["model_url"], name, os.environ.get(MODEL_KEY)) for name in names)
    with closing(model), closing(judge):
        yield lambda asked: answered(asked, model, judge)


def _document(wanted: Wanted, given: Mapping[str, Any], asked: list[Asked]) -> dict[str, Any]:
    searched = {
        "file": wanted.path.name,
        "search": wanted.context_type,
        "categories": list(wanted.categories),
    }
    by_model = {"model": given["model"], "judge": given["judge"] or given["model"]}
    errors = sum(one.error is not None for one in asked)
    return {**searched, **by_model, "errors": errors, "table": table(asked)}


def _written(results: Path, document: Mapping[str, Any], asked: list[Asked]) -> Path:
    scrubber = Scrubber([os.environ.get(MODEL_KEY)])
    found = Results(results, "locomo")
    where = found.new("qa", SystemClock())
    write_json(where / "report.json", scrubber.document(document))
    rows = (json.dumps(scrubber.document(one.row()), ensure_ascii=False) for one in asked)
    write_text(where / "questions.jsonl", "".join(f"{row}\n" for row in rows))
    found.point_at(where)
    return where


def _lines(found: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    columns = [name for name in next(iter(found.values())) if name != "questions"]
    yield f"{'':<18}{'questions':>10}" + "".join(f"{name.replace('_', ' '):>18}" for name in columns)
    for name, row in found.items():
        shown = f"{name} {CATEGORIES[int(name)]}" if name.isdigit() else name
        yield f"{shown:<18}{row['questions']:>10}" + "".join(f"{_percent(row[c]):>18}" for c in columns)


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} %"
