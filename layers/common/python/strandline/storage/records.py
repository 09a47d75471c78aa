"""What lives in the table besides keys, accounts and due markers (due.py): the session list and tasks. Everything here
may be lost without losing a message or a memory.

    pk                            sk                            what
    SESSIONS#<account>/<user>     <session>                     a line of the session list, `listed_at` in its order
    TASKS#<account>/<user>        <task id>                     a commit on its way through extract and merge, a rebuild

The table deletes expired items late, so every reader compares `expires_at` (epoch seconds) itself.
"""

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from strandline.domain.contracts import SessionRef
from strandline.domain.names import encode
from strandline.domain.session import CANCELLED, Archive, Head
from strandline.domain.times import stamp
from strandline.ports import Clock, ConditionFailed, Item, Items, Order, Page
from strandline.storage.layout import User
from strandline.storage.pages import page

COMPLETED_KEPT = timedelta(hours=24)
FAILED_KEPT = timedelta(days=7)
RECEIPT_KEPT = timedelta(days=30)
_FIRST, _LAST = "!", "\U0010ffff"


def task_id(session: SessionRef, archive: Archive) -> str:
    """The id of an archive's task: sortable by time, and the same whoever derives it."""
    digest = hashlib.sha256(f"{session.incarnation}/{archive.number}".encode()).hexdigest()
    return archive.task or dated(archive.at, digest)


def dated(at: str, digits: str) -> str:
    """A task id that sorts by this time."""
    when = "".join(c for c in at if c.isdigit())
    return f"{when}-{digits[:16]}"


def _owner(user: User) -> str:
    return f"{encode(user.account_id)}/{encode(user.user_id)}"


class Sessions:
    """The session list: a line is written before its session's head is created, and at each commit, so it shows a
    session as of its last commit."""

    def __init__(self, items: Items) -> None:
        self._items = items

    def note(self, head: Head) -> None:
        """One line a session, whoever writes it and however often."""
        names = ("session_id", "incarnation", "created_at", "updated_at", "commit_count")
        values = {name: getattr(head, name) for name in names}
        user = User(head.account_id, head.user_id)
        line = {**values, "listed_at": f"{head.created_at}#{encode(head.session_id)}"}
        self._items.update(_sessions(user), encode(head.session_id), line)

    def mend(self, head: Head) -> None:
        """Puts right a line that a crash has left behind."""
        user = User(head.account_id, head.user_id)
        line = self._items.get(_sessions(user), encode(head.session_id)) or {}
        if (line.get("incarnation"), line.get("commit_count")) != (head.incarnation, head.commit_count):
            self.note(head)

    def forget(self, whose: SessionRef, *, begun_before: datetime) -> None:
        """Takes the line of this life of a deleted session out, or that of a life which was to follow it, should have
        begun before that time, and is not there; that of its successor stays."""
        pk, sk = _sessions(User(whose.account_id, whose.user_id)), encode(whose.session_id)
        line = self._items.get(pk, sk)
        if line is None:
            return
        incarnation = line["incarnation"]
        if incarnation == whose.incarnation or line["created_at"] < stamp(begun_before):
            with suppress(ConditionFailed):
                self._items.delete(pk, sk, when={"incarnation": incarnation})

    def page(self, user: User, *, after: str | None, limit: int, newest_first: bool) -> Page:
        """Sessions in order of creation, from behind `after`."""
        order = Order("listed_at", newest_first=newest_first)
        return page(self._items, _sessions(user), after, limit, order)


def _sessions(user: User) -> str:
    return f"SESSIONS#{_owner(user)}"


