"""Puts a run together from a rollout service and the API, with every part's default."""

import json
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from strandline_sdk.client import Client
from strandline_sdk.errors import ApiError
from strandline_sdk.rollouts.client import Patience, RolloutClient
from strandline_sdk.rollouts.clock import Clock, HaltingClock
from strandline_sdk.rollouts.model import Health
from strandline_sdk.rollouts.scrub import Scrubber
from strandline_sdk.training.access import Access, opened
from strandline_sdk.training.cases import ServiceCases
from strandline_sdk.training.evaluation import OwnEvaluation
from strandline_sdk.training.executors import RemoteExecutor
from strandline_sdk.training.hooks import Silent
from strandline_sdk.training.learner import BatchLearner
from strandline_sdk.training.lock import locked
from strandline_sdk.training.progress import Progress
from strandline_sdk.training.protocols import Hooks, Learner, Recorder
from strandline_sdk.training.published import PublishedAccess
from strandline_sdk.training.recorder import SessionRecorder
from strandline_sdk.training.results import Results, RunDirectory
from strandline_sdk.training.service_learner import ServiceLearner
from strandline_sdk.training.snapshots import DryRun, MemorySnapshotter, MemoryUpdater
from strandline_sdk.training.stage import Stage
from strandline_sdk.training.trainer import Parts, Report, Trainer
from strandline_sdk.training.values import TrainOptions

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class Setup:
    """A run over a rollout service at `url`. `policies`: how it gets them: by a "token" here, by a "key" of the API, or
    "inline". `access_token`: what the service asks of its callers. `commit_timeout`: seconds for a rollout to be
    committed and learnt."""

    options: TrainOptions
    url: str
    client: Client
    results: Path
    concurrency: int = 8
    resume: bool = False
    commit: bool = True
    policies: str = "token"
    fresh_baseline: bool = False
    access_token: str | None = field(default=None, repr=False)
    progress: Progress = field(default_factory=lambda: Progress(quiet=True))
    hooks: Hooks = field(default_factory=Silent)
    patience: Patience = field(default_factory=Patience)
    commit_timeout: float = 600.0


class CannotResume(ValueError):
    """The newest run is another one."""


def train(setup: Setup) -> tuple[Report, Path]:
    """Does the run, or what is left of it; its report and its directory. Raises ApiError, ServiceBroken, ValueError."""
    _checked(setup)
    begun = _unfinished(setup)
    clock = HaltingClock()
    with RolloutClient(setup.url, setup.access_token, patience=setup.patience, clock=clock) as service:
        asked = _Asked(service, service.health(), clock.halt)
        with _directory(setup, begun, clock) as directory, _parts(setup, directory, asked) as parts:
            return _run(Trainer(setup.options, parts), directory.path), directory.path


def _run(trainer: Trainer, path: Path) -> Report:
    try:
        return trainer.run()
    except (ApiError, OSError) as error:
        error.add_note(f"what is finished stays in {path}: the same command with --resume goes on from there")
        raise


@dataclass(frozen=True)
class _Asked:
    """The rollout service, how it is, and what ends all waiting for it."""

    client: RolloutClient
    health: Health
    halt: Callable[[], None]


@contextmanager
def _parts(setup: Setup, directory: RunDirectory, service: _Asked) -> Iterator[Parts]:
    run = directory.events("run_named")[0]["run"]
    with ExitStack() as stack:
        access = _access(setup, directory, stack)
        learner, recorder = _learning(setup, run)
        stage = Stage(
            RemoteExecutor(service.client, run, setup.options.options, access),
            OwnEvaluation(),
            recorder,
            directory,
            setup.progress,
            max(1, min(setup.concurrency, service.health["max_rollout_concurrency"])),
            service.halt,
        )
        yield Parts(
            ServiceCases(service.client, setup.options),
            stage,
            learner,
            MemorySnapshotter(setup.client),
            DryRun() if setup.options.dry_run else MemoryUpdater(setup.client),
            Results(setup.results, setup.options.dataset),
            service.health["service"],
            setup.hooks,
            setup.fresh_baseline,
        )


def _access(setup: Setup, directory: RunDirectory, stack: ExitStack) -> Access | None:
    """What lets the rollout service read policies; None: they are sent."""
    if setup.policies == "token":
        return stack.enter_context(opened(directory.scrubber))
    if setup.policies == "inline":
        return None
    run = directory.events("run_named")[0]["run"]
    published = PublishedAccess(setup.client, str(setup.client.account), run, directory.scrubber)
    stack.callback(published.close)
    return published


def _learning(setup: Setup, run: str) -> tuple[Learner, Recorder | None]:
    """Who learns, and who records."""
    if setup.options.learn == "service":
        learner = ServiceLearner(setup.client, run, setup.commit_timeout)
        return learner, learner
    recorder = SessionRecorder(setup.client, run, timeout=setup.commit_timeout) if setup.commit else None
    return BatchLearner(setup.options.batch), recorder


def _unfinished(setup: Setup) -> Path | None:
    """The newest run, if it is to be gone on with. Raises CannotResume."""
    latest = Results(setup.results, setup.options.dataset).latest() if setup.resume else None
    if latest is None or not (latest / "report.json").exists():
        return None
    _resumable(latest, setup.options)
    return latest


@contextmanager
def _directory(setup: Setup, begun: Path | None, clock: Clock) -> Iterator[RunDirectory]:
    """The directory of the run, to which nobody else writes meanwhile."""
    path = begun or Results(setup.results, setup.options.dataset).new(setup.options.domain, clock)
    with locked(path):
        directory = RunDirectory(path, Scrubber([setup.client.key, setup.access_token]))
        whose = {"account": setup.client.account, "user": setup.client.user}
        if not (named := directory.events("run_named")):
            run = f"{path.name.rpartition('_')[2]}-{secrets.token_hex(3)}"
            how = {"learn": setup.options.learn, "policies": setup.policies}
            directory.event("run_named", run=run, **whose, **how)
        elif not whose.items() <= named[0].items():
            raise CannotResume(
                f"{path} was begun for user {named[0]['user']} of account {named[0]['account']}"
            )
        if directory.events("given_up"):
            raise CannotResume(f"{path} was cleaned up before it was over: leave out --resume for a new run")
        yield directory


def _checked(setup: Setup) -> None:
    if setup.policies == "token" and urlsplit(setup.url).hostname not in _LOOPBACK:
        raise ValueError(
            "a rollout service elsewhere cannot read policies on this machine: send them inline, or a key"
        )
    if setup.policies == "key" and not setup.client.account:
        raise ValueError("name the account whose administrator you are: its snapshots get users and keys")


def _resumable(path: Path, options: TrainOptions) -> None:
    report: dict[str, Any] = json.loads((path / "report.json").read_text("utf-8"))
    wanted, known = json.loads(json.dumps(options.document())), report["options"]
    if differing := sorted(name for name in wanted if wanted[name] != known.get(name)):
        told = ", ".join(f"{name}: {known.get(name)!r} there" for name in differing)
        raise CannotResume(f"{path} is a run with other options ({told}): leave out --resume for a new one")
    if report["status"] == "completed":
        raise CannotResume(f"{path} is complete: leave out --resume for a new run")
