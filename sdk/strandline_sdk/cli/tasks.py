"""`strandline tasks`."""

import json
from collections.abc import Iterator

import click

from strandline_sdk.cli.base import Group, Settings, pass_settings
from strandline_sdk.cli.output import emit, shown
from strandline_sdk.model import Task


@click.group(cls=Group)
def tasks() -> None:
    """Background work: what a commit started."""


@tasks.command()
@click.argument("task_id")
@pass_settings
def show(settings: Settings, task_id: str) -> None:
    """Show where a task stands."""
    with settings.client() as client:
        task = client.task(task_id)
    emit(task, task_lines(task))


def task_lines(task: Task) -> Iterator[str]:
    """Status and stage, what it is about, and why it failed."""
    yield f"{task['task_id']}  {task['task_type']}  {task.get('resource_id', '-')}"
    yield f"{task['status']}  stage {task.get('stage') or '-'}  attempts {task.get('attempts', 0)}"
    if task.get("error"):
        yield f"error: {shown(task['error'])}"
    for name, value in (task.get("result") or {}).items():
        yield f"{name}: {shown(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))}"
