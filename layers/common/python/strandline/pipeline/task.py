"""Tasks: a commit on its way through extract and merge, and what is learnt of it, as their owner sees them."""

from collections.abc import Mapping
from contextlib import suppress
from functools import partial

from strandline.domain import session
from strandline.domain.contracts import SessionRef
from strandline.domain.errors import FailedPrecondition, NotFound
from strandline.domain.repeat import Repeat
from strandline.domain.session import CANCELLED, Archive, Head, find_archive
from strandline.domain.times import stamp
from strandline.pipeline import learning, outcome
from strandline.pipeline.commit import extract_request, heal_marker, load_head, request_extract
from strandline.pipeline.services import Services
from strandline.pipeline.trigger import ask_again
from strandline.ports import Item, Page, StoreError
from strandline.storage.answered import answered
from strandline.storage.document import Change
from strandline.storage.due import Due
from strandline.storage.layout import User, head_key, user_of

OPEN = ("pending", "running")
ENDED_BADLY = ("failed", "cancelled")
SCAN_PAGE = 200
SCANNED = 1000


def get(services: Services, owner: User, task_id: str) -> Item:
    """Raises NotFound, also for another user's task."""
    with answered():
        task = services.tasks.get(owner, task_id)
    if task is None:
        raise NotFound(f"there is no task {task_id!r}", type="task", resource=task_id)
    return task


def page(
    services: Services, owner: User, wanted: Mapping[str, str], *, after: str | None, limit: int
) -> Page:
    """The tasks that have these values, newest first.

    It looks through about `SCANNED` of them: a page may be short, or even empty, and still say where to go on.
    """
    found: list[Item] = []
    for _ in range(SCANNED // SCAN_PAGE):
        tasks = _scan(services, owner, after)
        for item in tasks.items:
            if all(item.get(name) == value for name, value in wanted.items()):
                if len(found) == limit:
                    return Page(found, found[-1]["task_id"])
                found.append(item)
        after = tasks.next
        if after is None:
            break
    return Page(found, after)


def _scan(services: Services, owner: User, after: str | None) -> Page:
    with answered():
        return services.tasks.page(owner, after=after, limit=SCAN_PAGE)


def cancel(services: Services, owner: User, task_id: str, repeat: Repeat | None = None) -> Item:
    """Calls off what follows a commit: its archive gives no memories and its text stays in the context, until the
    task is retried. What is being merged at this moment may still complete.

    Raises NotFound, FailedPrecondition when the task has ended.
    """
    task = get(services, owner, task_id)
    if "archive" not in task:
        raise FailedPrecondition("only the task of a commit can be cancelled")
    if repeat and repeat.again and task["status"] == "cancelled":
        return task
    if task["archive"] is None:
        return _call_off(services, owner, task)
    whose = _session_of(owner, task)
    head = load_head(services, owner, whose.session_id)
    archive = find_archive((*head.pending, *head.failed), int(task.get("archive") or 0))
    if task["status"] not in OPEN or archive is None or head.incarnation != whose.incarnation:
        raise FailedPrecondition(f"only an open task can be cancelled, this one is {task['status']}")
    outcome.fail(services, extract_request(whose, archive), "cancel", CANCELLED)
    after = get(services, owner, task_id)
    if after["status"] == "completed":
        raise FailedPrecondition("the task has completed meanwhile")
    return after


def retry(services: Services, owner: User, task_id: str, repeat: Repeat | None = None) -> Item:
    """A failed or cancelled archive is extracted again from what is stored. What an earlier attempt of the same request
    has set going goes on (should it have died before it sent the request, the sweep does).

    Raises NotFound, FailedPrecondition.
    """
    task = get(services, owner, task_id)
    if repeat and repeat.again and task["status"] not in ENDED_BADLY:
        return task
    whose = _session_of(owner, task)
    if task["status"] in ENDED_BADLY and task["task_type"] == learning.TASK_TYPE:
        learning.ask_again(services, learning.request_of(whose, task), task.get("ended_at"))
        return get(services, owner, task_id)
    if task["status"] in ENDED_BADLY and task.get("archive", 0) is None:
        return _ask_again(services, owner, task)
    if task["status"] not in ENDED_BADLY or not whose.incarnation or "archive" not in task:
        raise FailedPrecondition(
            f"only a failed or cancelled task can be retried, this one is {task['status']}"
        )
    revive(services, whose, int(task["archive"]), task)
    return get(services, owner, task_id)


def _call_off(services: Services, owner: User, task: Item) -> Item:
    """A commit that nobody is at yet. The session's next write or the sweep may ask for another."""
    with answered():
        off = services.tasks.turn(
            _session_of(owner, task), task["task_id"], "pending", status="cancelled", error=CANCELLED
        )
    if not off:
        now = get(services, owner, task["task_id"])["status"]
        why = "this commit is being made" if now in OPEN else f"this one is {now}"
        raise FailedPrecondition(f"only an open task can be cancelled, and {why}")
    return get(services, owner, task["task_id"])


def _ask_again(services: Services, owner: User, task: Item) -> Item:
    """An automatic commit that failed before there was an archive is asked for again."""
    whose = _session_of(owner, task)
    with answered("a store did not answer; repeat the request"):
        services.due.put(Due(services.due_at(), "commit", whose, task_id=task["task_id"]))
        services.tasks.turn(whose, task["task_id"], task["status"], status="pending", error=None)
        ask_again(services, whose, task["task_id"])
    return get(services, owner, task["task_id"])


def _session_of(owner: User, task: Item) -> SessionRef:
    return SessionRef(
        account_id=owner.account_id,
        user_id=owner.user_id,
        session_id=task["resource_id"],
        incarnation=task.get("incarnation") or "",
    )


def revive(services: Services, whose: SessionRef, number: int, task: Item | None = None) -> None:
    """A failed archive is extracted again; its task is looked up when it is not given. Raises FailedPrecondition,
    NotFound, Unavailable."""
    archive = _revive(services, whose, number)
    if task is None:
        with suppress(StoreError):
            task = services.tasks.get(user_of(whose), extract_request(whose, archive).task_id)
    request_extract(services, whose, archive, ended_at=(task or {}).get("ended_at"))


def _revive(services: Services, whose: SessionRef, number: int) -> Archive:
    key = head_key(whose)
    found = services.heads.read(key)
    waiting = [a for a in (*found.value.failed, *found.value.pending) if a.number == number] if found else []
    if not waiting:
        raise FailedPrecondition("its archive is not waiting for a retry")
    with answered("a store did not answer; repeat the request"):
        services.due.put(heal_marker(services, whose, waiting[0]))
    services.heads.update(key, partial(_retried, whose=whose, number=number, now=stamp(services.clock.now())))
    return waiting[0]


def _retried(head: Head | None, *, whose: SessionRef, number: int, now: str) -> Change[Head, None]:
    if head is None or head.incarnation != whose.incarnation or head.buried_at:
        raise NotFound("its session was deleted")
    again = session.retry(head, number, now=now)
    return Change(None if again is head else again, None)
