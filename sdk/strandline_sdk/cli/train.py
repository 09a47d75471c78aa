"""`strandline train` and `strandline train report`."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from strandline_sdk.cli.base import Group, Settings, pass_settings, wants_json
from strandline_sdk.cli.output import emit
from strandline_sdk.rollouts.client import Patience
from strandline_sdk.rollouts.scrub import Scrubber
from strandline_sdk.rollouts.spool import write_text
from strandline_sdk.training.assembly import Setup
from strandline_sdk.training.assembly import train as run_training
from strandline_sdk.training.lock import locked
from strandline_sdk.training.page import page
from strandline_sdk.training.progress import Progress
from strandline_sdk.training.remains import Remains, cleaning_lines
from strandline_sdk.training.report import lines, read_report
from strandline_sdk.training.results import RunDirectory
from strandline_sdk.training.values import TrainOptions

ACCESS_TOKEN = "STRANDLINE_ROLLOUT_TOKEN"  # noqa: S105 - a variable's name
_HOW_TO_GO_ON = "what is finished stays: the same command with --resume goes on from there"
_count = click.IntRange(1)


def _json_object(_: click.Context, __: click.Parameter, text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise click.BadParameter("no JSON") from error
    if not isinstance(value, dict):
        raise click.BadParameter("a JSON object is needed")
    return value


@click.group(
    cls=Group,
    invoke_without_command=True,
    short_help="Get better at a kind of task, offline; see how it went.",
)
@click.option("--service", help="URL of the rollout service.  [required]")
@click.option("--dataset", help="Which data set.  [required]")
@click.option("--domain", help="Which domain of it.  [required]")
@click.option("--epochs", type=click.IntRange(0), default=1, show_default=True, help="0: the baseline only.")
@click.option("--trials", type=_count, default=1, show_default=True, help="Trials of a held-out case.")
@click.option("--train-trials", type=_count, default=1, show_default=True, help="Trials of a training case.")
@click.option("--concurrency", type=_count, default=8, show_default=True, help="Rollouts at a time, at most.")
@click.option("--train-split", default="train", show_default=True)
@click.option(
    "--eval-split", default="test", show_default=True, help="none: nothing is evaluated or promoted."
)
@click.option("--eval-each-epoch", is_flag=True, help="Not only after the last epoch.")
@click.option(
    "--train-index", type=click.IntRange(0), multiple=True, help="Only these training cases, from 0."
)
@click.option(
    "--eval-index", type=click.IntRange(0), multiple=True, help="Only these held-out cases, from 0."
)
@click.option(
    "--options", callback=_json_object, default="{}", help="JSON for the service, with every rollout."
)
@click.option("--filters", callback=_json_object, default="{}", help="JSON for the service, which cases.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option(
    "--rollout-timeout",
    type=click.FloatRange(1),
    default=3600,
    show_default=True,
    help="Seconds for one rollout; then it has failed.",
)
@click.option(
    "--commit-timeout",
    type=click.FloatRange(1),
    default=600,
    show_default=True,
    help="Seconds for a rollout to be committed and learnt.",
)
@click.option(
    "--batch", type=_count, default=16, show_default=True, help="Gradients that are merged at a time."
)
@click.option(
    "--learn",
    type=click.Choice(["local", "service"]),
    default="local",
    show_default=True,
    help="Who learns: this process, by rule; or the service, from what a user of the run's own commits (admin key).",
)
@click.option(
    "--policies",
    type=click.Choice(["token", "key", "inline"]),
    default="token",
    show_default=True,
    help="How the rollout service gets them: read here with a token (loopback), read from the API with a key that "
    "reads one snapshot and ends (admin key, --account), or sent with every request.",
)
@click.option(
    "--commit/--no-commit", default=True, show_default=True, help="Keep training rollouts as sessions."
)
@click.option("--dry-run", is_flag=True, help="Say what would be promoted, and write nothing.")
@click.option("--force-baseline", is_flag=True, help="Evaluate the baseline again, whatever the cache has.")
@click.option("--resume", is_flag=True, help="Go on with the newest run of the data set.")
@click.option(
    "--results", type=click.Path(file_okay=False, path_type=Path), default="result", show_default=True
)
@click.pass_context
@pass_settings
def train(settings: Settings, context: click.Context, /, **given: Any) -> None:
    """Make rollouts of training cases, learn from them, and promote what is proven better on held-out cases.

    A rollout service has the cases and the agent. The token that such a service may ask of its callers is taken from
    STRANDLINE_ROLLOUT_TOKEN. Everything a run does stands below --results; a run that was killed goes on with --resume.
    """
    if context.invoked_subcommand:
        return
    if missing := [name for name in ("service", "dataset", "domain") if not given[name]]:
        raise click.UsageError(f"missing option --{missing[0]}")
    with settings.client() as client:
        try:
            report, run = run_training(_setup(client, given))
        except ValueError as error:
            raise click.UsageError(str(error)) from error
        except KeyboardInterrupt as interrupt:
            raise _Interrupted(f"interrupted; {_HOW_TO_GO_ON}") from interrupt
    emit({"run": str(run), **report}, [*lines(report, run), "", f"files: {run}"])


class _Interrupted(click.ClickException):
    exit_code = 130


def _setup(client: Any, given: Mapping[str, Any]) -> Setup:
    plain = {name: given[name] for name in TrainOptions.__dataclass_fields__ if name in given}
    return Setup(
        TrainOptions(**plain),
        given["service"],
        client,
        given["results"],
        given["concurrency"],
        resume=given["resume"],
        commit=given["commit"],
        policies=given["policies"],
        fresh_baseline=given["force_baseline"],
        access_token=os.environ.get(ACCESS_TOKEN),
        progress=Progress(quiet=wants_json()),
        patience=Patience(timeout=given["rollout_timeout"]),
        commit_timeout=given["commit_timeout"],
    )


@train.command("report", short_help="What a run came to.")
@click.argument("run", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--html", type=click.Path(dir_okay=False, path_type=Path), help="Write a page with plots there."
)
def report_(run: Path, html: Path | None) -> None:
    """Show what a run came to, per epoch, with the worst cases and where their files are.

    RUN is a run's directory, or that of a data set: then its latest run. What is printed can be given to a model to
    find out why.
    """
    try:
        found = _run(run)
        report = read_report(found)
    except (OSError, ValueError) as error:
        raise click.ClickException(f"no run at {run}") from error
    if html is not None:
        write_text(html, page(report, found.absolute(), html.absolute().parent))
    emit(report, lines(report, found))


@train.command("clean", short_help="Delete what a run left in the service.")
@click.argument("run", type=click.Path(exists=True, path_type=Path))
@click.option("--delete", is_flag=True, help="Delete it; otherwise only say what there is.")
@click.option(
    "--timeout", type=click.FloatRange(0), default=0, show_default=True, help="Seconds to wait for receipts."
)
@pass_settings
def clean(settings: Settings, run: Path, delete: bool, timeout: float) -> None:
    """Delete the sessions, draft users and snapshot users that a run left in the service; what was promoted stays.

    RUN is a run's directory, or that of a data set: then its latest run. Users are erased by tasks that take a while
    (an admin key); the same command shows their receipts later.
    """
    found = _run(run)
    try:
        with settings.client() as client, locked(found):
            remains = Remains(RunDirectory(found, Scrubber([client.key])), client)
            if delete:
                remains.delete()
            left, cleaned = remains.left(), remains.cleaned(timeout=timeout)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    emit({"run": str(found), "left": asdict(left), **cleaned}, cleaning_lines(left, cleaned))


def _run(path: Path) -> Path:
    latest = path / "latest"
    return path / latest.read_text("utf-8").strip() if latest.is_file() else path
