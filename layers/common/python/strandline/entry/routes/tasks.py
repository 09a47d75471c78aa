"""Tasks: how far a commit has come."""

from typing import Any

from strandline.entry.http import ok
from strandline.entry.routes.asking import new_router, owner
from strandline.entry.wiring import library
from strandline.pipeline import task

router = new_router()

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


@router.get("/api/v1/tasks/<task_id>")
def look(task_id: str) -> dict[str, Any]:
    """One task; another user's is not found."""
    known = library()
    return ok(_shown(task.get(known, owner(router), task_id)), known.clock)


@router.post("/api/v1/tasks/<task_id>/retry")
def retry(task_id: str) -> dict[str, Any]:
    """Extracts a failed archive again."""
    known = library()
    return ok(_shown(task.retry(known, owner(router), task_id)), known.clock)


def _shown(item: Any) -> dict[str, Any]:
    return {name: item.get(name) for name in _SHOWN}
