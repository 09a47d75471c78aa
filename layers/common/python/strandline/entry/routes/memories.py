"""Memories: list, read, write, delete."""

from contextlib import suppress
from typing import Annotated, Any, Literal

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query

from strandline.domain.address import memory_uri, visible
from strandline.domain.errors import Aborted, Conflict, FailedPrecondition, InvalidArgument, NotFound
from strandline.domain.memory import Memory
from strandline.domain.message import MAX_ANSWER_BYTES, dumps
from strandline.domain.usage import UNUSED, Totals
from strandline.entry.answers import answers
from strandline.entry.http import ok, reply
from strandline.entry.results.memories import DeletedMemory, MemoryRow
from strandline.entry.results.memories import Memory as MemoryShown
from strandline.entry.routes.asking import acting_peer, header, new_router, owner, path_of, seal, unseal
from strandline.entry.routes.lifetime import Lifetime
from strandline.entry.wiring import library
from strandline.pipeline import memory
from strandline.pipeline.usage import read_totals
from strandline.storage.layout import User
from strandline.storage.markdown import edited, sources

router = new_router()

GUARDS = ("IfMatch", "IfNoneMatch")


class WriteMemory(Lifetime):
    """The memory's markdown. Front matter, as a file read whole has it, may be there: its `title`, `expires_at` and
    `ttl_seconds` are taken over, of a topic also its `name`, `description`, `summary` and `type`; everything else in it
    follows from the file."""

    content: str


@router.get("/api/v1/memories")
@answers(list[MemoryRow], paged=True)
def list_memories(
    prefix: str = "",
    type: str | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    cursor: str | None = None,
    view: Literal["basic", "full"] = "basic",
) -> dict[str, Any]:
    """What there is, by path; in full also what each of them says and how often it was used. A page of that ends where
    an answer is full."""
    whose = owner(router)
    known = library()
    peer = acting_peer(router)
    after = unseal(cursor, whose, f"memories/{prefix}") or ""
    rows = [
        {"path": path, "uri": memory_uri(whose.user_id, path), **row}
        for path, row in memory.list_memories(known, whose, prefix).items()
        if path > after and type in (None, row["type"]) and visible(path, peer)
    ]
    shown = rows[:limit]
    if view == "full":
        shown, last = _whole(whose, shown)
    else:
        last = shown[-1]["path"] if shown else ""
    rest = last if last and rows[-1]["path"] > last else None
    return ok(shown, known.clock, next_cursor=seal(rest, whose, f"memories/{prefix}"))


def _whole(whose: User, rows: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], str]:
    """These memories in full, as many as one answer holds, and the last path that was looked at."""
    known = library()
    totals = read_totals(known, whose)
    found: list[dict[str, Any]] = []
    room = MAX_ANSWER_BYTES
    last = ""
    for row in rows:
        with suppress(NotFound):  # it has gone since it was listed
            whole = {**row, **_shown(whose, memory.read(known, whose, row["path"]), totals)}
            room -= len(dumps(whole))
            if found and room < 0:
                break
            found.append(whole)
        last = row["path"]
    return found, last


@router.get("/api/v1/memories/<path>")
@answers(MemoryShown, etag=True)
def read(path: str) -> Response[str]:
    """One memory, and how often it was used; `ETag` is the SHA-256 of its content."""
    whose = owner(router)
    return _answer(whose, memory.read(library(), whose, _path(path)))


@router.put("/api/v1/memories/<path>")
@answers(MemoryShown, Aborted, Conflict, FailedPrecondition, etag=True, headers=GUARDS)
def write(path: str, body: WriteMemory) -> Response[str]:
    """Writes a memory, over whatever is there unless `If-Match` or `If-None-Match: *` says otherwise."""
    whose = owner(router)
    plain = _path(path)
    edit = body.of(edited(body.content, plain))
    return _answer(whose, memory.write(library(), whose, plain, edit, _guard()))


@router.delete("/api/v1/memories/<path>")
@answers(DeletedMemory, FailedPrecondition, headers=GUARDS)
def delete(path: str) -> dict[str, Any]:
    """Deletes a memory; the bucket keeps its versions."""
    whose = owner(router)
    known = library()
    gone = memory.delete(known, whose, _path(path), _guard())
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


def _path(text: str) -> str:
    """The memory's path, if the acting peer may see it. Raises NotFound."""
    path = path_of(text)
    if not visible(path, acting_peer(router)):
        raise memory.no_memory(path)
    return path


def _answer(whose: User, found: Memory) -> Response[str]:
    known = library()
    answer = reply(200, ok(_shown(whose, found, read_totals(known, whose)), known.clock))
    return Response(200, "application/json", answer["body"], {"ETag": f'"{found.sha256}"'})


def _shown(whose: User, found: Memory, totals: Totals) -> dict[str, Any]:
    used = totals.tallies.get(found.path, UNUSED)
    return {
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
        "ttl_seconds": found.ttl_seconds,
        "flags": found.flags,
        "description": found.topic.description if found.topic else None,
        "summary": found.topic.summary if found.topic else None,
        "sources": sources(found.lines),
        "used": {"count": used.count, "last_used_at": used.last_used_at},
    }
