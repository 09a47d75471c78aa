"""What memories were: their versions, and what brought each."""

from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Query

from strandline.domain.address import memory_uri
from strandline.entry.answers import answers
from strandline.entry.http import ok
from strandline.entry.results.history import History
from strandline.entry.routes.asking import new_router, owner, seal, seen_path, unseal
from strandline.entry.wiring import library
from strandline.pipeline.history import Step, read_history
from strandline.storage.markdown import sources

router = new_router()

PEER = ("ActorPeer",)


@router.get("/api/v1/memories/<path>/history")
@answers(History, paged=True, headers=PEER)
def history(
    path: str, limit: Annotated[int, Query(ge=1, le=100)] = 20, cursor: str | None = None
) -> dict[str, Any]:
    """Every version of a memory that the bucket keeps, newest first, also of one that was deleted: when it was written
    and by whom, and from which messages came what it brought."""
    whose = owner(router)
    known = library()
    name = seen_path(router, path)
    place = f"history/{name}"
    found = read_history(known, whose, name, after=unseal(cursor, whose, place), limit=limit)
    result = {
        "path": name,
        "uri": memory_uri(whose.user_id, name),
        "versions": [_step(step) for step in found.steps],
        "not_kept": found.not_kept,
    }
    return ok(result, known.clock, next_cursor=seal(found.next, whose, place))


def _step(step: Step) -> dict[str, Any]:
    revision, memory = step.revision, step.revision.living
    counts = {
        "added": len(step.added),
        "removed": len(step.removed),
        "own_text": step.own_text_changed,
    }
    return {
        "version": revision.memory.version if revision.memory else None,
        "at": revision.at,
        "by": revision.by,
        "why": revision.why or None,
        "change": step.change,
        "current": step.current,
        "title": memory.title if memory else None,
        "sha256": memory.sha256 if memory else None,
        "lines": counts if step.known else None,
        "sources": sources(list(step.added)) if step.known else None,
    }
