from typing import cast

import pytest

from strandline_sdk.cli.tasks import task_lines
from strandline_sdk.model import Task
from tests.unit.sdk.commands import document, run
from tests.unit.sdk.fake_service import FakeService


@pytest.fixture
def running(service: FakeService) -> FakeService:
    """Three tasks that do not end."""
    service.polls = 1_000_000
    for name in "abc":
        run(service, "send", name, "hello")
        run(service, "commit", name)
    return service


def ids(service: FakeService, *options: str) -> list[str]:
    return [task["task_id"] for task in document(service, "tasks", "ls", *options)]


def test_tasks_are_listed_newest_first_and_narrowed(running: FakeService) -> None:
    running.page = 2
    assert ids(running) == ["task-3", "task-2", "task-1"]
    assert ids(running, "--limit", "2") == ["task-3", "task-2"]
    assert ids(running, "--session", "b") == ["task-2"]
    assert ids(running, "--status", "failed") == []
    assert ids(running, "--type", "session_commit", "--status", "running") == ["task-3", "task-2", "task-1"]
    assert run(running, "tasks", "ls", "--status", "lost").exit_code == 2


def test_a_line_a_task(running: FakeService) -> None:
    running.task_error, running.polls = "no quote\nfound \x1b[31m", 0
    assert run(running, "tasks", "ls", "--session", "b").stdout == (
        f"-  {'task-2':<40}  failed     merge     b  no quote found \ufffd[31m\n"
    )


def test_what_a_task_has_not_is_not_shown() -> None:
    task = {
        "task_id": "t",
        "task_type": "session_commit",
        "status": "completed",
        "created_at": "",
        "attempts": 1,
    }
    found = {**task, "result": {"archive": 1, "tokens": None, "memories_extracted": {"total": 2}}}
    assert list(task_lines(cast(Task, found)))[2:] == ["archive: 1", 'memories_extracted: {"total": 2}']


def test_a_task_is_called_off_once(running: FakeService) -> None:
    assert "cancelled  stage merge" in run(running, "tasks", "cancel", "task-2").stdout
    again = run(running, "tasks", "cancel", "task-2")
    assert (again.exit_code, again.stdout) == (1, "")
    assert again.stderr == "Error: FAILED_PRECONDITION: the task has ended (request r-1)\n"


def test_a_task_is_started_again_and_waited_for(running: FakeService) -> None:
    assert document(running, "tasks", "retry", "task-1")["status"] == "running"
    running.polls = 1
    done = run(running, "tasks", "retry", "task-1", "--wait")
    assert (done.exit_code, "completed  stage merge" in done.stdout) == (0, True)
    running.task_error = "no quote found"
    failed = run(running, "tasks", "retry", "task-1", "--wait")
    assert (failed.exit_code, failed.stderr) == (1, "Error: task task-1 failed: no quote found\n")
