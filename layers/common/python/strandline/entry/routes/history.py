"""What memories were: their versions, and what brought each."""

from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Query

from strandline.domain.address import archive_id, memory_uri
from strandline.domain.memory import Source
from strandline.entry.answers import answers
from strandline.entry.http import ok
from strandline.entry.results.history import Blame, History
from strandline.entry.routes.asking import new_router, owner, seal, seen_path, unseal
from strandline.entry.wiring import library
from strandline.pipeline.blame import Blamed, Quote, read_blame
from strandline.pipeline.history import Step, read_history
from strandline.storage.markdown import sources

router = new_router()

PEER = ("ActorPeer",)


@router.get("/api/v1/memories/<path>/history")
@answers(History, paged=True, headers=PEER)
def history(
    path: str, limit: Annotated[int, Query(ge=1, le=100)] = 20, cursor: str | None = None
) -> dict[str, Any]:
    """Every version of a memory that the bucket keeps, newest first, also of a deleted one: when and by whom it was
    written, and which messages its new lines came from."""
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
        "ended": len(step.ended),
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


@router.get("/api/v1/memories/<path>/blame")
@answers(Blame, paged=True, headers=PEER)
def blame(
    path: str, limit: Annotated[int, Query(ge=1, le=500)] = 100, cursor: str | None = None
) -> dict[str, Any]:
    """Each line of a memory with its source: session, archive, messages, time, and the quoted words, read again from
    the archive and checked against the hash behind the line. A page may end early."""
    whose = owner(router)
    known = library()
    name = seen_path(router, path)
    place = f"blame/{name}"
    after = int(unseal(cursor, whose, place) or 0)
    found = read_blame(known, whose, name, after=after, limit=limit)
    result = {
        "path": found.memory.path,
        "uri": memory_uri(whose.user_id, found.memory.path),
        "version": found.memory.version,
        "sha256": found.memory.sha256,
        "lines": [_blamed(line) for line in found.lines],
    }
    rest = str(found.next) if found.next else None
    return ok(result, known.clock, next_cursor=seal(rest, whose, place))


def _blamed(line: Blamed) -> dict[str, Any]:
    source, quote = line.source, line.quote
    return {
        "line": line.number,
        "text": line.text,
        "source": _span(source) if source else None,
        "quote": _quote(source, quote) if source and quote else None,
        "valid_until": line.closing.at if line.closing else None,
        "superseded_by": line.closing.by if line.closing else None,
    }


def _span(source: Source) -> dict[str, Any]:
    return {
        "session_id": source.session_id,
        "archive": archive_id(source.archive),
        "seq_from": source.seq_from,
        "seq_to": source.seq_to,
        "at": source.at,
    }


def _quote(source: Source, quote: Quote) -> dict[str, Any]:
    message = quote.message
    return {
        "status": quote.status,
        "sha256": source.quote,
        "text": quote.text,
        "message": {
            "message_id": message["id"],
            "seq": message["seq"],
            "role": message["role"],
            "peer_id": message.get("peer_id"),
            "created_at": message["created_at"],
        }
        if message
        else None,
    }
