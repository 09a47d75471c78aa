"""`strandline import`."""

import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from strandline_sdk.cli.base import Command, Settings, pass_settings
from strandline_sdk.cli.output import count, emit, progress
from strandline_sdk.cli.waiting import Outcome, outcome
from strandline_sdk.client import Client
from strandline_sdk.importers import FORMATS, ImportedSession, InputError, Place, read_sessions
from strandline_sdk.importers.session_ids import accepted
from strandline_sdk.upload import Uploaded, Uploader

UNFINISHED = "unfinished"


@dataclass(frozen=True)
class _Plan:
    """The command's options."""

    files: Sequence[Path]
    format_name: str | None
    session_prefix: str
    user_per_conversation: bool
    commit: bool
    wait: bool
    jobs: int
    timeout: float

    def sessions(self) -> Iterator[tuple[Path, ImportedSession]]:
        """The sessions of all files, read as they are needed, each with its file."""
        for path in self.files:
            for session in read_sessions(path, self.format_name):
                yield path, replace(session, session_id=accepted(self.session_prefix + session.session_id))


@dataclass
class _Survey:
    """What the files hold."""

    sessions: set[str] = field(default_factory=set)
    messages: int = 0
    conversations: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class _Summary:
    """What became of it: the document that `--json` prints."""

    sessions: int
    messages_stored: int
    duplicates: int
    tasks: Mapping[str, int]
    seconds: float
    messages_per_second: float
    failures: Sequence[Mapping[str, str]]
    archives: Mapping[str, int]

    def __str__(self) -> str:
        return "; ".join(filter(None, self._parts()))

    def _parts(self) -> Iterator[str]:
        stored = f"{count(self.messages_stored, 'message')} stored, {count(self.duplicates, 'duplicate')}"
        yield f"{count(self.sessions, 'session')}, {stored}"
        yield f"tasks: {_counts(self.tasks)}"
        yield f"archives: {_counts(self.archives)}" if any(self.archives.values()) else ""
        yield f"{self.seconds} s, {self.messages_per_second} messages/s"
        yield count(len(self.failures), "failure") if self.failures else ""


def _counts(by_status: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {status}" for status, number in by_status.items())


@click.command("import", cls=Command)
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option(
    "--format", "format_name", type=click.Choice(list(FORMATS)), help="Default: what a file looks like."
)
@click.option("--session-prefix", default="", help="Put this before every session id.")
@click.option(
    "--user-per-conversation", is_flag=True, help="Make each conversation a user (admin or root key)."
)
@click.option(
    "--commit/--no-commit", default=True, show_default=True, help="Commit each session once it is stored."
)
@click.option(
    "--wait/--no-wait", default=True, show_default=True, help="Wait until the memories are written."
)
@click.option("--jobs", type=click.IntRange(1, 64), default=4, show_default=True, help="Sessions at a time.")
@click.option("--timeout", type=click.FloatRange(0), default=600, show_default=True, help="Seconds to wait.")
@pass_settings
def import_(settings: Settings, /, **options: Any) -> None:
    """Store the conversations of FILES. Safe to repeat: what is there already is not stored again.

    All files are read before anything is stored, so that a bad one is reported first.
    """
    plan = _Plan(**options)
    started = time.monotonic()
    survey = _survey(plan)
    with settings.client() as client:
        clients = _clients(client, plan, survey)
        uploaded = _upload(plan, survey, clients)
        outcomes = _wait(plan, uploaded, clients)
    summary = _summary(uploaded, outcomes, time.monotonic() - started)
    emit(asdict(summary), [str(summary)])
    if summary.failures:
        raise click.ClickException("\n".join(f"{f['session_id']}: {f['error']}" for f in summary.failures))


def _survey(plan: _Plan) -> _Survey:
    """Reads everything once. Raises InputError, also when two sessions would become one."""
    survey = _Survey()
    for path, session in plan.sessions():
        if session.session_id in survey.sessions:
            problem = f"a second session {session.session_id}: give one of the two conversations another id"
            raise InputError(Place(path), f"{problem}, or import this file by itself with a --session-prefix")
        survey.sessions.add(session.session_id)
        survey.conversations.add(session.conversation)
        survey.messages += len(session.messages)
    if not survey.sessions:
        raise InputError(Place(plan.files[0]), "no messages to import")
    return survey


def _clients(client: Client, plan: _Plan, survey: _Survey) -> Mapping[str, Client]:
    """The client to use for each conversation."""
    if not plan.user_per_conversation:
        return dict.fromkeys(survey.conversations, client)
    try:
        return {name: client.acting_for(name) for name in survey.conversations}
    except ValueError as error:
        raise click.UsageError(f"a conversation cannot be a user: {error}") from error


def _upload(plan: _Plan, survey: _Survey, clients: Mapping[str, Client]) -> list[Uploaded]:
    sessions = (session for _, session in plan.sessions())
    with progress("messages", survey.messages) as advance:
        uploader = Uploader(lambda session: clients[session.conversation], plan.commit, advance)
        return list(uploader.upload(sessions, plan.jobs))


def _wait(plan: _Plan, uploaded: Sequence[Uploaded], clients: Mapping[str, Client]) -> dict[str, Outcome]:
    """What became of each stored session, by session id."""
    stored = [session for session in uploaded if session.error is None and plan.wait]
    deadline = time.monotonic() + plan.timeout
    outcomes = {}
    with progress("memories", len(stored)) as advance:
        for session in stored:
            client = clients[session.conversation]
            outcomes[session.session_id] = outcome(client, session.session_id, session.task_id, deadline)
            advance(1)
    return outcomes


def _summary(uploaded: Sequence[Uploaded], outcomes: Mapping[str, Outcome], seconds: float) -> _Summary:
    stored = sum(session.stored for session in uploaded)
    return _Summary(
        sessions=sum(session.error is None for session in uploaded),
        messages_stored=stored,
        duplicates=sum(session.duplicates for session in uploaded),
        tasks=_tasks(uploaded, outcomes.values()),
        seconds=round(seconds, 2),
        messages_per_second=round(stored / seconds, 1),
        failures=[*_refused(uploaded), *_failed(outcomes)],
        archives=_archives(outcomes.values()),
    )


def _tasks(uploaded: Sequence[Uploaded], outcomes: Iterable[Outcome]) -> dict[str, int]:
    """This run's tasks by status."""
    ended = Counter(o.task["status"] if o.task else UNFINISHED for o in outcomes if o.task_id)
    started = sum(session.task_id is not None for session in uploaded)
    return {"started": started, "completed": 0, "failed": 0, **ended}


def _archives(outcomes: Collection[Outcome]) -> dict[str, int]:
    """The archives of the sessions, of this run or of earlier ones, that are not well; empty without waiting."""
    statuses = {UNFINISHED: "pending", "failed": "failed"} if outcomes else {}
    return {shown: sum(o.archives.get(status, 0) for o in outcomes) for shown, status in statuses.items()}


def _refused(uploaded: Sequence[Uploaded]) -> Iterator[dict[str, str]]:
    for session in uploaded:
        if session.error:
            yield {"session_id": session.session_id, "error": session.error}


def _failed(outcomes: Mapping[str, Outcome]) -> Iterator[dict[str, str]]:
    for session_id, found in outcomes.items():
        if problem := found.problem():
            yield {"session_id": session_id, "error": problem}
