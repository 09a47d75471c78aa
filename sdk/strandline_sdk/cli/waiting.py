"""Waiting until a session's memories are written, and what can be wrong with them then."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from strandline_sdk.cli.output import count
from strandline_sdk.client import Client
from strandline_sdk.model import Task


@dataclass(frozen=True)
class Outcome:
    """A commit's task, None where it has not ended in time or there was none, and the session's archives by status."""

    task_id: str | None
    task: Task | None
    archives: Mapping[str, int] = field(default_factory=dict)

    def problem(self) -> str | None:
        """What failed or has not ended; None when every memory is written."""
        if self.task_id and not self.task:
            return f"task {self.task_id} has not ended yet; strandline tasks show tells more"
        if self.task and self.task["status"] != "completed":
            return f"task {self.task_id} {self.task['status']}: {self.task.get('error')}"
        if pending := self.archives.get("pending"):
            return f"{count(pending, 'archive')} still pending; strandline sessions show tells more"
        if failed := self.archives.get("failed"):
            return f"{count(failed, 'archive')} failed"
        return None


def outcome(client: Client, session_id: str, task_id: str | None, deadline: float) -> Outcome:
    """Waits, until `deadline` on the monotonic clock, for the task and for the archives of earlier commits."""
    task = _ended(client, task_id, deadline) if task_id else None
    return Outcome(task_id, task, _archives(client, session_id, deadline))


def _ended(client: Client, task_id: str, deadline: float) -> Task | None:
    try:
        return client.wait_for_task(task_id, timeout=_left(deadline))
    except TimeoutError:
        return None


def _archives(client: Client, session_id: str, deadline: float) -> Mapping[str, int]:
    try:
        session = client.wait_for_archives(session_id, timeout=_left(deadline))
    except TimeoutError:
        session = client.session(session_id)
    return session.get("archives", {})


def _left(deadline: float) -> float:
    return max(0.0, deadline - time.monotonic())
