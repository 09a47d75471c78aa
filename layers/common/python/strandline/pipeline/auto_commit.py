"""auto commit: a commit that the session's policy asks for, or its context.

in             CommitRequested with the task that was announced
out            what commit puts out, or why nothing was to be done
commit point   commit's: CAS PUT of the session head, which also notes when it was and clears the last failure
on duplicate   it decides on the head as it is, whatever the request was made for (for a context: what is live up to the
               seq it names, so the second of two finds nothing); an archive that was made under the
               same task is answered instead of making another, and a task that has ended makes none
on crash       the request comes again; should it be lost, its due marker makes the sweep ask again
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from strandline.domain.auto_commit import decide
from strandline.domain.contracts import CommitRequested, SessionRef
from strandline.domain.errors import NotFound, StrandlineError
from strandline.domain.redaction import scrub
from strandline.domain.session import CommitPlan, Head, Skip
from strandline.pipeline.breaker import nothing_to_do, request_failed
from strandline.pipeline.commit import Committed, archive_live, plan_commit, plan_through
from strandline.pipeline.services import Services
from strandline.pipeline.trigger import REASON_CHARS, note_failure
from strandline.ports import Item, StoreError
from strandline.storage.answered import answered
from strandline.storage.layout import user_of
from strandline.storage.records import COMPLETED_KEPT

NOT_DUE = "not_due"
GONE = "session_gone"
CALLED_OFF = "cancelled"
FOREIGN = "not_its_task"


def run_auto_commit(services: Services, request: CommitRequested) -> Committed | Skip:
    """Commits the session if its policy, or its context, still wants it.

    Raises what `run_commit` raises, after noting the reason on the session: the request must be delivered again.
    """
    try:
        done = _commit(services, request)
    except (StoreError, StrandlineError) as error:
        known = isinstance(error, StrandlineError)
        note_failure(services, request.session, str(error) if known else type(error).__name__)
        raise
    _let_go(services, request)
    if isinstance(done, Skip):
        skip(services, request, done.reason)
    return done


def _commit(services: Services, request: CommitRequested) -> Committed | Skip:
    over = _over(services, request)
    if over in (CALLED_OFF, FOREIGN):
        return Skip(over)

    def plan(head: Head) -> CommitPlan | Skip:
        if over:
            return Skip(over)
        planned = _planned(services, request, head)
        return planned if isinstance(planned, Skip) else replace(planned, by=task_id, task=task_id)

    task_id = request.task_id
    try:
        return archive_live(services, request.session, plan, task_id)
    except NotFound:
        return Skip(GONE)


def _planned(services: Services, request: CommitRequested, head: Head) -> CommitPlan | Skip:
    if request.through:
        return plan_through(services.log, head, request.through, services.clock.now())
    wanted = decide(head, services.clock.now(), services.rules.triggers)
    return plan_commit(services, head, wanted.keep_recent_count) if wanted else Skip(NOT_DUE)


def _over(services: Services, request: CommitRequested) -> str | None:
    """Notes that a worker is at the task, or answers why no archive is to be made for it: it is not the session's, its
    owner has cancelled it, or it has ended. A task that has failed or was lost may be done again."""
    whose, task_id = request.session, request.task_id or ""
    with answered():
        if services.tasks.turn(whose, task_id, "pending", status="running"):
            return None
        task = services.tasks.get(user_of(whose), task_id)
    return _why_over(task, whose) if task else None


def _why_over(task: Item, whose: SessionRef) -> str | None:
    if "archive" not in task or task.get("incarnation") != whose.incarnation:
        return FOREIGN
    if task["status"] == "cancelled":
        return CALLED_OFF
    return NOT_DUE if task["archive"] is not None or task["status"] == "completed" else None


def skip(services: Services, request: CommitRequested, reason: str) -> None:
    """There was nothing to do: the task, if it has no archive, has ended so."""
    result = {"session_id": request.session.session_id, "archived": False, "reason": reason}
    ended = {"status": "completed", "stage": "done", "result": result, "error": None}
    _end(services, request, ended)
    if request.through:
        nothing_to_do(services, request.session, request.task_id or "")


def give_up(services: Services, request: CommitRequested, reason: str) -> None:
    """Nothing will come of this request: its task, if it has no archive, has failed. The session's next write or the
    sweep asks anew."""
    _end(services, request, {"status": "failed", "error": scrub(reason)[:REASON_CHARS]})
    if request.through:
        request_failed(services, request.session, request.task_id or "", reason)
    _let_go(services, request)


def _end(services: Services, request: CommitRequested, ended: Mapping[str, Any]) -> None:
    with answered():
        for status in ("running", "pending"):
            if services.tasks.turn(
                request.session, request.task_id or "", status, kept=COMPLETED_KEPT, **ended
            ):
                return


def _let_go(services: Services, request: CommitRequested) -> None:
    if request.lease:
        services.leases.let_go(request.session, "commit", request.lease)
