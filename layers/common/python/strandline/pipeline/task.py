"""Tasks: a commit on its way through extract and merge, as its owner sees it."""

from functools import partial

from strandline.domain import session
from strandline.domain.contracts import SessionRef
from strandline.domain.errors import FailedPrecondition, NotFound, Unavailable
from strandline.domain.session import Archive, Head
from strandline.domain.times import stamp
from strandline.pipeline.commit import heal_marker, request_extract
from strandline.pipeline.services import Services
from strandline.ports import Item, StoreError
from strandline.storage.document import Change
from strandline.storage.layout import Life, User


def get(services: Services, owner: User, task_id: str) -> Item:
    """Raises NotFound, also for another user's task."""
    try:
        task = services.tasks.get(owner, task_id)
    except StoreError as error:
        raise Unavailable("the table did not answer; repeat the request") from error
    if task is None:
        raise NotFound(f"there is no task {task_id!r}")
    return task


def retry(services: Services, owner: User, task_id: str) -> Item:
    """A failed archive is extracted again from what is stored. Raises NotFound, FailedPrecondition."""
    task = get(services, owner, task_id)
    whose = SessionRef(
        account_id=owner.account_id,
        user_id=owner.user_id,
        session_id=task["resource_id"],
        incarnation=task.get("incarnation") or "",
    )
    if task["status"] != "failed" or not whose.incarnation or "archive" not in task:
        raise FailedPrecondition(f"only a failed task can be retried, this one is {task['status']}")
    archive = _revive(services, owner, whose, int(task["archive"]))
    request_extract(services, whose, archive)
    return get(services, owner, task_id)


def _revive(services: Services, owner: User, whose: SessionRef, number: int) -> Archive:
    key = owner.head(whose.session_id)
    found = services.heads.read(key)
    waiting = [a for a in (*found.value.failed, *found.value.pending) if a.number == number] if found else []
    if not waiting:
        raise FailedPrecondition("its archive is not waiting for a retry")
    try:
        services.objects.delete(Life(whose).archive_file(number, "failed.json"))
        services.due.put(heal_marker(services, whose, waiting[0]))
    except StoreError as error:
        raise Unavailable("a store did not answer; repeat the request") from error
    services.heads.update(key, partial(_retried, whose=whose, number=number, now=stamp(services.clock.now())))
    return waiting[0]


def _retried(head: Head | None, *, whose: SessionRef, number: int, now: str) -> Change[Head, None]:
    if head is None or head.incarnation != whose.incarnation or head.buried_at:
        raise NotFound("its session was deleted")
    again = session.retry(head, number, now=now)
    return Change(None if again is head else again, None)
