"""What a user has as a tree of viking:// addresses: list, look, read."""

import json
import stat as modes
from datetime import datetime
from typing import Annotated, Any, Literal

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query
from pydantic import BaseModel, Field

from strandline.domain import tree
from strandline.domain.address import uri_of
from strandline.domain.errors import FailedPrecondition, InvalidUri, NotFound, Unimplemented
from strandline.domain.graphemes import beginning
from strandline.domain.message import MAX_ANSWER_BYTES, Moment
from strandline.domain.tree import Node
from strandline.entry.answers import answers
from strandline.entry.http import ok
from strandline.entry.identity import identifier
from strandline.entry.results.files import Entry, Looked
from strandline.entry.routes.asking import acting_peer, new_router, owner, past
from strandline.entry.wiring import library
from strandline.pipeline.files import Files
from strandline.pipeline.usage import UsageReport, run_usage

router = new_router()

MAX_NODES = 10_000
DIRECTORY_MODE = modes.S_IFDIR | 0o755
FILE_MODE = modes.S_IFREG | 0o644
BYTES = "application/octet-stream"
REFUSALS = (InvalidUri, NotFound, FailedPrecondition)
PEER = ("ActorPeer",)
Answer = dict[str, Any]
Limit = Annotated[int, Field(ge=1)]


class Listing(BaseModel):
    """What is shown of a directory: at most `node_limit` nodes (it takes precedence over `limit`), never more than
    10,000. Abstracts are cut to `abs_limit` characters, overviews of directories to `overview_limit`. `as_of` shows
    memories as they were at that time."""

    uri: str
    as_of: Moment | None = None
    output: Literal["original", "agent"] = "original"
    node_limit: Limit = 1000
    limit: Limit | None = None
    offset: int = Field(default=0, ge=0)
    abs_limit: int = Field(default=256, ge=0)
    include_abstract: bool | None = None
    include_overview: bool = False
    overview_limit: int = Field(default=4000, ge=1, le=100_000)
    tags: str | None = None

    @property
    def end(self) -> int:
        return self.offset + min(self.limit or self.node_limit, MAX_NODES)

    @property
    def with_abstract(self) -> bool:
        return self.output == "agent" if self.include_abstract is None else self.include_abstract


class Ls(Listing):
    """`simple` shows paths only, `recursive` everything below."""

    simple: bool = False
    recursive: bool = False
    sort_by: Literal["name", "mtime"] | None = None
    sort_order: Literal["asc", "desc"] = "asc"


class Tree(Listing):
    """Down to `level_limit` levels below the directory."""

    level_limit: int = Field(default=3, ge=1)
    directories_only: bool = False


class Lines(BaseModel):
    """Which lines of a file: `limit` of them from `offset` (counted from 0); -1 is all to the end. `raw` has no
    effect, as nothing of a file is hidden. With a `session_id` the use of a memory is counted."""

    uri: str
    as_of: Moment | None = None
    offset: int = Field(default=0, ge=0)
    limit: int = Field(default=-1, ge=-1)
    raw: bool = False
    session_id: str | None = Field(default=None, min_length=1, max_length=128)


@router.get("/api/v1/fs/ls")
@answers(list[Entry] | list[str], *REFUSALS, Unimplemented, listed=True, headers=PEER)
def ls(wanted: Annotated[Ls, Query()]) -> Answer:
    """What is in a directory, by path; sessions newest first."""
    files = _files(wanted.as_of)
    found = files.contents(wanted.uri, wanted.end + 1)
    shown = [node for node in found if wanted.recursive or node.depth == 1]
    return _page(files, _sorted(shown, wanted), wanted, simple=wanted.simple)


def _sorted(nodes: list[Node], wanted: Ls) -> list[Node]:
    """Directories first when an order is asked for."""
    if wanted.sort_by is None:
        return nodes
    by_time = wanted.sort_by == "mtime"
    ordered = sorted(
        nodes, key=lambda n: n.at or "" if by_time else n.path, reverse=wanted.sort_order == "desc"
    )
    return sorted(ordered, key=lambda node: not node.is_dir)


