"""Memories made again from the archives, compared and promoted; and what an extraction would bring."""

from typing import Any

from strandline.domain.errors import Aborted, Conflict, FailedPrecondition, InvalidArgument, NotFound
from strandline.domain.message import Identifier
from strandline.domain.scalars import Switched
from strandline.entry.answers import answers
from strandline.entry.http import ok
from strandline.entry.results.rebuild import Rebuild as Shown
from strandline.entry.results.rollback import RolledBack
from strandline.entry.routes.asking import itself, new_router, path_of, seal, session_of, unseal
from strandline.entry.routes.exact import Exact
from strandline.entry.routes.rollback import Everything, shown
from strandline.entry.wiring import library
from strandline.pipeline.rebuild import Wanted, begin, go_on, look, promote
from strandline.storage.rebuilds import Rebuilding, progress_of

router = new_router()

Answer = dict[str, Any]


class BeginRebuild(Exact):
    """A rebuild of all sessions, or of one. `again`: the archives are extracted again, as after a change of the
    model or its instructions; otherwise their stored candidates are merged again."""

    again: Switched = False
    session_id: Identifier | None = None


class ExtractSession(Exact):
    """Only as a dry run: a real extraction follows a commit, and extracting archives again is a rebuild."""

    dry_run: Switched = False


@router.post("/api/v1/rebuilds")
@answers(Shown, Conflict, Aborted, NotFound)
def begin_rebuilds(body: BeginRebuild | None = None) -> Answer:
    """Begins to rebuild the memories beside the existing ones. Continue it by POST …/continue."""
    whose, wanted = itself(router), body or BeginRebuild()
    return _answer(begin(library(), whose, Wanted(wanted.again, wanted.session_id)))


@router.post("/api/v1/sessions/<session_id>/extract")
@answers(Shown, Conflict, Aborted)
def extract(session_id: str, body: ExtractSession | None = None) -> Answer:
    """What extracting this session would bring now, its archives and its live messages: a rebuild of the session
    alone, which can be compared but never promoted. Continue it by POST /rebuilds/{id}/continue."""
    if body is None or not body.dry_run:
        raise InvalidArgument("dry_run: must be true; an extraction follows a commit by itself")
    wanted = Wanted(again=True, only=session_of(session_id), live=True)
    return _answer(begin(library(), itself(router), wanted))


@router.get("/api/v1/rebuilds/<rebuild_id>")
@answers(Shown)
def look_at_rebuilds(rebuild_id: str) -> Answer:
    """How far a rebuild is."""
    return _answer(look(library(), itself(router), path_of(rebuild_id)))


@router.post("/api/v1/rebuilds/<rebuild_id>/continue")
@answers(Shown, Conflict, Aborted, FailedPrecondition)
def continue_rebuilds(rebuild_id: str) -> Answer:
    """Works on a rebuild for some seconds; call it until the rebuild is `ready`. Each call continues where the last
    one ended, also after a crash."""
    return _answer(go_on(library(), itself(router), path_of(rebuild_id)))


@router.post("/api/v1/rebuilds/<rebuild_id>/promote")
@answers(RolledBack, Conflict, Aborted, FailedPrecondition, paged=True)
def promote_rebuilds(rebuild_id: str, body: Everything | None = None) -> Answer:
    """Replaces the memories by the rebuilt ones; a dry run shows the difference. What the owner has edited or
    deleted stays, and is listed where the rebuild differs. A page changes 100 memories; continue with `next_cursor`."""
    whose = itself(router)
    known, wanted = library(), body or Everything()
    identity = path_of(rebuild_id)
    place = f"promote/{wanted.dry_run}/{identity}"
    after = unseal(wanted.cursor, whose, place) or ""
    done = promote(known, whose, identity, after=after, dry_run=wanted.dry_run)
    return ok(shown(whose, done, wanted), known.clock, next_cursor=seal(done.next, whose, place))


def _answer(at: Rebuilding) -> Answer:
    result = {
        "rebuild_id": at.identity,
        "status": at.status,
        "again": at.again,
        "session_id": at.only,
        "started_at": at.started_at,
        "promoted_at": at.promoted_at,
        **progress_of(at),
    }
    return ok(result, library().clock)