class Tasks:
    """Tasks of commits, owner-scoped. Completed ones are kept 24 hours, any other 7 days after its last change.

    A write may land late. So one that has ended (`ended_at`) is opened again only by who has seen just this end, and
    one that has a result is never anything but completed.
    """

    def __init__(self, items: Items, clock: Clock) -> None:
        self._items = items
        self._clock = clock

    def start(self, session: SessionRef, archive: Archive, *, ended_at: str | None = None) -> None:
        """Notes a pending task for the archive; `ended_at` is that of the one that is to be opened again."""
        with suppress(ConditionFailed):
            self.note(
                session,
                task_id(session, archive),
                when={"ended_at": ended_at, "result": None},
                status="pending",
                stage="commit",
                archive=archive.number,
                created_at=archive.at,
                attempts=0,
                result=None,
                error=None,
                ended_at=None,
            )

    def running(self, session: SessionRef, identity: str, *, stage: str, attempts: int) -> None:
        """A worker has it."""
        with suppress(ConditionFailed):
            self.note(
                session, identity, when={"ended_at": None}, status="running", stage=stage, attempts=attempts
            )

    def announce(self, session: SessionRef, identity: str) -> None:
        """Notes a pending task, which is not there yet, for an archive that is still to be made: within hours, so one
        whose note landed when all was over is gone after a day."""
        with suppress(ConditionFailed):
            self.note(
                session,
                identity,
                kept=COMPLETED_KEPT,
                when={"status": None},
                status="pending",
                stage="commit",
                archive=None,
                created_at=stamp(self._clock.now()),
                attempts=0,
                result=None,
                error=None,
            )

    def turn(
        self,
        session: SessionRef,
        identity: str,
        before: str,
        *,
        kept: timedelta = FAILED_KEPT,
        **values: Any,
    ) -> bool:
        """Sets fields of a task that has no archive and that status; answers whether there was one."""
        user = User(session.account_id, session.user_id)
        held = {"status": before, "archive": None, "incarnation": session.incarnation}
        now = self._clock.now()
        row = {**values, "updated_at": stamp(now), "expires_at": int((now + kept).timestamp())}
        try:
            self._items.update(f"TASKS#{_owner(user)}", identity, row, when=held)
        except ConditionFailed:
            return False
        return True

    def note(
        self,
        session: SessionRef,
        identity: str,
        *,
        kept: timedelta = FAILED_KEPT,
        when: Item | None = None,
        **values: Any,
    ) -> None:
        """Sets fields of a task. One that is not there (lost from the table, or this note comes before the one that
        was to open it) is begun now, with all fields. Raises ConditionFailed."""
        user = User(session.account_id, session.user_id)
        now = self._clock.now()
        fixed = {
            "task_id": identity,
            "task_type": "session_commit",
            "resource_id": session.session_id,
            "incarnation": session.incarnation,
            "updated_at": stamp(now),
            "expires_at": int((now + kept).timestamp()),
        }
        first = {"created_at": stamp(now), "attempts": 0, "result": None, "error": None}
        self._items.update(f"TASKS#{_owner(user)}", identity, {**fixed, **values}, first=first, when=when)

    def show(self, user: User, row: Item) -> None:
        """Sets fields of a task that is kept elsewhere, and has none of its own: what is listed of a rebuild."""
        now = self._clock.now()
        kept = {"updated_at": stamp(now), "expires_at": int((now + FAILED_KEPT).timestamp())}
        self._items.update(f"TASKS#{_owner(user)}", row["task_id"], {**row, **kept})

    def complete(self, session: SessionRef, identity: str, result: Item) -> None:
        """`result` names the archive."""
        ended = {"status": "completed", "stage": "done", "result": result, "error": None, **self._end()}
        self.note(session, identity, kept=COMPLETED_KEPT, archive=result["archive"], **ended)

    def stumbled(self, session: SessionRef, identity: str, reason: str) -> None:
        """Why the last attempt came to nothing, while others follow; a task that is not running is left alone."""
        user = User(session.account_id, session.user_id)
        with suppress(ConditionFailed):
            self._items.update(
                f"TASKS#{_owner(user)}", identity, {"error": reason}, when={"status": "running"}
            )

    def fail(self, session: SessionRef, identity: str, archive: int, *, stage: str, reason: str) -> None:
        status = "cancelled" if reason == CANCELLED else "failed"
        with suppress(ConditionFailed):
            self.note(
                session,
                identity,
                when={"result": None},
                status=status,
                archive=archive,
                stage=stage,
                error=reason,
                **self._end(),
            )

    def _end(self) -> Item:
        return {"ended_at": stamp(self._clock.now())}

    def get(self, user: User, identity: str) -> Item | None:
        item = self._items.get(f"TASKS#{_owner(user)}", identity)
        return item if item and self._alive(item) else None

    def page(self, user: User, *, after: str | None, limit: int) -> Page:
        """Newest first, expired ones left out."""
        found = page(self._items, f"TASKS#{_owner(user)}", after, limit, Order(newest_first=True))
        return Page([item for item in found.items if self._alive(item)], found.next)

    def forget(self, user: User, identity: str, *, of: SessionRef | None = None) -> None:
        """Removes a task; `of` a session, only one of that life of it."""
        when = {"resource_id": of.session_id, "incarnation": of.incarnation} if of else None
        with suppress(ConditionFailed):
            self._items.delete(f"TASKS#{_owner(user)}", identity, when=when)

    def _alive(self, item: Item) -> bool:
        expires = item.get("expires_at")
        return expires is None or expires > self._clock.now().timestamp()


def partitions(user: User) -> Mapping[str, str]:
    """Where the table has something of this user's by itself, by kind. Markers and expired items go by themselves."""
    return {
        "leases": leases(user),
        "replays": f"REPLAYS#{_owner(user)}",
        "scrubs": scrubs(user),
        "session_list": _sessions(user),
        "tasks": f"TASKS#{_owner(user)}",
    }


def is_receipt(row: Item) -> bool:
    """Whether it is the task of an erasure, which outlives what was erased, and expires by itself."""
    return str(row.get("task_type", "")).endswith("_erasure")


def scrubs(user: User) -> str:
    """The partition of a user's scrubs."""
    return f"SCRUBS#{_owner(user)}"


def leases(user: User) -> str:
    """The partition of a user's leases."""
    return f"LEASES#{_owner(user)}"
