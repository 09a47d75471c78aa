"""Puts a run together from a rollout service and the API, with every part's default."""

import json
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from strandline_sdk.client import Client
from strandline_sdk.rollouts.client import Patience, RolloutClient
from strandline_sdk.rollouts.clock import HaltingClock
from strandline_sdk.rollouts.scrub import Scrubber
from strandline_sdk.training.access import Access, opened
from strandline_sdk.training.cases import ServiceCases
from strandline_sdk.training.evaluation import OwnEvaluation
from strandline_sdk.training.executors import RemoteExecutor
from strandline_sdk.training.hooks import Silent
from strandline_sdk.training.learner import BatchLearner
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
    "inline". `access_token`: what the service asks of its callers."""

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


class CannotResume(ValueError):
    """The newest run is another one."""


def train(setup: Setup) -> tuple[Report, Path]:
    """Does the run, or what is left of it; its report and its directory. Raises ApiError, ValueError."""
    directory = _directory(setup)
    with _parts(setup, directory) as parts:
        return Trainer(setup.options, parts).run(), directory.path


@contextmanager
def _parts(setup: Setup, directory: RunDirectory) -> Iterator[Parts]:
    clock = HaltingClock()
    run = directory.events("run_named")[0]["run"]
    with ExitStack() as stack:
        service = stack.enter_context(
            RolloutClient(setup.url, setup.access_token, patience=setup.patience, clock=clock)
        )
        access = _access(setup, directory, stack)
        health = service.health()
        learner, recorder = _learning(setup, run)
        stage = Stage(
            RemoteExecutor(service, run, setup.options.options, access),
            OwnEvaluation(),
            recorder,
            directory,
            setup.progress,
            max(1, min(setup.concurrency, health["max_rollout_concurrency"])),
            clock.halt,
        )
        yield Parts(
            ServiceCases(service, setup.options),
            stage,
            learner,
            MemorySnapshotter(setup.client),
            DryRun() if setup.options.dry_run else MemoryUpdater(setup.client),
            Results(setup.results, setup.options.dataset),
            health["service"],
            setup.hooks,
            setup.fresh_baseline,
        )


def _access(setup: Setup, directory: RunDirectory, stack: ExitStack) -> Access | None:
    """What lets the rollout service read policies; None: they are sent."""
    if setup.policies == "token":
        return stack.enter_context(opened(directory.scrubber))
    if setup.policies == "inline":
        return None
    published = PublishedAccess(setup.client, str(setup.client.account), directory.scrubber)
    stack.callback(published.close)
    return published


def _learning(setup: Setup, run: str) -> tuple[Learner, Recorder | None]:
    """Who learns, and who records."""
    if setup.options.learn == "service":
        learner = ServiceLearner(setup.client, run)
        return learner, learner
    recorder = SessionRecorder(setup.client, run) if setup.commit else None
    return BatchLearner(setup.options.batch), recorder


def _directory(setup: Setup) -> RunDirectory:
    """The directory of a new run, or of the newest one, to be resumed. Raises CannotResume."""
    _checked(setup)
    scrubber = Scrubber([setup.client.key, setup.access_token])
    results = Results(setup.results, setup.options.dataset)
    latest = results.latest() if setup.resume else None
    if latest is not None and (latest / "report.json").exists():
        _resumable(latest, setup.options)
        return RunDirectory(latest, scrubber)
    path = results.new(setup.options.domain, HaltingClock())
    directory = RunDirectory(path, scrubber)
    directory.event("run_named", run=f"{path.name.rpartition('_')[2]}-{secrets.token_hex(3)}")
    return directory


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
