"""commit: what is live becomes an archive.

in             a session, and how many of its newest messages stay live
out            the archive and its task, or why there was nothing to do; ExtractRequested
commit point   CAS PUT of the session head that moves the archived range out of live
on duplicate   of two commits one wins; the other looks again and normally finds nothing to do. The archive's name
               carries its range, so a repeat writes the same bytes to the same key. A request that comes again with
               its Idempotency-Key finds the archive that it made
on crash       before the head's PUT: an archive object that nothing refers to, written again by the next commit.
               After it: the archive is pending, and the due marker written before it makes the sweep send
               ExtractRequested again
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from strandline.domain import auto_commit, session
from strandline.domain.contracts import ExtractRequested, SessionRef
from strandline.domain.errors import Aborted, NotFound
from strandline.domain.message import read_line
from strandline.domain.repeat import Repeat
from strandline.domain.session import Archive, CommitPlan, Head, Skip, find_archive
from strandline.domain.times import stamp
from strandline.domain.tool_calls import ABANDONED_AFTER, before_open_calls
from strandline.pipeline.services import Services
from strandline.ports import StoreError
from strandline.storage.answered import answered
from strandline.storage.document import Change
from strandline.storage.due import Due
from strandline.storage.layout import User, head_key, user_of
from strandline.storage.log import Log, ref
from strandline.storage.records import task_id

ATTEMPTS = 8
BY_CHARS = 16
ALREADY = "archived_already"


@dataclass(frozen=True)
class Committed:
    """The archive that a commit made, and the task that follows it through extract and merge."""

    session: SessionRef
    archive: Archive
    task_id: str


def run_commit(
    services: Services, whose: SessionRef, keep_recent_count: int = 0, repeat: Repeat | None = None
) -> Committed | Skip:
    """Archives everything live but the newest `keep_recent_count` messages. A reference with an incarnation means
    that life of the session and no other. What an earlier attempt of the same request has archived is not followed by
    a second archive.

    Raises NotFound; Aborted when it lost too many races: nothing was archived; Unavailable when the store did not
    answer: look at the session, or simply commit again.
    """
    by = repeat.derived("commit")[:BY_CHARS] if repeat else None

    def plan(head: Head) -> CommitPlan | Skip:
        planned = plan_commit(services, head, keep_recent_count)
        return planned if isinstance(planned, Skip) else replace(planned, by=by)

    return archive_live(services, whose, plan, by)


def archive_live(
    services: Services, whose: SessionRef, plan: Callable[[Head], CommitPlan | Skip], by: str | None
) -> Committed | Skip:
    """Archives what `plan` says of the head as it is; what an attempt `by` the same has archived is answered instead.

    Raises what `run_commit` raises, and what `plan` raises.
    """
    for _ in range(ATTEMPTS):
        head = load_head(services, user_of(whose), whose.session_id)
        if whose.incarnation not in ("", head.incarnation):
            raise NotFound("the session was deleted")
        before = session.archived_by(head, by)
        if before is not None:
            return _answered(services, head, before)
        planned = plan(head)
        if isinstance(planned, Skip):
            return planned
        done = _archive(services, head, planned)
        if done is not None:
            return _hand_over(services, done)
    raise Aborted("too many commits at once; nothing was archived, repeat the request")


def load_head(services: Services, owner: User, session_id: str) -> Head:
    """The session's head as it is now. Raises NotFound when there is none, or it was deleted."""
    found = services.heads.read(owner.head(session_id))
    if found is None or found.value.buried_at:
        raise no_session(session_id)
    return found.value


def no_session(session_id: str) -> NotFound:
    """What a client is told of a session that is not there, or not its own."""
    return NotFound(f"there is no session {session_id!r}", type="session", resource=session_id)


def plan_commit(services: Services, head: Head, keep_recent_count: int) -> CommitPlan | Skip:
    """Everything live but the newest `keep_recent_count` messages, and but the tool calls whose results are kept."""
    plan = session.plan_commit(head, keep_recent_count)
    if isinstance(plan, Skip) or plan.last == head.last_seq:
        return plan
    lines = services.log.live(head, plan.first, head.last_seq)
    tools = (read_line(line) for line in lines if _of_tools(line))
    last = before_open_calls(tools, plan.last)
    return replace(plan, last=last) if last >= plan.first else Skip(session.ALL_KEPT)


