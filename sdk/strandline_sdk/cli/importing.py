"""`strandline import`."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from strandline_sdk.cli.base import Command, Settings, pass_settings
from strandline_sdk.cli.output import emit, progress
from strandline_sdk.client import Client
from strandline_sdk.importers import FORMATS, ImportedSession, InputError, Place, read_sessions
from strandline_sdk.model import Task
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
                yield path, replace(session, session_id=self.session_prefix + session.session_id)


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

    def __str__(self) -> str:
        tasks = ", ".join(f"{count} {status}" for status, count in self.tasks.items())
        return (
            f"{self.sessions} sessions, {self.messages_stored} messages stored, {self.duplicates} duplicates; "
            f"tasks: {tasks}; {self.seconds} s, {self.messages_per_second} messages/s"
            + (f"; {len(self.failures)} failures" if self.failures else "")
        )


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
        tasks = _wait(plan, uploaded, clients)
    summary = _summary(uploaded, tasks, time.monotonic() - started)
    emit(asdict(summary), [str(summary)])
    if summary.failures:
        raise click.ClickException("\n".join(f"{f['session_id']}: {f['error']}" for f in summary.failures))


def _survey(plan: _Plan) -> _Survey:
    """Reads everything once. Raises InputError, also when two sessions would become one."""
    survey = _Survey()
    for path, session in plan.sessions():
        if session.session_id in survey.sessions:
            problem = (
                f"a second session {session.session_id}: import this file with a --session-prefix of its own"
            )
            raise InputError(Place(path), problem)
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


def _wait(plan: _Plan, uploaded: Sequence[Uploaded], clients: Mapping[str, Client]) -> dict[str, Task | None]:
    """Each session's task once it has ended, by session id; None for one that has not ended in time."""
    committed = [session for session in uploaded if session.task_id and plan.wait]
    deadline = time.monotonic() + plan.timeout
    tasks = {}
    with progress("memories", len(committed)) as advance:
        for session in committed:
            tasks[session.session_id] = _ended(clients[session.conversation], session, deadline)
            advance(1)
    return tasks


def _ended(client: Client, session: Uploaded, deadline: float) -> Task | None:
    try:
        return client.wait_for_task(session.task_id or "", timeout=max(0.0, deadline - time.monotonic()))
    except TimeoutError:
        return None


def _summary(uploaded: Sequence[Uploaded], tasks: Mapping[str, Task | None], seconds: float) -> _Summary:
    stored = sum(session.stored for session in uploaded)
    statuses = Counter(task["status"] if task else UNFINISHED for task in tasks.values())
    started = sum(session.task_id is not None for session in uploaded)
    return _Summary(
        sessions=sum(session.error is None for session in uploaded),
        messages_stored=stored,
        duplicates=sum(session.duplicates for session in uploaded),
        tasks={"started": started, "completed": 0, "failed": 0, **statuses},
        seconds=round(seconds, 2),
        messages_per_second=round(stored / seconds, 1),
        failures=[*_refused(uploaded), *_failed(tasks)],
    )


def _refused(uploaded: Sequence[Uploaded]) -> Iterator[dict[str, str]]:
    for session in uploaded:
        if session.error:
            yield {"session_id": session.session_id, "error": session.error}


def _failed(tasks: Mapping[str, Task | None]) -> Iterator[dict[str, str]]:
    for session_id, task in tasks.items():
        if not task:
            yield {
                "session_id": session_id,
                "error": "its task has not ended yet; strandline tasks show tells more",
            }
        elif task["status"] != "completed":
            yield {
                "session_id": session_id,
                "error": f"task {task['task_id']} {task['status']}: {task.get('error')}",
            }
