"""Notes of a task that land late: long after what they tell of, and after what has happened since."""

import pytest

from strandline.domain.contracts import SessionRef
from strandline.domain.session import CANCELLED, Archive
from strandline.storage.layout import User
from strandline.storage.records import Tasks, task_id
from tests.fakes import FakeClock, MemoryItems

ARCHIVE = Archive(1, 1, 4, "2026-01-01T00:00:00.000Z")
SESSION = SessionRef(account_id="acme", user_id="alice", session_id="s", incarnation="i")
TASK = task_id(SESSION, ARCHIVE)
RESULT = {"archive": 1}


@pytest.fixture
def tasks() -> Tasks:
    tasks = Tasks(MemoryItems(), FakeClock())
    tasks.start(SESSION, ARCHIVE)
    tasks.running(SESSION, TASK, stage="extract", attempts=1)
    return tasks


def status(tasks: Tasks) -> str:
    found = tasks.get(User("acme", "alice"), TASK)
    assert found is not None
    return str(found["status"])


def fail(tasks: Tasks, reason: str = "prose") -> str:
    """Fails it, a second after whatever was before; answers when."""
    tasks._clock.sleep(1)
    tasks.fail(SESSION, TASK, 1, stage="extract", reason=reason)
    found = tasks.get(User("acme", "alice"), TASK)
    assert found is not None
    return str(found["ended_at"])


def test_its_way(tasks: Tasks) -> None:
    assert status(tasks) == "running"
    tasks.complete(SESSION, TASK, RESULT)
    assert status(tasks) == "completed"


def test_one_that_is_completed_stays_so(tasks: Tasks) -> None:  # B-B17
    tasks.complete(SESSION, TASK, RESULT)

    tasks.start(SESSION, ARCHIVE)
    tasks.running(SESSION, TASK, stage="extract", attempts=2)
    tasks.stumbled(SESSION, TASK, "down")
    tasks.fail(SESSION, TASK, 1, stage="extract", reason="prose")

    assert status(tasks) == "completed"


def test_an_announcement_that_lands_late_changes_nothing(tasks: Tasks) -> None:  # B-B17
    tasks.announce(SESSION, TASK)
    assert status(tasks) == "running"
    tasks.complete(SESSION, TASK, RESULT)
    tasks.announce(SESSION, TASK)
    assert status(tasks) == "completed"


@pytest.mark.parametrize("reason", ["prose", CANCELLED])
def test_one_that_has_failed_is_not_pending_for_ever(tasks: Tasks, reason: str) -> None:  # B-B17
    fail(tasks, reason)
    ended = status(tasks)

    tasks.start(SESSION, ARCHIVE)
    tasks.running(SESSION, TASK, stage="extract", attempts=2)

    assert status(tasks) == ended != "running"


def test_a_retry_opens_it_again_once(tasks: Tasks) -> None:  # B-B15
    first = fail(tasks)
    tasks.start(SESSION, ARCHIVE, ended_at=first)
    assert status(tasks) == "pending"
    fail(tasks)

    tasks.start(SESSION, ARCHIVE, ended_at=first)  # the retry's note again, late

    assert status(tasks) == "failed"


def test_a_retry_that_completes_is_not_failed_by_the_attempt_before(tasks: Tasks) -> None:  # B-B15
    tasks.start(SESSION, ARCHIVE, ended_at=fail(tasks))
    tasks.complete(SESSION, TASK, RESULT)

    fail(tasks)

    assert status(tasks) == "completed"
