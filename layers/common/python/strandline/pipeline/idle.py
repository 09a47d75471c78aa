"""idle: the sweep's look at sessions whose policy may want a commit that no write asks for.

A session with a policy and live messages has a due marker, which its head names. The marker is lazy: it says when the
session can have fallen silent at the earliest, and no write moves it.

    idle     the head names another   → of no use; kept for a day, as the head that names it may still be on its way
             a commit is due          → CommitRequested; looked at again later
             not yet                  → moved to when it can be due
             nothing to wait for      → the head forgets the marker, then it is removed
    commit   the task has an archive, by itself or by the head, or has ended → marker removed
             a commit is due, or a context waits   → CommitRequested again; after too many rounds the task has failed
             not any more                          → the task has ended without an archive; marker removed
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from strandline.domain.auto_commit import Triggers, decide, next_look, unmarked
from strandline.domain.contracts import CommitRequested
from strandline.domain.session import Head, archived_by
from strandline.domain.times import parse, stamp
from strandline.pipeline.auto_commit import NOT_DUE, give_up, skip
from strandline.pipeline.breaker import wanted_through
from strandline.pipeline.services import Services
from strandline.pipeline.trigger import ask, ask_again, note_failure
from strandline.storage.document import Change
from strandline.storage.due import SHARDS, Due
from strandline.storage.layout import head_key, user_of

LATE = timedelta(days=1)
BUDGET = timedelta(seconds=40)  # of the sweep's 55
NO_PROGRESS = "no progress after repeated attempts"


def silent(services: Services, now: datetime) -> Iterator[Due]:
    """Markers of sessions that may have fallen silent, in batches, as many as one sweep has time for. Raises
    StoreError."""
    for number in range(SHARDS):
        after: Due | None = None
        while services.clock.now() < now + BUDGET:
            batch = services.due.silent((number + now.minute) % SHARDS, after, now, services.rules.scan_batch)
            yield from batch
            if len(batch) < services.rules.scan_batch:
                break
            after = batch[-1]
            services.clock.sleep(services.rules.scan_pause_seconds)


def look_at_session(services: Services, due: Due, now: datetime) -> str | None:
    """The `idle` marker. Answers what it has come to: `committed` (asked for), `moved`, or nothing of note."""
    head = _living(services, due)
    if head is None or head.mark != due.mark:
        _let_lie(services, due, now)
        return None
    if decide(head, now, services.rules.triggers):
        asked = ask(services, due.session)
        services.due.move(due, replace(due, at=services.due_at()))
        return "committed" if asked else "moved"
    look = next_look(head, now, services.rules.triggers)
    if look is None and _forgotten(services, due, now):
        services.due.remove(due)
        return None
    earliest = now + timedelta(seconds=services.rules.check_seconds)
    services.due.move(due, replace(due, at=stamp(max(look or now, earliest))))
    return "moved"


def _living(services: Services, due: Due) -> Head | None:
    found = services.heads.read(head_key(due.session))
    if found is None or found.value.buried_at or found.value.incarnation != due.session.incarnation:
        return None
    return found.value


def _let_lie(services: Services, due: Due, now: datetime) -> None:
    until = parse(due.since) + LATE
    if until > now:
        services.due.move(due, replace(due, at=stamp(until)))
    else:
        services.due.remove(due)


def _forgotten(services: Services, due: Due, now: datetime) -> bool:
    """Whether the head goes without the marker now; not if something was said since it was read."""
    change = partial(_forget, due=due, now=now, triggers=services.rules.triggers)
    return services.heads.update(head_key(due.session), change)


def _forget(head: Head | None, *, due: Due, now: datetime, triggers: Triggers) -> Change[Head, bool]:
    if head is None or head.buried_at or head.incarnation != due.session.incarnation:
        return Change(None, True)
    without = unmarked(head, due.mark, now, triggers)
    return Change(None if without is head else without, without is not None)


def look_at_request(services: Services, due: Due, now: datetime) -> str | None:
    """The `commit` marker. Answers `healed` when the request had come to nothing."""
    task = services.tasks.get(user_of(due.session), due.task_id)
    if task is None or task["archive"] is not None or task["status"] not in ("pending", "running"):
        services.due.remove(due)
        return None
    head = _living(services, due)
    through = wanted_through(services, due.session, due.task_id)
    request = CommitRequested(session=due.session, task_id=due.task_id, through=through)
    if head is not None and archived_by(head, due.task_id):
        services.due.remove(due)  # its task does not say so yet; the archive's own marker will correct it
        return None
    if head is None or not (through or decide(head, now, services.rules.triggers)):
        skip(services, request, NOT_DUE)
        services.due.remove(due)
    elif due.rounds >= services.rules.heal_rounds:
        note_failure(services, due.session, NO_PROGRESS)
        give_up(services, request, NO_PROGRESS)
        services.due.remove(due)
    else:
        ask_again(services, due.session, due.task_id, through=through)
        services.due.move(due, replace(due, at=services.due_at(), rounds=due.rounds + 1))
    return "healed"
