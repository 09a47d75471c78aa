"""Going back: a memory, what a session said, or everything since a time."""

from typing import Any

from pydantic import Field

from strandline.domain.address import memory_uri
from strandline.domain.errors import Aborted, Conflict, FailedPrecondition, InvalidArgument
from strandline.domain.message import MAX_ANSWER_BYTES, Moment
from strandline.domain.scalars import Switched, Whole
from strandline.entry.answers import answers
from strandline.entry.http import ok
from strandline.entry.results.rollback import RolledBack as Shown
from strandline.entry.results.rollback import RolledBackMemory
from strandline.entry.routes.asking import (
    guard,
    itself,
    new_router,
    owner,
    past,
    seal,
    seen_path,
    session_of,
    unseal,
)
from strandline.entry.routes.exact import Exact
from strandline.entry.wiring import library
from strandline.pipeline.rework import Reworked
from strandline.pipeline.rollback import (
    RolledBack,
    ToVersion,
    rollback_memory,
    rollback_session,
    rollback_since,
)
from strandline.storage.layout import User

router = new_router()

Answer = dict[str, Any]


class BackTo(Exact):
    """The version to return to. `dry_run` only says what that would change."""

    version: Whole = Field(ge=1)
    dry_run: Switched = False


class Everything(Exact):
    """`cursor` continues after a page, by its `next_cursor`. `dry_run` only says what would change."""

    dry_run: Switched = False
    cursor: str | None = None


class Since(Everything):
    """The time since which everything is to be undone: a system time, not that of the conversation."""

    since: Moment


@router.post("/api/v1/memories/<path>/rollback")
@answers(RolledBackMemory, Aborted, Conflict, FailedPrecondition, headers=("ActorPeer", "IfMatch"))
def memory(path: str, body: BackTo) -> Answer:
    """Makes a memory what it was in an earlier version, by writing a new version: no history is lost. A deleted
    memory is brought back. What archives have added since does not return by itself."""
    whose = owner(router)
    known = library()
    name = seen_path(router, path)
    done = rollback_memory(known, whose, ToVersion(name, body.version, guard(router)), dry_run=body.dry_run)
    row = _changed(whose, done.changed[0]) if done.changed else _unchanged(whose, name)
    return ok({**row, "to_version": body.version, "dry_run": body.dry_run}, known.clock)


@router.post("/api/v1/memories/rollback")
@answers(Shown, Aborted, Conflict, paged=True)
def since(body: Since) -> Answer:
    """Makes every memory what it was at a time; edits and deletions by hand are undone too. A page undoes the
    changes of at most 100 memories; continue with `next_cursor`. Memories whose state then is no longer known are
    listed as conflicts and stay as they are."""
    whose = itself(router)
    known = library()
    moment = past(body.since, known.clock)
    if moment is None:
        raise InvalidArgument("since: must be a time that has been")
    place = f"rollback/{body.dry_run}/{moment.isoformat()}"
    after = unseal(body.cursor, whose, place) or ""
    done = rollback_since(known, whose, moment, after=after, dry_run=body.dry_run)
    return ok(shown(whose, done, body), known.clock, next_cursor=seal(done.next, whose, place))


@router.post("/api/v1/sessions/<session_id>/rollback")
@answers(Shown, Aborted, Conflict, paged=True)
def session(session_id: str, body: Everything | None = None) -> Answer:
    """Removes from the memories what came from a session's archives; what other sessions and the owner wrote stays.
    Lines that somebody has edited since are listed as conflicts and stay, too. No redelivery or retry brings the
    removed lines back. A page takes 20 archives. For a deleted session, every line and value that names it as its
    source is removed, even an edited one, since there is nothing to compare it with, and so is what its lessons have
    counted, as its trajectories tell; such a page takes 100 memories."""
    whose = itself(router)
    known = library()
    wanted = body or Everything()
    name = session_of(session_id)
    place = f"rollback/{wanted.dry_run}/{name}"
    after = unseal(wanted.cursor, whose, place) or ""
    done = rollback_session(known, whose, name, after=after, dry_run=wanted.dry_run)
    return ok(shown(whose, done, wanted), known.clock, next_cursor=seal(done.next, whose, place))


def shown(whose: User, done: RolledBack, wanted: Everything) -> Answer:
    rows: list[Answer] = []
    room = MAX_ANSWER_BYTES
    for each in done.changed:
        row = _changed(whose, each)
        room -= len(row["diff"].encode())
        rows.append(row if room >= 0 else {**row, "diff": None})
    return {
        "dry_run": wanted.dry_run,
        "archives": list(done.archives),
        "changed": rows,
        "conflicts": [
            {
                "path": each.path,
                "uri": memory_uri(whose.user_id, each.path),
                "reason": each.reason,
                "text": each.text,
            }
            for each in done.conflicts
        ],
    }


def _changed(whose: User, each: Reworked) -> Answer:
    return {
        "path": each.path,
        "uri": memory_uri(whose.user_id, each.path),
        "change": each.how,
        "version": each.after.version if each.after else None,
        "sha256": each.after.sha256 if each.after else None,
        "diff": each.diff,
    }


def _unchanged(whose: User, path: str) -> Answer:
    return {
        "path": path,
        "uri": memory_uri(whose.user_id, path),
        "change": None,
        "version": None,
        "sha256": None,
        "diff": "",
    }