def plan_through(log: Log, head: Head, through: int, now: datetime) -> CommitPlan | Skip:
    """What is live up to that seq, but for the tool calls whose results stay, or may still come."""
    if through < head.live_from:
        return Skip(ALREADY if head.last_seq else session.NOTHING_LIVE)
    lines = log.live(head, head.live_from, head.last_seq)
    tools = [read_line(line) for line in lines if _of_tools(line)]
    since = stamp(now - ABANDONED_AFTER)
    last = before_open_calls(tools, min(through, head.last_seq), open_since=since)
    planned = CommitPlan(head.commit_count + 1, head.live_from, last)
    return planned if last >= head.live_from else Skip(session.ALL_KEPT)


def _of_tools(line: bytes) -> bool:
    return b'"tool_id"' in line or b'"role":"tool"' in line


def _archive(services: Services, head: Head, plan: CommitPlan) -> Head | None:
    lines = services.log.live(head, plan.first, plan.last)
    services.log.archive(ref(head), plan.number, plan.first, lines)
    now = services.clock.now()
    archive = Archive(plan.number, plan.first, plan.last, stamp(now), task=plan.task)
    with answered("the table did not answer; nothing was archived, repeat the request"):
        services.due.put(heal_marker(services, ref(head), archive))
    tokens = sum(read_line(line)["tokens"] for line in lines)
    change = partial(_change, incarnation=head.incarnation, plan=plan, tokens=tokens, now=stamp(now))
    return services.heads.update(head_key(ref(head)), change)


def _change(
    head: Head | None, *, incarnation: str, plan: CommitPlan, tokens: int, now: str
) -> Change[Head, Head | None]:
    if head is None or head.incarnation != incarnation or head.buried_at:
        raise NotFound("the session was deleted meanwhile")
    archived = session.archive(head, plan, tokens=tokens, now=now)
    if archived is not None and plan.task:
        archived = auto_commit.committed(archived, now)
    return Change(archived, archived)


def heal_marker(services: Services, session_ref: SessionRef, archive: Archive) -> Due:
    """What makes the sweep look at a pending archive, should its task not have ended by then."""
    task = task_id(session_ref, archive)
    return Due(services.due_at(), "heal", session_ref, archive=archive.number, task_id=task)


def _hand_over(services: Services, head: Head) -> Committed:
    return _started(services, head, head.pending[-1])


def _started(services: Services, head: Head, archive: Archive) -> Committed:
    identity = request_extract(services, ref(head), archive)
    with suppress(StoreError):
        services.sessions.note(head)
    return Committed(ref(head), archive, identity)


def _answered(services: Services, head: Head, archive: Archive) -> Committed:
    """The answer that an earlier attempt did not get to; nor, perhaps, to starting the extraction."""
    if find_archive(head.pending, archive.number):
        return _started(services, head, archive)
    return Committed(ref(head), archive, task_id(ref(head), archive))


def extract_request(session_ref: SessionRef, archive: Archive) -> ExtractRequested:
    """What starts the extraction of an archive: the same whoever makes it."""
    return ExtractRequested(
        session=session_ref,
        archive=archive.number,
        first=archive.first,
        last=archive.last,
        task_id=task_id(session_ref, archive),
    )


def request_extract(
    services: Services, session_ref: SessionRef, archive: Archive, *, ended_at: str | None = None
) -> str:
    """Opens the task of a pending archive (again, if it `ended_at` that time) and sends it on its way; answers the
    task id.

    The archive is a fact already, so a store that does not answer here costs time only: the extraction notes the
    task again, and the due marker makes the sweep send the request again.
    """
    request = extract_request(session_ref, archive)
    with suppress(StoreError):
        services.tasks.start(session_ref, archive, ended_at=ended_at)
    with suppress(StoreError):
        services.extract_queue.send(request)
    return request.task_id
