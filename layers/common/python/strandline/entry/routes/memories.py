"""Memories: list, read, write, delete."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any, Literal

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query
from pydantic import BaseModel, Field

from strandline.domain.address import memory_uri, visible
from strandline.domain.errors import Aborted, Conflict, FailedPrecondition, InvalidArgument, NotFound
from strandline.domain.link import Link
from strandline.domain.memory import Memory
from strandline.domain.message import MAX_ANSWER_BYTES, Moment, dumps
from strandline.domain.times import stamp
from strandline.domain.usage import UNUSED, Totals
from strandline.entry.answers import answers
from strandline.entry.http import ok, reply
from strandline.entry.results.memories import DeletedMemory, MemoryRow
from strandline.entry.results.memories import Memory as MemoryShown
from strandline.entry.routes.asking import (
    acting_peer,
    guard,
    new_router,
    owner,
    past,
    seal,
    seen_path,
    unseal,
)
from strandline.entry.routes.lifetime import Lifetime
from strandline.entry.wiring import library
from strandline.pipeline import memory
from strandline.pipeline.past import catalogue_at, read_at, read_version
from strandline.pipeline.usage import read_totals
from strandline.storage.layout import User
from strandline.storage.markdown import edited, sources

router = new_router()

MAX_PATH_CHARS = 1_024
GUARDS = ("IfMatch", "IfNoneMatch")
Rows = Mapping[str, Mapping[str, Any]]


class WriteMemory(Lifetime):
    """The memory's markdown. It may have front matter, such as a file read whole has: its `title`, `expires_at` and
    `ttl_seconds` are used, for a topic also `name`, `description`, `summary` and `type`; everything else in it is
    derived from the file."""

    content: str


class Listing(BaseModel):
    """Which memories: those of a type, those whose path begins with `prefix`, those that existed at the time
    `as_of`."""

    prefix: str = ""
    type: str | None = None
    limit: int = Field(default=100, ge=1, le=1000)
    cursor: str | None = None
    view: Literal["basic", "full"] = "basic"
    as_of: Moment | None = None


@router.get("/api/v1/memories")
@answers(list[MemoryRow], FailedPrecondition, paged=True, dated=True)
def list_memories(wanted: Annotated[Listing, Query()]) -> dict[str, Any]:
    """The memories by path; in full, also with their text and how often each was used. A full page ends where the
    answer has no more room. With `as_of` the memories of that time; `not_kept` counts those whose state then is no
    longer known."""
    whose = owner(router)
    known = library()
    then = past(wanted.as_of, known.clock)
    place = f"memories/{wanted.prefix}"
    rows, beside = _rows(whose, wanted, then, after=unseal(wanted.cursor, whose, place) or "")
    shown = rows[: wanted.limit]
    if wanted.view == "full":
        shown, last = _whole(whose, shown, then)
    else:
        last = shown[-1]["path"] if shown else ""
    rest = last if last and rows[-1]["path"] > last else None
    return ok(shown, known.clock, next_cursor=seal(rest, whose, place), **beside)


def _rows(
    whose: User, wanted: Listing, then: datetime | None, *, after: str
) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """Everything wanted from behind `after`, and what to say beside it."""
    found, beside = _listed(whose, wanted.prefix, then)
    peer = acting_peer(router)
    rows = [
        {"path": path, "uri": memory_uri(whose.user_id, path), **row}
        for path, row in found.items()
        if path > after and wanted.type in (None, row["type"]) and visible(path, peer)
    ]
    return rows, beside


def _listed(whose: User, prefix: str, then: datetime | None) -> tuple[Rows, dict[str, int]]:
    """The rows, and what to say beside them."""
    known = library()
    if then is None:
        return memory.list_memories(known, whose, prefix), {}
    found = catalogue_at(known, whose, then)
    lost = sum(path.startswith(prefix) for path in found.not_kept)
    return memory.unexpired(found.catalogue, stamp(then), prefix), {"not_kept": lost}


def _whole(
    whose: User, rows: list[dict[str, Any]], then: datetime | None
) -> tuple[list[dict[str, Any]], str]:
    """These memories in full, as many as one answer holds, and the last path that was looked at."""
    known = library()
    totals = read_totals(known, whose)
    found: list[dict[str, Any]] = []
    room = MAX_ANSWER_BYTES
    last = ""
    for row in rows:
        with suppress(NotFound):  # it has gone since it was listed
            whole = {**row, **_shown(whose, _read(whose, row["path"], then), totals)}
            room -= len(dumps(whole))
            if found and room < 0:
                break
            found.append(whole)
        last = row["path"]
    return found, last


@router.get("/api/v1/memories/<path>")
@answers(MemoryShown, etag=True)
def read(
    path: str, as_of: Moment | None = None, version: Annotated[int | None, Query(ge=1)] = None
) -> Response[str]:
    """One memory, and how often it was used; `ETag` is the SHA-256 of its content. With `as_of` as it was at that
    time, with `version` that version."""
    whose = owner(router)
    known = library()
    if as_of is not None and version is not None:
        raise InvalidArgument("as_of and version exclude each other")
    if version is not None:
        return _answer(whose, read_version(known, whose, seen_path(router, path), version))
    return _answer(whose, _read(whose, seen_path(router, path), past(as_of, known.clock)))


def _read(whose: User, path: str, then: datetime | None) -> Memory:
    return read_at(library(), whose, path, then) if then else memory.read(library(), whose, path)


@router.put("/api/v1/memories/<path>")
@answers(MemoryShown, Aborted, Conflict, FailedPrecondition, etag=True, headers=GUARDS)
def write(path: str, body: WriteMemory) -> Response[str]:
    """Writes a memory and replaces what is there, unless `If-Match` or `If-None-Match: *` forbids it."""
    whose = owner(router)
    plain = seen_path(router, path)
    edit = body.of(edited(body.content, plain))
    return _answer(whose, memory.write(library(), whose, plain, edit, guard(router)))


@router.delete("/api/v1/memories/<path>")
@answers(DeletedMemory, FailedPrecondition, headers=GUARDS)
def delete(
    path: str, replacement: Annotated[str | None, Query(max_length=MAX_PATH_CHARS)] = None
) -> dict[str, Any]:
    """Deletes a memory; the bucket keeps its versions. Links to it then lead to the memory at the path `replacement`;
    without one they are removed."""
    whose = owner(router)
    known = library()
    heir = None if replacement is None else seen_path(router, replacement)
    deletion = memory.Deletion(replacement=heir and memory.checked(heir))
    gone = memory.delete(known, whose, seen_path(router, path), guard(router), deletion=deletion)
    return ok(
        {"path": gone.path, "uri": memory_uri(whose.user_id, gone.path), "sha256": gone.sha256}, known.clock
    )


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
        "fields": {value.field: value.value for value in found.values if not value.field.startswith("_")},
        "links": [_link(whose, link) for link in found.links],
        "used": {"count": used.count, "last_used_at": used.last_used_at},
    }


def _link(whose: User, link: Link) -> dict[str, Any]:
    uri = memory_uri(whose.user_id, link.path)
    return {"type": link.type, "back": link.back, "path": link.path, "uri": uri}
