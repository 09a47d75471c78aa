"""trigger: a commit is requested for a session whose policy asks for one.

in             the head, as it has just been written or as the sweep has found it
out            CommitRequested, and the id of the task that follows it
commit point   none: the commit function decides again on a fresh head, and commits
on duplicate   while the lease is held nobody else sends a request; without it a second request would find nothing to do
on crash       before the lease: the next write or the sweep requests it. After the lease: the next write does when the
               lease has expired; once the due marker is written, the sweep does
cost           of a write that needs no commit: nothing. Of one that does: three table writes, one message
"""

import logging
from contextlib import suppress
from functools import partial

from strandline.domain import auto_commit
from strandline.domain.contracts import CommitRequested, SessionRef
from strandline.domain.errors import StrandlineError
from strandline.domain.failure import kind_of
from strandline.domain.redaction import scrub
from strandline.domain.session import Head
from strandline.domain.times import parse, stamp
from strandline.pipeline.services import Services
from strandline.ports import StoreError
from strandline.storage.document import Change
from strandline.storage.due import Due
from strandline.storage.layout import head_key
from strandline.storage.log import ref
from strandline.storage.records import dated

log = logging.getLogger(__name__)

REASON_CHARS = 500
NOTED_AGAIN_SECONDS = 60


def run_trigger(services: Services, head: Head) -> str | None:
    """Asks for a commit if the session's policy wants one; answers the task's id. What fails is noted on the session
    and made up for by its next write or by the sweep; what nobody has foreseen is logged."""
    try:
        wanted = auto_commit.decide(head, services.clock.now(), services.rules.triggers)
        return ask(services, ref(head)) if wanted else None
    except StoreError:
        return None
    except Exception as error:  # noqa: BLE001 - the messages are stored, so the write has succeeded
        log.error("a commit could not be asked for: %s", kind_of(error))
        return None


def ask(services: Services, whose: SessionRef) -> str | None:
    """Asks for a commit, under a task of its own; None while another is under way. What is raised, StoreError or what
    nobody has foreseen, is noted on the session."""
    try:
        return _ask(services, whose)
    except Exception as error:
        note_failure(services, whose, f"the commit could not be asked for: {type(error).__name__}")
        raise


def _ask(services: Services, whose: SessionRef) -> str | None:
    token = services.ids.new()
    if not services.leases.take(whose, "commit", token):
        return None
    task_id = dated(stamp(services.clock.now()), token)
    services.due.put(Due(services.due_at(), "commit", whose, task_id=task_id))
    with suppress(StoreError):  # the commit notes its task again
        services.tasks.announce(whose, task_id)
    services.commit_queue.send(CommitRequested(session=whose, task_id=task_id, lease=token))
    return task_id


def ask_again(services: Services, whose: SessionRef, task_id: str, *, through: int | None = None) -> bool:
    """Asks once more on behalf of a task, for a context up to that seq; False while another is under way. Raises
    StoreError."""
    token = services.ids.new()
    if not services.leases.take(whose, "commit", token):
        return False
    services.commit_queue.send(CommitRequested(session=whose, task_id=task_id, lease=token, through=through))
    return True


def note_failure(services: Services, whose: SessionRef, reason: str) -> None:
    """Notes on the session why an automatic commit came to nothing, without secrets; the same reason at most once a
    minute."""
    change = partial(_note, whose=whose, reason=scrub(reason)[:REASON_CHARS], now=stamp(services.clock.now()))
    with suppress(StoreError, StrandlineError):
        services.heads.update(head_key(whose), change)


def _note(head: Head | None, *, whose: SessionRef, reason: str, now: str) -> Change[Head, None]:
    gone = head is None or head.buried_at or head.incarnation != whose.incarnation
    if head is None or gone or _noted(head, reason, now):
        return Change(None, None)
    return Change(auto_commit.stumbled(head, reason, now), None)


def _noted(head: Head, reason: str, now: str) -> bool:
    at = head.auto_commit_last_error_at
    if at is None or head.auto_commit_last_error != reason:
        return False
    return (parse(now) - parse(at)).total_seconds() < NOTED_AGAIN_SECONDS
