"""Tasks as they are shown."""

from typing import Any, Literal

from typing_extensions import TypedDict


class Task(TypedDict):
    """A commit on its way through extract and merge, an erasure, or a rebuild. `result` is there once it is
    completed, `error` when it failed."""

    task_id: str
    task_type: str
    status: Literal["pending", "running", "completed", "failed", "cancelled"]
    stage: str
    resource_id: str
    created_at: str
    updated_at: str
    attempts: int
    result: dict[str, Any] | None
    error: str | None
