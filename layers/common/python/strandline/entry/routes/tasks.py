"""Tasks: how far a commit has come."""

from typing import Annotated, Any, Literal

from aws_lambda_powertools.event_handler.openapi.params import Query

from strandline.domain.errors import Aborted, FailedPrecondition, NotFound
from strandline.entry.answers import answers
from strandline.entry.http import ok
from strandline.entry.repeat import repeat
from strandline.entry.results.tasks import Task
from strandline.entry.routes.asking import asker, new_router, owner, seal, unseal
from strandline.entry.wiring import library
from strandline.pipeline import task

router = new_router()

Status = Literal["pending", "running", "completed", "failed", "cancelled"]

_SHOWN = (
    "task_id",
    "task_type",
    "status",
    "stage",
    "resource_id",
    "created_at",
    "updated_at",
    "attempts",
    "result",
    "error",
)


@router.get("/api/v1/tasks")
@answers(list[Task], paged=True)
def list_tasks(
    task_type: Annotated[str | None, Query(max_length=64)] = None,
    status: Status | None = None,
    resource_id: Annotated[str | None, Query(max_length=128)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: str | None = None,
) -> dict[str, Any]:
    """The user's tasks that are still kept, newest first. A page may be short and still have a next one."""
    whose = owner(router)
    known = library()
    given = {"task_type": task_type, "status": status, "resource_id": resource_id}
    wanted = {name: value for name, value in given.items() if value is not None}
    name = f"tasks/{sorted(wanted.items())}"
    page = task.page(known, whose, wanted, after=unseal(cursor, whose, name), limit=limit)
    return ok([_shown(item) for item in page.items], known.clock, next_cursor=seal(page.next, whose, name))


@router.get("/api/v1/tasks/<task_id>")
@answers(Task)
def look(task_id: str) -> dict[str, Any]:
    """One task; another user's is not found."""
    known = library()
    try:
        found = task.get(known, owner(router), task_id)
    except (
        NotFound
    ):  # an erasure is the task of whoever asked for it, also while that one acts for somebody else
        found = task.get(known, asker(router), task_id)
    return ok(_shown(found), known.clock)


@router.post("/api/v1/tasks/<task_id>/retry")
@answers(Task, FailedPrecondition, Aborted)
def retry(task_id: str) -> dict[str, Any]:
    """Extracts a failed or cancelled archive again."""
    known = library()
    return ok(_shown(task.retry(known, owner(router), task_id, repeat())), known.clock)


@router.post("/api/v1/tasks/<task_id>/cancel")
@answers(Task, FailedPrecondition, Aborted)
def cancel(task_id: str) -> dict[str, Any]:
    """Cancels the extraction of an archive; its messages stay, and the task can be retried."""
    known = library()
    return ok(_shown(task.cancel(known, owner(router), task_id, repeat())), known.clock)


def _shown(item: Any) -> dict[str, Any]:
    return {name: item.get(name) for name in _SHOWN}
