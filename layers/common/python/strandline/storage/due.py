"""Due markers: what the sweep is to look at, and when. They may all be lost without losing a message or a memory; what
they are for is made up by a restore.

    pk                            sk                            what
    DUE#<shard>                   <due at>#<kind>#<session…>    something the sweep must look at then
    IDLE#<shard>                  <due at>#idle#<session…>      a session that may have fallen silent by then
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from strandline.domain.contracts import SessionRef
from strandline.domain.times import stamp
from strandline.ports import Item, Items

SHARDS = 8
_FIRST, _LAST = "!", "\U0010ffff"

Kind = Literal["announce", "heal", "bury", "reindex", "erase", "commit", "idle", "expire", "learn", "scrub"]


@dataclass(frozen=True)
class Due:
    """Something to look at: a pending archive (`heal`), an archive to be learnt from (`learn`), a commit that was
    asked for (`commit`), a session with live messages (`idle`; `mark` is what its head calls the marker), what is
    left of a deleted session (`bury`), an event that the bus may not have (`announce`), memories whose index
    entries may be behind (`reindex`; `path` names one a line, of an edit just one, and `event` is what to tell of
    it), the erasure of a user or an account (`erase`), a scrub (`scrub`; `task_id` is its id), or a memory that may
    have expired (`expire`; `path` names it). Of the latter five the session is empty, of an account the user too.
    `event` is a Happening as a dict, and
    may name who has put the marker, so that nobody removes another's. `since` is when the marker was first put."""

    at: str
    kind: Kind
    session: SessionRef
    archive: int = 0
    task_id: str = ""
    rounds: int = 0
    path: str = ""
    event: Mapping[str, Any] | None = None
    mark: str = ""
    since: str = ""

    @property
    def pk(self) -> str:
        digest = hashlib.sha256(f"{self.session.owner}/{self.session.session_id}".encode()).digest()
        return f"{'IDLE' if self.kind == 'idle' else 'DUE'}#{digest[0] % SHARDS}"

    @property
    def sk(self) -> str:
        named = (
            self.session.owner,
            self.session.session_id,
            self.session.incarnation,
            str(self.archive),
            self.path,
            *filter(None, (self.mark, self.task_id if self.kind in ("commit", "scrub") else "")),
            *(str(self.event[name]) for name in ("key", "attempt") if self.event and name in self.event),
        )
        return f"{self.at}#{self.kind}#{hashlib.sha256(chr(0).join(named).encode()).hexdigest()[:32]}"


class DueMarkers:
    """Time-ordered, sharded: a look costs what is due, not what is stored. Silent sessions, which may be very many,
    have shards of their own and keep nothing else waiting."""

    def __init__(self, items: Items) -> None:
        self._items = items

    def put(self, due: Due) -> None:
        row = {
            "at": due.at,
            "kind": due.kind,
            "archive": due.archive,
            "task_id": due.task_id,
            "rounds": due.rounds,
            "path": due.path,
            "event": due.event,
            "mark": due.mark,
            "since": due.since,
        }
        self._items.put({"pk": due.pk, "sk": due.sk, "session": due.session.model_dump(), **row})

    def due(self, number: int, now: datetime, limit: int) -> Sequence[Due]:
        """The markers of one shard that are due, oldest first; of silent sessions there are none among them."""
        return self._due(f"DUE#{number}", (_FIRST, stamp(now)), limit)

    def silent(self, number: int, after: Due | None, now: datetime, limit: int) -> Sequence[Due]:
        """The same of sessions that may have fallen silent, from behind `after`."""
        return self._due(f"IDLE#{number}", (f"{after.sk}!" if after else _FIRST, stamp(now)), limit)

    def _due(self, shard: str, between: tuple[str, str], limit: int) -> Sequence[Due]:
        page = self._items.query(shard, between=(between[0], between[1] + "#" + _LAST), limit=limit)
        return [_due(item) for item in page.items]

    def remove(self, due: Due) -> None:
        self._items.delete(due.pk, due.sk)

    def move(self, due: Due, later: Due) -> None:
        """The same matter, later: the new marker first, so that a crash between leaves two, never none."""
        self.put(later)
        self.remove(due)


def _due(item: Item) -> Due:
    return Due(
        at=item["at"],
        kind=item["kind"],
        session=SessionRef(**item["session"]),
        archive=item["archive"],
        task_id=item["task_id"],
        rounds=item["rounds"],
        path=item.get("path", ""),
        event=item.get("event"),
        mark=item.get("mark", ""),
        since=item.get("since", ""),
    )
