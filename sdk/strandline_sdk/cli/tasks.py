"""`strandline tasks`."""

import itertools
import json
from collections.abc import Iterator
from typing import get_args

import click

from strandline_sdk.cli.base import Group, Settings, limit_option, pass_settings, timeout_option
from strandline_sdk.cli.output import emit, minute, shown
from strandline_sdk.model import Task, TaskStatus

_ID = 40
"""The longest id of a task: that of a lesson."""


@click.group(cls=Group)
def tasks() -> None:
    """Background work: what a commit started."""


@tasks.command()
@click.option("--status", type=click.Choice(get_args(TaskStatus)), help="Only tasks that stand like this.")
@click.option("--type", "task_type", help="Only tasks of this type, such as session_commit.")
@click.option("--session", "session_id", help="Only tasks about this session.")
@limit_option
@pass_settings
def ls(
    settings: Settings, status: TaskStatus | None, task_type: str | None, session_id: str | None, limit: int
) -> None:
    """List tasks, newest first. Completed ones are kept for a day, failed ones for a week."""
    with settings.client() as client:
        found = client.tasks(
            task_type=task_type, status=status, resource_id=session_id, page_size=min(limit, 100)
        )
        rows = list(itertools.islice(found, limit))
    emit(rows, map(_row, rows))


@tasks.command()
@click.argument("task_id")
@pass_settings
def show(settings: Settings, task_id: str) -> None:
    """Show where a task stands."""
    with settings.client() as client:
        task = client.task(task_id)
    emit(task, task_lines(task))


@tasks.command()
@click.argument("task_id")
@click.option("--wait", "waits", is_flag=True, help="Wait until it has ended; exit code 1 if it fails.")
@timeout_option
@pass_settings
def retry(settings: Settings, task_id: str, waits: bool, timeout: float) -> None:
    """Start a failed or cancelled task again, from what is stored."""
    with settings.client() as client:
        task = client.retry_task(task_id)
        task = client.wait_for_task(task_id, timeout=timeout) if waits else task
    emit(task, task_lines(task))
    if waits and task["status"] != "completed":
        raise click.ClickException(f"task {task_id} {task['status']}: {task.get('error')}")


@tasks.command()
@click.argument("task_id")
@pass_settings
def cancel(settings: Settings, task_id: str) -> None:
    """Call a task off. The messages that it is about stay, and it can be retried."""
    with settings.client() as client:
        task = client.cancel_task(task_id)
    emit(task, task_lines(task))


def task_lines(task: Task) -> Iterator[str]:
    """Status and stage, what it is about, and why it failed."""
    yield f"{task['task_id']}  {task['task_type']}  {task.get('resource_id', '-')}"
    yield f"{task['status']}  stage {task.get('stage') or '-'}  attempts {task.get('attempts', 0)}"
    if task.get("error"):
        yield f"error: {shown(task['error'])}"
    for name, value in (task.get("result") or {}).items():
        if value is not None:
            yield f"{name}: {shown(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))}"


def _row(task: Task) -> str:
    about = f"{task['status']:<9}  {task.get('stage') or '-':<8}  {shown(task.get('resource_id', '-'))}"
    error = f"  {shown(task['error'], 60)}" if task.get("error") else ""
    return f"{minute(task.get('created_at'))}  {task['task_id']:<{_ID}}  {about}{error}"
