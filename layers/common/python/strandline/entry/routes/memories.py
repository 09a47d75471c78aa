"""Memories: list, read, write, delete."""

from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query
from pydantic import BaseModel

from strandline.domain.errors import Aborted, Conflict, FailedPrecondition, InvalidArgument
from strandline.domain.memory import Memory
from strandline.entry.answers import answers
from strandline.entry.http import ok, reply
from strandline.entry.results.memories import DeletedMemory, MemoryRow
from strandline.entry.results.memories import Memory as MemoryShown
from strandline.entry.routes.asking import header, new_router, owner, path_of, seal, unseal
from strandline.entry.wiring import library
from strandline.pipeline import memory
from strandline.pipeline.diff import memory_uri
from strandline.storage.layout import User
from strandline.storage.markdown import sources

router = new_router()


class WriteMemory(BaseModel):
    """The memory's markdown. Front matter, as a file read whole has it, may be there: its `title` and `expires_at` are
    taken over, everything else in it follows from the file."""

    content: str


@router.get("/api/v1/memories")
@answers(list[MemoryRow], paged=True)
def list_memories(
    prefix: str = "",
    type: str | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    cursor: str | None = None,
) -> dict[str, Any]:
    """What there is, by path."""
    whose = owner(router)
    known = library()
    after = unseal(cursor, whose, f"memories/{prefix}") or ""
    rows = [
        {"path": path, "uri": memory_uri(whose.user_id, path), **row}
        for path, row in memory.list_memories(known, whose, prefix).items()
        if path > after and type in (None, row["type"])
    ]
    rest = rows[limit - 1]["path"] if len(rows) > limit else None
    return ok(rows[:limit], known.clock, next_cursor=seal(rest, whose, f"memories/{prefix}"))


@router.get("/api/v1/memories/<path>")
@answers(MemoryShown, etag=True)
def read(path: str) -> Response[str]:
    """One memory; `ETag` is the SHA-256 of its content."""
    whose = owner(router)
    return _answer(whose, memory.read(library(), whose, path_of(path)))


@router.put("/api/v1/memories/<path>")
@answers(MemoryShown, Aborted, Conflict, FailedPrecondition, etag=True)
def write(path: str, body: WriteMemory) -> Response[str]:
    """Writes a memory, over whatever is there unless `If-Match` or `If-None-Match: *` says otherwise."""
    whose = owner(router)
    return _answer(whose, memory.write(library(), whose, path_of(path), body.content, _guard()))


@router.delete("/api/v1/memories/<path>")
@answers(DeletedMemory, FailedPrecondition)
def delete(path: str) -> dict[str, Any]:
    """Deletes a memory; the bucket keeps its versions."""
    whose = owner(router)
    known = library()
    gone = memory.delete(known, whose, path_of(path), _guard())
    return ok(
        {"path": gone.path, "uri": memory_uri(whose.user_id, gone.path), "sha256": gone.sha256}, known.clock
    )


def _guard() -> memory.Guard:
    match = header(router, "if-match")
    none_match = header(router, "if-none-match")
    if none_match not in (None, "*"):
        raise InvalidArgument('If-None-Match can only be "*"')
    if match is not None and not match.strip('" '):
        raise InvalidArgument('If-Match is empty; it holds the sha256 that was read, or "*"')
    return memory.matching(match.strip('" ') if match else None, absent=none_match == "*")


def _answer(whose: User, found: Memory) -> Response[str]:
    result = {
        "path": found.path,
        "uri": memory_uri(whose.user_id, found.path),
        "id": found.id,
        "type": found.type,
        "title": found.title,
        "peer": found.peer,
        "content": found.body,
        "sha256": found.sha256,
        "version": found.version,
        "created_at": found.created_at,
        "updated_at": found.updated_at,
        "expires_at": found.expires_at,
        "sources": sources(found.lines),
    }
    answer = reply(200, ok(result, library().clock))
    return Response(200, "application/json", answer["body"], {"ETag": f'"{found.sha256}"'})
