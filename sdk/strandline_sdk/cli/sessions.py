"""`strandline sessions`, `send` and `commit`."""

import itertools
from collections.abc import Iterator

import click

from strandline_sdk.cli.base import Command, Group, Settings, pass_settings
from strandline_sdk.cli.output import emit, minute, shown
from strandline_sdk.cli.tasks import task_lines
from strandline_sdk.model import Committed, Message, Role, Session, Task


@click.group(cls=Group, invoke_without_command=True)
@click.option(
    "--limit", type=click.IntRange(1), default=100, show_default=True, help="List at most this many."
)
@pass_settings
def sessions(settings: Settings, limit: int) -> None:
    """List sessions, newest first, or show one."""
    if click.get_current_context().invoked_subcommand is None:
        with settings.client() as client:
            found = list(itertools.islice(client.sessions(page_size=min(limit, 100)), limit))
        emit(found, map(_row, found))


@sessions.command()
@click.argument("session_id")
@pass_settings
def show(settings: Settings, session_id: str) -> None:
    """Show a session: its counters and what became of its archives."""
    with settings.client() as client:
        session = client.session(session_id)
    emit(session, _lines(session))


@click.command(cls=Command)
@click.argument("session_id")
@click.argument("text")
@click.option("--role", type=click.Choice(["user", "assistant", "system"]), default="user", show_default=True)
@click.option("--peer", help="Who speaks, when it is not the user.")
@pass_settings
def send(settings: Settings, session_id: str, text: str, role: Role, peer: str | None) -> None:
    """Append a message to a session, which need not exist yet."""
    message: Message = {"role": role, "content": text}
    if peer:
        message["peer_id"] = peer
    with settings.client() as client:
        done = client.append(session_id, message)
    counts = f"{done['message_count']} uncommitted messages, {done['pending_tokens']} tokens"
    emit(done, [f"{session_id} seq {done['seq']}: {counts}"])


@click.command(cls=Command)
@click.argument("session_id")
@click.option(
    "--keep",
    type=click.IntRange(0, 10_000),
    default=0,
    show_default=True,
    help="Newest messages to keep live.",
)
@click.option("--wait", is_flag=True, help="Wait until the memories are written; exit code 1 if that fails.")
@click.option("--timeout", type=click.FloatRange(0), default=600, show_default=True, help="Seconds to wait.")
@pass_settings
def commit(settings: Settings, session_id: str, keep: int, wait: bool, timeout: float) -> None:
    """Archive a session's messages and extract memories from them."""
    with settings.client() as client:
        done = client.commit(session_id, keep_recent_count=keep)
        task_id = done["task_id"]
        task = client.wait_for_task(task_id, timeout=timeout) if wait and task_id else None
    emit({**done, "task": task} if wait else done, _outcome(done, task))
    if task and task["status"] != "completed":
        raise click.ClickException(f"task {task_id} {task['status']}")


def _row(session: Session) -> str:
    commits = session.get("commit_count", 0)
    return f"{minute(session.get('updated_at'))}  {commits:>3} commits  {shown(session['session_id'])}"


def _lines(session: Session) -> Iterator[str]:
    yield f"{shown(session['session_id'])}  {session['uri']}"
    yield f"created {minute(session.get('created_at'))}, last message {minute(session.get('last_message_at'))}"
    live, total = session.get("message_count"), session.get("total_message_count")
    yield f"{total} messages, {live} of them live ({session.get('pending_tokens')} tokens)"
    archives = ", ".join(f"{count} {status}" for status, count in session.get("archives", {}).items())
    yield f"{session.get('commit_count')} commits; archives: {archives}"


def _outcome(done: Committed, task: Task | None) -> Iterator[str]:
    if not done["archived"]:
        yield f"nothing to commit: {done.get('reason')}"
        return
    yield f"committed as {done.get('archive_uri')}"
    if task:
        yield from task_lines(task)
    else:
        yield f"task {done['task_id']}"
