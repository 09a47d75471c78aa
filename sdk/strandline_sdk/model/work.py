"""Work in the background: tasks, scrubs, rebuilds, and the journal of events."""

from typing import Any, Literal, Required, TypedDict

TaskStatus = Literal["pending", "running", "completed", "failed", "cancelled"]


class Task(TypedDict, total=False):
    task_id: Required[str]
    task_type: Required[str]
    status: Required[TaskStatus]
    stage: str | None
    resource_id: str
    created_at: str
    updated_at: str
    attempts: int
    result: dict[str, Any] | None
    error: str | None


class JournalEntry(TypedDict, total=False):
    """What happened to the user's sessions and memories; the memories that changed stand there by their URIs."""

    id: Required[str]
    type: Required[str]
    version: int
    at: str
    session_id: str
    archive: int
    first_seq: int
    last_seq: int
    task_id: str
    stage: str
    added: list[str]
    updated: list[str]
    deleted: list[str]
    reason: str


class Scrub(TypedDict):
    """A scrub, `running`, `waiting` to go over it all again, or `completed`; counts by area and by kind of secret."""

    scrub_id: str
    status: str
    stage: str
    session_id: str | None
    dry_run: bool
    begun_at: str
    ended_at: str | None
    error: str | None
    objects: dict[str, int]
    items: dict[str, int]
    changed: dict[str, int]
    versions: dict[str, int]
    findings: dict[str, int]
    names: dict[str, int]
    unreadable: dict[str, int]


class Rebuild(TypedDict, total=False):
    """How far a rebuild is: `finding`, `extracting`, `merging`, `ready` or `promoted`."""

    rebuild_id: Required[str]
    status: Required[str]
    again: bool
    session_id: str | None
    sessions: dict[str, int]
    archives: dict[str, int]
