"""The state of a rebuild: which archives it goes through, how far it is, and which rebuild was promoted last."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from strandline.domain.contracts import SessionRef
from strandline.ports import Item
from strandline.storage.document import Stamp
from strandline.storage.layout import User
from strandline.storage.records import dated

SCHEMA = 1


@dataclass(frozen=True)
class Archived:
    """An archive of one life of a session, and its messages."""

    session_id: str
    incarnation: str
    number: int
    first: int
    last: int

    def session(self, owner: User) -> SessionRef:
        return SessionRef(
            account_id=owner.account_id,
            user_id=owner.user_id,
            session_id=self.session_id,
            incarnation=self.incarnation,
        )


@dataclass(frozen=True)
class Rebuilding:
    """How far it is: `found` of the sessions have been looked at, `requested` of their archives are asked to be
    extracted (when `again`), `merged` of them are in the shadow tree. `failed` could not be extracted again and stay as
    they were. `only` names the one session that it is about, with what is live in it when `live`."""

    identity: str
    started_at: str
    again: bool = False
    only: str | None = None
    live: bool = False
    sessions: tuple[str, ...] = ()
    archives: tuple[Archived, ...] = ()
    based_on: str | None = None
    found: int = 0
    requested: int = 0
    requested_at: str = ""
    merged: int = 0
    failed: int = 0
    promoted_at: str | None = None

    @property
    def progress(self) -> tuple[int, int, int, str]:
        return self.found, self.merged, self.requested, self.requested_at

    @property
    def status(self) -> str:
        """`finding`, `extracting`, `merging`, `ready` or `promoted`."""
        if self.promoted_at:
            return "promoted"
        if self.found < len(self.sessions):
            return "finding"
        if self.merged == len(self.archives):
            return "ready"
        return "extracting" if self.again else "merging"


def task_of(at: Rebuilding) -> Item:
    """What the list of tasks shows of a rebuild."""
    open_ = at.status not in ("ready", "promoted")
    return {
        "task_id": dated(at.started_at, at.identity),
        "task_type": "rebuild",
        "resource_id": at.identity,
        "status": "running" if open_ else "completed",
        "stage": at.status,
        "created_at": at.started_at,
        "attempts": 0,
        "result": None if open_ else {"rebuild_id": at.identity, **progress_of(at)},
        "error": None,
    }


def progress_of(at: Rebuilding) -> Mapping[str, Mapping[str, int]]:
    """How far it is, in numbers."""
    return {
        "sessions": {"total": len(at.sessions), "found": at.found},
        "archives": {"total": len(at.archives), "merged": at.merged, "failed": at.failed},
    }


class RebuildingCodec:
    def encode(self, value: Rebuilding, stamp: Stamp) -> bytes:
        row = {"schema": SCHEMA, "revision": stamp.revision, "writes": stamp.writes, **asdict(value)}
        row["archives"] = [list(asdict(each).values()) for each in value.archives]
        return json.dumps(row, ensure_ascii=False).encode()

    def decode(self, body: bytes) -> tuple[Rebuilding, Stamp]:
        row = json.loads(body)
        if row.pop("schema") != SCHEMA:
            raise ValueError("a rebuild of another version")
        stamp = Stamp(row.pop("revision"), tuple((w, r) for w, r in row.pop("writes")))
        archives = tuple(Archived(*each) for each in row.pop("archives"))
        sessions = tuple(row.pop("sessions"))
        return replace(Rebuilding(**row), archives=archives, sessions=sessions), stamp
