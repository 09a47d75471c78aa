"""The journal: every change told of once, numbered without a gap."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

from tests.sim.history import Committed, History
from tests.sim.invariants.raw import Raw, Session

Event = dict[str, Any]


def the_journal_is_numbered_without_a_gap(raw: Raw, _: History) -> Iterator[str]:
    """Records are numbered from 1 on, and none is there twice."""
    for owner, events in raw.journals.items():
        numbers = [int(event["id"][:12]) for event in events]
        if numbers != list(range(1, len(events) + 1)):
            yield f"{owner}: the journal has the numbers {numbers}"
        twice = [d for d, n in Counter(event["id"][13:] for event in events).items() if n > 1]
        if twice:
            yield f"{owner}: the journal tells {twice} more than once"


def commits_are_told_of_once(raw: Raw, history: History) -> Iterator[str]:
    """Each archive that has ended has one SessionCommitted, of its range."""
    for session in raw.sessions:
        told = _by_archive(raw, session, "SessionCommitted")
        for number, span in session.ranges.items():
            spans = [(e["first_seq"], e["last_seq"]) for e in told.get(number, ())]
            if spans != [span]:
                yield f"{session}: of archive {number} ({span}) the journal tells {spans}"
    yield from _wrongly_told(raw, history)


def _wrongly_told(raw: Raw, history: History) -> Iterator[str]:
    """Of an archive of a session that is deleted the journal may have told, though nothing else than was so."""
    for done in history.of(Committed):
        digest = task_digest(done.incarnation, done.archive_number)
        for event in raw.journals.get(done.owner, ()):
            if event["type"] == "SessionCommitted" and event["task_id"].endswith(digest):
                span = (event["first_seq"], event["last_seq"])
                if span != (done.first, done.last):
                    yield f"{done}: the journal tells {span}"


def changes_are_told_of_once(raw: Raw, _: History) -> Iterator[str]:
    """What the diff of an archive lists is told of once, and nothing else."""
    for session in raw.sessions:
        told = _by_archive(raw, session, "MemoryChanged")
        for number in session.done:
            record = session.file(number, "memory_diff.json") or {"operations": {"adds": [], "updates": []}}
            for name, how in (("added", "adds"), ("updated", "updates")):
                uris = sorted(uri for event in told.get(number, ()) for uri in event[name])
                right = sorted(operation["uri"] for operation in record["operations"][how])
                if uris != right:
                    yield f"{session}: archive {number} has {name} {right}, the journal tells of {uris}"


def failures_are_told_of(raw: Raw, _: History) -> Iterator[str]:
    """An archive that has failed has a TaskFailed of that time, unless its owner has called it off."""
    for session in raw.sessions:
        told = _by_archive(raw, session, "TaskFailed")
        for archive in session.head.failed:
            times = [event["at"] for event in told.get(archive.number, ())]
            if "cancelled" not in (archive.reason or "") and times.count(archive.failed_at or "") != 1:
                yield f"{session}: archive {archive.number} failed at {archive.failed_at}, told is {times}"


def _by_archive(raw: Raw, session: Session, kind: str) -> dict[int, list[Event]]:
    """The events of one kind by archive, of this very life: the task says whose it is, by its id, or that of a commit
    which nobody asked for by what was sent under it."""
    found: dict[int, list[Event]] = {}
    sent = {(r.archive, r.task_id) for r in raw.sent if r.session.incarnation == session.head.incarnation}
    for event in raw.journals.get(session.owner, ()):
        if event["type"] == kind and event.get("session_id") == session.head.session_id:
            number = event.get("archive") or 0
            task_id = event.get("task_id", "")
            derived = task_id.endswith(task_digest(session.head.incarnation, number))
            if derived or (number, task_id) in sent:
                found.setdefault(number, []).append(event)
    return found


def task_digest(incarnation: str, archive: int) -> str:
    """What the id of an archive's task ends in."""
    return hashlib.sha256(f"{incarnation}/{archive}".encode()).hexdigest()[:16]


def the_bus_has_every_event(raw: Raw, _: History) -> Iterator[str]:
    """At least once, under the id that it has in the journal, and no other."""
    if raw.published is None:
        return
    for owner, events in raw.journals.items():
        told = {e.id for e in raw.published if (e.account_id, e.user_id) == (owner.account_id, owner.user_id)}
        if told != {event["id"] for event in events}:
            yield f"{owner}: on the bus were {sorted(told)}, in the journal are {[e['id'] for e in events]}"


INVARIANTS = (
    the_journal_is_numbered_without_a_gap,
    commits_are_told_of_once,
    changes_are_told_of_once,
    failures_are_told_of,
    the_bus_has_every_event,
)
