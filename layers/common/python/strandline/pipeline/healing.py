"""healing: an archive whose task has stood still, as the sweep finds it by its marker.

What becomes of it is drawn in `sweep.py`, under `heal`.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from strandline.domain.contracts import ExtractRequested
from strandline.domain.session import Head, archived_by, find_archive
from strandline.domain.times import stamp
from strandline.pipeline import outcome
from strandline.pipeline.commit import extract_request, request_extract
from strandline.pipeline.extract import announce_commit
from strandline.pipeline.library import Library
from strandline.ports import Item
from strandline.storage.due import Due
from strandline.storage.layout import head_key, user_of


def heal(services: Library, due: Due, now: datetime) -> str | None:
    """Looks at the archive that a marker names; answers `healed`, `moved`, or None where nothing was to be done."""
    found = services.heads.read(head_key(due.session))
    head = found.value if found else None
    if head is None or head.buried_at or head.incarnation != due.session.incarnation:
        services.due.remove(due)
        return None
    pending = find_archive(head.pending, due.archive)
    known = find_archive((*head.pending, *head.failed), due.archive)
    if known is not None:
        announce_commit(services, head, extract_request(due.session, known))
    task = services.tasks.get(user_of(due.session), due.task_id)
    if pending is None:
        return _agree(services, due, head, task)
    if _moves_on(services, task, now):
        services.due.move(due, replace(due, at=services.due_at()))
        return "moved"
    if due.rounds >= services.rules.heal_rounds:
        outcome.fail(
            services, extract_request(due.session, pending), "sweep", "no progress after repeated attempts"
        )
        services.due.remove(due)
    else:
        request_extract(services, due.session, pending, ended_at=(task or {}).get("ended_at"))
        services.due.move(due, replace(due, at=services.due_at(), rounds=due.rounds + 1))
    return "healed"


def _moves_on(services: Library, task: Item | None, now: datetime) -> bool:
    """Whether a worker has noted itself on the task since the sweep looked last."""
    since = stamp(now - timedelta(seconds=services.rules.heal_seconds))
    return task is not None and task["status"] == "running" and task["updated_at"] > since


def _agree(services: Library, due: Due, head: Head, task: Item | None) -> str | None:
    """The archive has ended: a task that a crash left open, or left failed where a late merge has succeeded, ends like
    it, and the session list shows it."""
    services.sessions.mend(head)
    failed = find_archive(head.failed, due.archive)
    if failed is not None:
        outcome.report(services, extract_request(due.session, failed), failed, "sweep")
    behind = ("pending", "running") if failed else ("pending", "running", "failed")
    is_open = task is not None and task["status"] in behind and _is_of(task, due, head)
    if is_open and failed is not None:
        services.tasks.fail(due.session, due.task_id, due.archive, stage="sweep", reason=failed.reason or "")
    elif is_open and _finish(services, due, head):
        return "healed"
    services.due.remove(due)
    return "healed" if is_open else None


def _is_of(task: Item, due: Due, head: Head) -> bool:
    """Whether it is this archive's task, and not one of a commit that died before it made this archive. That of an
    automatic commit may have been noted before the archive was, and not since."""
    if task.get("archive", due.archive) is not None:
        return bool(task.get("archive", due.archive) == due.archive)
    made = archived_by(head, due.task_id)
    return made is not None and made.number == due.archive


def _finish(services: Library, due: Due, head: Head) -> bool:
    """The archive is done by its head, but its merge has not come to its end: it is sent on its way again, where
    nothing is done twice. False when that has come to nothing too often: then only its task is completed."""
    span = services.log.find(head, due.archive)
    if span is None or due.rounds >= services.rules.heal_rounds:
        result = {"session_id": head.session_id, "archive": due.archive}
        services.tasks.complete(due.session, due.task_id, result)
        return False
    first, last = span
    services.extract_queue.send(
        ExtractRequested(
            session=due.session, archive=due.archive, first=first, last=last, task_id=due.task_id
        )
    )
    services.due.move(due, replace(due, at=services.due_at(), rounds=due.rounds + 1))
    return True
