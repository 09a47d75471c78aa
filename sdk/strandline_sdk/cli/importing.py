"""`strandline import`."""

import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from strandline_sdk.cli.base import Command, Settings, pass_settings, timeout_option
from strandline_sdk.cli.import_summary import Summary, summary
from strandline_sdk.cli.output import count, emit, progress
from strandline_sdk.cli.waiting import Outcome, outcome
from strandline_sdk.client import Client
from strandline_sdk.errors import ApiError
from strandline_sdk.importers import FORMATS, Bad, ImportedSession, InputError, Place, read_sessions
from strandline_sdk.importers.limits import fitting
from strandline_sdk.importers.session_ids import accepted
from strandline_sdk.transport import Retry
from strandline_sdk.upload import Uploaded, Uploader

STDIN = Path("-")
_PATIENT = Retry(attempts=8)
_SHOWN_PROBLEMS = 20
_HOW_TO_GO_ON = "what is stored stays: the same command with --resume goes on from there"


@dataclass(frozen=True)
class _Plan:
    """The command's options. `spool` is where stdin's bytes are, which are read twice."""

    files: Sequence[Path]
    format_name: str | None
    skip_bad: bool
    resume: bool
    session_prefix: str
    user_per_conversation: bool
    commit: bool
    wait: bool
    jobs: int
    timeout: float
    spool: Path | None = None

    def sessions(self, bad: Bad) -> Iterator[ImportedSession]:
        """The sessions of all files, read as they are needed, without what cannot be imported."""
        seen: set[str] = set()
        for path in self.files:
            for found in self._read(path, bad):
                name = accepted(self.session_prefix + found.session_id)
                if name in seen:
                    bad(_second(name, found, path))
                    continue
                seen.add(name)
                session = fitting(replace(found, session_id=name), bad)
                if session.messages:
                    yield session

    def _read(self, path: Path, bad: Bad) -> Iterator[ImportedSession]:
        if path == STDIN and self.spool:
            return read_sessions(self.spool, self.format_name, bad=bad, shown_as=Path("stdin"))
        return read_sessions(path, self.format_name, bad=bad)


def _second(name: str, session: ImportedSession, path: Path) -> InputError:
    problem = f"a second session {name}: give one of the two conversations another id"
    place = session.places[0] if session.places else Place(path)
    return InputError(place, f"{problem}, or import this file by itself with a --session-prefix")


@dataclass
class _Survey:
    """What the files hold, and what of it cannot be imported."""

    messages: int = 0
    conversations: set[str] = field(default_factory=set)
    bad: list[str] = field(default_factory=list)

    def note(self, error: InputError) -> None:
        self.bad.append(str(error))


@click.command("import", cls=Command, short_help="Store conversations of many formats.")
@click.argument(
    "files",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
)
@click.option(
    "--format", "format_name", type=click.Choice(list(FORMATS)), help="Default: what a file looks like."
)
@click.option("--skip-bad", is_flag=True, help="Leave out what cannot be imported; it is named on stderr.")
@click.option(
    "--resume",
    is_flag=True,
    help="Go on with an import that was interrupted: ask each session what it holds, send what it lacks.",
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
@timeout_option
@pass_settings
def import_(settings: Settings, /, **options: Any) -> None:
    """Store the conversations of FILES, also packed by gzip; - is stdin.

    \b
    openai       OpenAI chat messages, conversations of them, agents' logs that hold them
    anthropic    Anthropic messages with their content blocks
    sharegpt     ShareGPT conversations, with function calls
    claude-code  Claude Code session logs
    locomo       LoCoMo conversations
    plain        lines of "role: text" or "Name: text"

    Safe to repeat: what is there already is not stored again. All files are read before anything is stored, and
    nothing is if something cannot be imported, unless you say --skip-bad.
    """
    started = time.monotonic()
    with _spooled(options["files"]) as spool, settings.client(_PATIENT) as client:
        try:
            done = _import(client, _Plan(**options, spool=spool), started)
        except KeyboardInterrupt as interrupt:
            raise _Interrupted(f"interrupted; {_HOW_TO_GO_ON}") from interrupt
    emit(asdict(done), [str(done)])
    if done.failures:
        raise click.ClickException("\n".join(f"{f['session_id']}: {f['error']}" for f in done.failures))


def _import(client: Client, plan: _Plan, started: float) -> Summary:
    survey = _surveyed(plan)
    clients = _clients(client, plan, survey)
    try:
        uploaded = _upload(plan, survey, clients)
        outcomes = _wait(plan, uploaded, clients)
    except ApiError as error:
        raise click.ClickException(f"{error}\n{_HOW_TO_GO_ON}" if error.retryable else str(error)) from error
    return summary(uploaded, outcomes, survey.bad, time.monotonic() - started)


class _Interrupted(click.ClickException):
    exit_code = 130


@contextmanager
def _spooled(files: Sequence[Path]) -> Iterator[Path | None]:
    """Where stdin's bytes are, if they are asked for."""
    if STDIN not in files:
        yield None
        return
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "stdin")
        with path.open("wb") as spool:
            shutil.copyfileobj(sys.stdin.buffer, spool)
        yield path


def _surveyed(plan: _Plan) -> _Survey:
    """Reads everything once. Raises ClickException if something cannot be imported and may not be left out."""
    survey = _Survey()
    for session in plan.sessions(survey.note):
        survey.conversations.add(session.conversation)
        survey.messages += len(session.messages)
    if survey.bad and plan.skip_bad:
        click.echo("\n".join(f"skipped: {line}" for line in _shown(survey.bad)), err=True)
    elif survey.bad:
        advice = "nothing was stored; mend what is named, or leave it out with --skip-bad"
        raise click.ClickException("\n".join([*_shown(survey.bad), advice]))
    if not survey.messages:
        raise InputError(Place(plan.files[0]), "no messages to import")
    return survey


def _shown(problems: Sequence[str]) -> list[str]:
    more = len(problems) - _SHOWN_PROBLEMS
    return [*problems[:_SHOWN_PROBLEMS], *([f"and {count(more, 'other')}"] if more > 0 else [])]


def _clients(client: Client, plan: _Plan, survey: _Survey) -> Mapping[str, Client]:
    """The client to use for each conversation."""
    if not plan.user_per_conversation:
        return dict.fromkeys(survey.conversations, client)
    try:
        return {name: client.acting_for(name) for name in survey.conversations}
    except ValueError as error:
        raise click.UsageError(f"a conversation cannot be a user: {error}") from error


def _upload(plan: _Plan, survey: _Survey, clients: Mapping[str, Client]) -> list[Uploaded]:
    def refused(error: InputError) -> None:
        if not plan.skip_bad:
            raise error
        survey.note(error)
        click.echo(f"skipped: {error}", err=True)

    with progress("messages", survey.messages) as advance:
        uploader = Uploader(
            lambda session: clients[session.conversation], plan.commit, advance, plan.resume, refused
        )
        return list(uploader.upload(plan.sessions(lambda _: None), plan.jobs))


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