@router.get("/api/v1/fs/tree")
@answers(list[Entry], *REFUSALS, Unimplemented, listed=True, headers=PEER)
def show_tree(wanted: Annotated[Tree, Query()]) -> Answer:
    """A directory and what is below it, by path."""
    files = _files(wanted.as_of)
    found = files.contents(wanted.uri, wanted.end + 1)
    shown = [n for n in found if n.depth <= wanted.level_limit and (n.is_dir or not wanted.directories_only)]
    return _page(files, shown, wanted, simple=False)


def _page(files: Files, nodes: list[Node], wanted: Listing, *, simple: bool) -> Answer:
    """As many nodes as are wanted and fit into one answer."""
    if wanted.tags:
        raise Unimplemented("there are no tags; ask without them")
    rows: list[Any] = []
    room = MAX_ANSWER_BYTES
    for node in nodes[wanted.offset : wanted.end]:
        row = node.path if simple else _shown(files, node, wanted)
        room -= len(json.dumps(row))
        if room < 0:
            break
        rows.append(row)
    return ok(rows, library().clock, has_more=len(nodes) > wanted.offset + len(rows))


def _shown(files: Files, node: Node, wanted: Listing) -> Answer:
    place = (*files.place(wanted.uri), *node.path.split("/"))
    row = {**_entry(node, uri_of(place)), "rel_path": node.path}
    if wanted.with_abstract:
        row["abstract"] = beginning(files.listed_abstract(wanted.uri, node), wanted.abs_limit)
    if wanted.include_overview and node.rows:
        row["overview"] = tree.overview(node.rows, node.path, wanted.overview_limit)[: wanted.overview_limit]
    return row


def _entry(node: Node, uri: str) -> Answer:
    row = {
        "name": node.name,
        "uri": uri,
        "isDir": node.is_dir,
        "size": node.size,
        "mode": DIRECTORY_MODE if node.is_dir else FILE_MODE,
        "modTime": node.at,
    }
    return {**row, "count": len(node.rows)} if node.is_dir else row


@router.get("/api/v1/fs/stat")
@answers(Looked, *REFUSALS, headers=PEER)
def stat(uri: str, as_of: Moment | None = None) -> Answer:
    """One file or directory; `count` is how many memories are below it."""
    files = _files(as_of)
    node = files.look(uri)
    return ok({**_entry(node, uri_of(files.place(uri))), "isLocked": False}, library().clock)


@router.get("/api/v1/content/read")
@answers(str, *REFUSALS, headers=PEER)
def read(wanted: Annotated[Lines, Query()]) -> Answer:
    """The text of a file at a viking:// address of the user's own: a memory with its front matter, or a text of an
    archive (`…/sessions/<id>/archives/<archive>/abstract.md`, `overview.md`, `memory_diff.json`, and `learn_diff.json`
    where it has taught something)."""
    files = _files(wanted.as_of)
    lines = files.read(wanted.uri).split("\n")
    place = files.place(wanted.uri)
    if wanted.session_id is not None and place[2:3] == ("memories",):
        session = identifier(wanted.session_id, "session_id")
        peer = acting_peer(router)
        run_usage(library(), UsageReport(owner(router), session, ["/".join(place[3:])], acting_peer=peer))
    end = None if wanted.limit < 0 else wanted.offset + wanted.limit
    return ok("\n".join(lines[wanted.offset : end]), library().clock)


@router.get("/api/v1/content/abstract")
@answers(str, *REFUSALS, headers=PEER)
def abstract(uri: str, as_of: Moment | None = None) -> Answer:
    """A sentence or two about a directory or a memory. For an archive or a session it is the abstract from its
    extraction, for a memory its first line, for any other directory counts of what is in it."""
    return ok(_files(as_of).abstract(uri), library().clock)


@router.get("/api/v1/content/overview")
@answers(str, *REFUSALS, headers=PEER)
def overview(uri: str, as_of: Moment | None = None) -> Answer:
    """More about a directory or a memory. For an archive or a session it is the working memory, for a memory its
    lines without their sources, for any other directory one line per memory in it, at most 4,000 characters."""
    return ok(_files(as_of).overview(uri), library().clock)


@router.get("/api/v1/content/download")
@answers(str, *REFUSALS, media=BYTES, headers=PEER)
def download(uri: str, as_of: Moment | None = None) -> Response[str]:
    """The bytes of a file."""
    return Response(200, BYTES, _files(as_of).read(uri))


def _files(as_of: datetime | None) -> Files:
    known = library()
    return Files(known, owner(router), acting_peer(router), past(as_of, known.clock))
