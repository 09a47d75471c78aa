"""Liveness: once the faults have stopped and time has gone by, nothing waits for anything."""

from collections.abc import Iterator

from strandline.domain.contracts import ExtractRequested, MergeRequested
from tests.sim.history import History
from tests.sim.invariants.raw import Raw


def queues_are_empty(raw: Raw, _: History) -> Iterator[str]:
    """Whatever was sent has been dealt with, or given up."""
    for name, left in raw.waiting.items():
        if left:
            yield f"{len(left)} messages are left in the {name} queue: {left[:3]}"


def what_was_given_up_has_ended(raw: Raw, _: History) -> Iterator[str]:
    """A dead letter is of an archive that has failed, or was done in another way; or of a deleted session. That of a
    lesson is of one whose task has ended, as every task has."""
    for name, dead in raw.dead.items():
        for message in dead:
            if isinstance(message, ExtractRequested | MergeRequested):
                session = raw.by_life.get(message.session.incarnation)
                ended = {*session.done, *(a.number for a in session.head.failed)} if session else ()
                if session and message.archive not in ended:
                    yield f"{session}: archive {message.archive} is dead in {name} and has not ended"


def no_archive_is_pending(raw: Raw, _: History) -> Iterator[str]:
    for session in raw.sessions:
        if session.head.pending:
            yield f"{session}: archives {[a.number for a in session.head.pending]} are still pending"


def a_failed_archive_says_why(raw: Raw, _: History) -> Iterator[str]:
    """In its head and in its `failed.json`."""
    for session in raw.sessions:
        for archive in session.head.failed:
            if not archive.reason or session.file(archive.number, "failed.json") is None:
                yield f"{session}: archive {archive.number} has failed, nobody knows why"


def tasks_agree_with_archives(raw: Raw, _: History) -> Iterator[str]:
    """No task is open, and each has ended as its archive has."""
    for row in raw.partition("TASKS"):
        session = raw.by_life.get(str(row.get("incarnation")))
        if row["status"] in ("pending", "running"):
            yield f"{row['pk']}: the task {row['task_id']} is {row['status']}"
        elif (
            session
            and row.get("archive")
            is not None  # else it is of a lesson, or of a commit that found nothing to do
            and (row["archive"] in session.done) != (row["status"] == "completed")
        ):
            yield f"{session}: the task of archive {row['archive']} is {row['status']}, done are {list(session.done)}"


def a_task_that_has_ended_stays_so(raw: Raw, _: History) -> Iterator[str]:
    """One that is completed is nothing else any more; one that has failed, or was called off, is not running unless it
    was asked for again."""
    for identity, before, after in raw.turns:
        if before == "completed" or (before in ("failed", "cancelled") and after == "running"):
            yield f"the task {identity} was {before}, then {after}"


def every_archive_has_its_task(raw: Raw, _: History) -> Iterator[str]:
    """Exactly one, unless it has expired."""
    for session in raw.sessions:
        mine = [
            row["archive"]
            for row in raw.partition("TASKS")
            if row.get("incarnation") == session.head.incarnation and row.get("archive") is not None
        ]
        if len(mine) != len(set(mine)):
            yield f"{session}: its tasks are of the archives {mine}"


def nothing_is_due(raw: Raw, _: History) -> Iterator[str]:
    """No marker waits for anything."""
    for row in raw.partition("DUE"):
        yield f"{row['pk']} {row['sk']} is due for {row['session']}, and nothing needs it"


def gravestones_go(raw: Raw, _: History) -> Iterator[str]:
    """A day after a delete nothing at all is left under the key of its head."""
    for head in raw.heads:
        if head.buried_at:
            yield f"{head.session_id} was deleted at {head.buried_at}, and its gravestone is there"


INVARIANTS = (
    queues_are_empty,
    what_was_given_up_has_ended,
    no_archive_is_pending,
    a_failed_archive_says_why,
    tasks_agree_with_archives,
    a_task_that_has_ended_stays_so,
    every_archive_has_its_task,
    nothing_is_due,
    gravestones_go,
)
