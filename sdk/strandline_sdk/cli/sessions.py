"""`strandline sessions`, `send` and `commit`."""

import itertools
import sys
import time
from collections.abc import Iterator

import click

from strandline_sdk.cli.base import Command, Group, Settings, limit_option, pass_settings, timeout_option
from strandline_sdk.cli.messages import message_line
from strandline_sdk.cli.output import count, emit, minute, shown, utf8_text
from strandline_sdk.cli.tasks import task_lines
from strandline_sdk.cli.waiting import outcome
from strandline_sdk.model import Committed, MemoryDiff, Message, Role, Session, SessionSettings, Task


@click.group(cls=Group, invoke_without_command=True)
@limit_option
@pass_settings
def sessions(settings: Settings, limit: int) -> None:
    """List sessions, newest first, or show one."""
    if click.get_current_context().invoked_subcommand is None:
        _list(settings, limit)


@sessions.command()
@limit_option
@pass_settings
def ls(settings: Settings, limit: int) -> None:
    """List sessions, newest first, as without a command."""
    _list(settings, limit)


def _list(settings: Settings, limit: int) -> None:
    with settings.client() as client:
        found = list(itertools.islice(client.sessions(page_size=min(limit, 100)), limit))
    emit(found, map(_row, found))


def _fields(_context: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> dict[str, int]:
    """`keep_recent_count=5` and the like; which there are is the service's to say."""
    pairs = [text.partition("=") for text in given]
    wrong = [name for name, _, value in pairs if not value.lstrip("-").isdecimal()]
    if wrong:
        raise click.BadParameter(f"give a number: {wrong[0]}=20")
    return {name: int(value) for name, _, value in pairs}


@sessions.command()
@click.argument("session_id", required=False)
@click.option("--auto-commit", is_flag=True, help="Let it commit itself, by the default policy.")
@click.option("--never-commit", is_flag=True, help="Never by itself, whatever the deployment's default.")
@click.option(
    "--policy",
    multiple=True,
    callback=_fields,
    metavar="FIELD=NUMBER",
    help="Let it commit itself, with this field of the policy: message_count_threshold=20.",
)
@pass_settings
def create(
    settings: Settings, session_id: str | None, auto_commit: bool, never_commit: bool, policy: dict[str, int]
) -> None:
    """Create a session, with an id of its own when none is given. Its policy is fixed from then on."""
    if never_commit and (auto_commit or policy):
        raise click.UsageError("--never-commit goes with neither --auto-commit nor --policy")
    fixed: SessionSettings = {}
    if never_commit or auto_commit or policy:
        fixed["auto_commit_policy"] = None if never_commit else policy
    with settings.client() as client:
        made = client.create_session(session_id, **fixed)
    emit(made, [f"{shown(made['session_id'])}  {made['uri']}", *_policy(made)])


@sessions.command()
@click.argument("session_id")
@pass_settings
def show(settings: Settings, session_id: str) -> None:
    """Show a session: its counters and what became of its archives."""
    with settings.client() as client:
        session = client.session(session_id)
    emit(session, _lines(session))


@sessions.command()
@click.argument("session_id")
@click.argument("archive_id", required=False)
@pass_settings
def diff(settings: Settings, session_id: str, archive_id: str | None) -> None:
    """Show what an archive (3, archive_003; by default the newest) changed in the memories, what was learnt of it, and
    what was rejected, with the reason; --json with all texts."""
    with settings.client() as client:
        number = archive_id or str(client.session(session_id).get("commit_count", 0))
        if number == "0":
            raise click.ClickException(f"{shown(session_id)} has no archive yet: strandline commit makes one")
        archive = client.archive(session_id, f"archive_{int(number):03d}" if number.isdecimal() else number)
        uris = {"memories": archive.get("memory_diff_uri"), "learnt": archive.get("learn_diff_uri")}
        told = {name: client.diff(uri) if uri else None for name, uri in uris.items()}
    emit(told, [row for name, made in told.items() if made for row in _changes(name, made)])


def _changes(name: str, made: MemoryDiff) -> Iterator[str]:
    for how in ("adds", "updates", "deletes"):
        for each in made["operations"].get(how, []):
            yield f"{name:9} {how.removesuffix('s'):7} {shown(each['uri'])}"
    for none in made.get("rejected", ()):
        yield f"{name:9} reject  {none['memory_type']}, message {none['seq_from']}: {shown(none['reason'])}"


@sessions.command()
@click.argument("session_id")
@pass_settings
def delete(settings: Settings, session_id: str) -> None:
    """Delete a session and all that is stored of it. Its memories stay."""
    with settings.client() as client:
        done = client.delete_session(session_id)
    erased = ", ".join(
        count(number, kind.removesuffix("s")) for kind, number in done.get("erased", {}).items()
    )
    rest = "" if done.get("complete", True) else "; the rest follows shortly"
    emit(done, [f"deleted {shown(session_id)}; erased: {erased or 'nothing'}{rest}"])


@sessions.command()
@click.argument("session_id")
@click.option("--after", type=click.IntRange(0), default=0, metavar="SEQ", help="Only those behind this seq.")
@limit_option
@pass_settings
def messages(settings: Settings, session_id: str, after: int, limit: int) -> None:
    """Print a session's log, archived or live, a line a message; --json prints the messages whole."""
    with settings.client() as client:
        log = client.messages(session_id, after_seq=after, page_size=min(limit, 100))
        found = list(itertools.islice(log, limit))
    emit(found, map(message_line, found))


@click.command(cls=Command, short_help="Append a message to a session, which need not exist yet.")
@click.argument("session_id")
@click.argument("text")
@click.option("--role", type=click.Choice(["user", "assistant", "system"]), default="user", show_default=True)
@click.option("--peer", help="Who speaks, when it is not the user.")
@pass_settings
def send(settings: Settings, session_id: str, text: str, role: Role, peer: str | None) -> None:
    """Append a message to a session, which need not exist yet. TEXT may be - for what stands on stdin."""
    message: Message = {"role": role, "content": utf8_text(sys.stdin.buffer) if text == "-" else text}
    if peer:
        message["peer_id"] = peer
    with settings.client() as client:
        done = client.append(session_id, message)
    counts = (
        f"{count(done['message_count'], 'uncommitted message')}, {count(done['pending_tokens'], 'token')}"
    )
    asked = done.get("auto_commit")
    set_going = [f"it sets a commit going: task {asked['task_id']}"] if asked else []
    emit(done, [f"{session_id} seq {done['seq']}: {counts}", *set_going])


@click.command(cls=Command)
@click.argument("session_id")
@click.option(
    "--keep",
    type=click.IntRange(0, 10_000),
    default=0,
    show_default=True,
    help="Newest messages to keep live.",
)
@click.option(
    "--wait",
    "waits",
    is_flag=True,
    help="Wait until the memories are written, those of earlier commits too; exit code 1 if that fails.",
)
@timeout_option
@pass_settings
def commit(settings: Settings, session_id: str, keep: int, waits: bool, timeout: float) -> None:
    """Archive a session's messages and extract memories from them."""
    deadline = time.monotonic() + timeout
    with settings.client() as client:
        done = client.commit(session_id, keep_recent_count=keep)
        waited = outcome(client, session_id, done["task_id"], deadline) if waits else None
    task = waited.task if waited else None
    emit({**done, "task": task} if waited else done, _outcome(done, task))
    if waited and (problem := waited.problem()):
        raise click.ClickException(problem)


def _row(session: Session) -> str:
    commits = count(session.get("commit_count", 0), "commit")
    return f"{minute(session.get('updated_at'))}  {commits:<11}  {shown(session['session_id'])}"


def _lines(session: Session) -> Iterator[str]:
    yield f"{shown(session['session_id'])}  {session['uri']}"
    yield f"created {minute(session.get('created_at'))}, last message {minute(session.get('last_message_at'))}"
    tokens = count(session.get("pending_tokens", 0), "token")
    total = count(session.get("total_message_count", 0), "message")
    yield f"{total}, {session.get('message_count', 0)} of them live ({tokens})"
    archives = ", ".join(f"{number} {status}" for status, number in session.get("archives", {}).items())
    yield f"{count(session.get('commit_count', 0), 'commit')}; archives: {archives}"
    yield from _policy(session)
    if error := session.get("auto_commit_last_error"):
        yield f"automatic commit failed {minute(session.get('auto_commit_last_error_at'))}: {shown(error)}"


def _policy(session: Session) -> Iterator[str]:
    if policy := session.get("auto_commit_policy"):
        yield "commits itself: " + ", ".join(f"{name}={value}" for name, value in policy.items())


def _outcome(done: Committed, task: Task | None) -> Iterator[str]:
    if not done["archived"]:
        yield f"nothing to commit: {done.get('reason')}"
        return
    yield f"committed as {done.get('archive_uri')}"
    if task:
        yield from task_lines(task)
    else:
        yield f"task {done['task_id']}"
