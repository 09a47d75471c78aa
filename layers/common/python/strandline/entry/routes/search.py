"""Search over memories and raw messages."""

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from strandline.domain.address import archive_id, memory_uri, place_of, session_uri
from strandline.domain.block import Block, Taken
from strandline.domain.errors import (
    FailedPrecondition,
    InvalidArgument,
    InvalidUri,
    NotFound,
    Unimplemented,
)
from strandline.domain.message import MAX_ANSWER_BYTES, Identifier, Moment
from strandline.domain.ranking import Hit
from strandline.domain.scalars import Real, Switched, Whole
from strandline.domain.times import stamp
from strandline.domain.topic import flags
from strandline.entry.answers import answers
from strandline.entry.http import ok
from strandline.entry.repeat import run_again
from strandline.entry.results.search import Found, ShownBlock
from strandline.entry.routes.asking import acting_peer, new_router, owner, past
from strandline.entry.wiring import library
from strandline.pipeline import block, memory
from strandline.pipeline.past import read_at
from strandline.pipeline.search import Query, Scope, search_past
from strandline.pipeline.usage import note_handed_out
from strandline.storage.layout import User

router = new_router()

MAX_HITS = 200
MAX_BLOCK_TOKENS = 100_000
DETAIL = 2
_AGO = re.compile(r"(\d{1,6})([mhd])", re.ASCII)
_UNITS = {"m": "minutes", "h": "hours", "d": "days"}


def _ago(text: str) -> str:
    if _AGO.fullmatch(text) is None:
        raise ValueError("is neither a time nor as long ago as '30m', '2h' or '7d'")
    return text


Ago = Annotated[str, AfterValidator(_ago)]
Kind = Literal["memory", "message", "resource", "skill"]
Level = Literal[0, 1, 2, "0", "1", "2"]


class Find(BaseModel):
    """What to look for. `since` and `until` bound the time of the conversation: a time, or how long ago (`7d`).
    `filter` names attributes that a hit must have. `target_uri` is one address or several: directories of memories,
    single memories, or sessions. `node_limit` takes precedence over `limit`. `read_content` adds the whole memory to
    each line. `as_of` searches memories as they were at that time. Facts that newer ones have ended are found only
    with `include_superseded`, or with an `until` at which they held."""

    model_config = ConfigDict(extra="ignore")

    query: str = Field(default="", max_length=10_000)
    target_uri: str | Annotated[list[str], Field(max_length=100)] | None = None
    limit: Whole = Field(default=10, ge=1, le=MAX_HITS)
    node_limit: Whole | None = Field(default=None, ge=1, le=MAX_HITS)
    score_threshold: Real | None = Field(default=None, allow_inf_nan=False)
    filter: dict[str, str | int | bool | None] = Field(default_factory=dict)
    since: Moment | Ago | None = None
    until: Moment | Ago | None = None
    as_of: Moment | None = None
    session_id: Identifier | None = None
    context_type: Kind | Annotated[list[Kind], Field(max_length=4)] | None = None
    level: Level | Annotated[list[Level], Field(max_length=3)] | None = None
    read_content: Switched = False
    include_superseded: Switched = False
    explain: Switched = False
    image_url: Any = None
    tags: list[str] | None = None
    mode: str | None = None

    @property
    def kinds(self) -> set[Kind]:
        """What is looked for; nothing when only summaries are, as there are none."""
        asked = self.level if isinstance(self.level, list) else [self.level]
        if self.level is not None and DETAIL not in asked and str(DETAIL) not in asked:
            return set()
        named = self.context_type if isinstance(self.context_type, list) else [self.context_type]
        return {kind for kind in named if kind} or {"memory"}

    @property
    def targets(self) -> list[str]:
        given = self.target_uri if isinstance(self.target_uri, list) else [self.target_uri]
        return [uri for uri in given if uri]


@router.post("/api/v1/search/find")
@answers(Found, FailedPrecondition, InvalidUri, NotFound, Unimplemented)
def find(body: Find) -> dict[str, Any]:
    """The best memory lines or messages for a query. When both kinds are searched, their scores are on separate
    scales."""
    run_again()
    whose = owner(router)
    known = library()
    _check(body)
    wanted = [_query(body, kind, whose) for kind in ("memory", "message") if kind in body.kinds]
    found = [search_past(known, whose, query) for query in wanted]
    hits = [hit for some, _ in found for hit in some]
    best = sorted(hits, key=lambda hit: -hit.score)[: body.node_limit or body.limit]
    rows = [_shown(hit, whose, explain=body.explain) for hit in best]
    if body.read_content:
        _add_content(rows, best, whose, past(body.as_of, known.clock))
    result = {"memories": rows, "resources": [], "skills": [], "total": len(rows)}
    if body.as_of:
        result["not_kept"] = sum(lost for _, lost in found)
    elif body.session_id:
        note_handed_out(known, whose, body.session_id, [hit.document.group for hit in best])
    return ok(result, known.clock)


@router.post("/api/v1/search/search")
@answers(Found, FailedPrecondition, InvalidUri, NotFound, Unimplemented)
def search(body: Find) -> dict[str, Any]:
    """The same as find. A session's id adds its live messages to the search; it does not change the query. The session
    has used the experiences among the hits: the outcome of its next commit is theirs, too."""
    return find(body)


class Wanted(BaseModel):
    """What a prompt is about, and the tokens for memories: in all, and at most for a type (`quotas`). `types` limits
    which memories may be in it; without it all may, cases and trajectories only where `quotas` names them.
    `session_id`: the session that the block is for; it has used the experiences in it, so the outcome of its next
    commit is theirs, too."""

    model_config = ConfigDict(extra="ignore")

    query: str = Field(min_length=1, max_length=10_000)
    max_tokens: Whole = Field(default=block.MAX_TOKENS, ge=1, le=MAX_BLOCK_TOKENS)
    types: Annotated[list[str], Field(max_length=100)] | None = None
    quotas: Annotated[dict[str, Annotated[Whole, Field(ge=0)]], Field(max_length=100)] = Field(
        default_factory=dict
    )
    explain: Switched = False
    as_of: Moment | None = None
    session_id: Identifier | None = None


@router.post("/api/v1/search/block")
@answers(ShownBlock)
def memory_block(body: Wanted) -> dict[str, Any]:
    """The memories for a prompt: the most relevant topics and lines that fit, lines by day, framed as data, with the
    list of memories they are from. The budget holds for the whole text. `as_of`: memories as they were then."""
    run_again()
    whose = owner(router)
    known = library()
    types = None if body.types is None else frozenset(body.types)
    moment = past(body.as_of, known.clock)
    as_of = stamp(moment) if moment else None
    wanted = block.Wanted(body.query, body.max_tokens, types, body.quotas, acting_peer(router), as_of)
    made = block.memory_block(known, whose, wanted)
    if body.session_id and not as_of:
        note_handed_out(known, whose, body.session_id, made.experiences)
    return ok(shown_block(made, whose, explain=body.explain), known.clock)


def shown_block(made: Block, whose: User, *, explain: bool = False) -> dict[str, Any]:
    """A block as an answer shows it."""
    memories = [_taken(each, whose, explain=explain) for each in made.taken]
    return {"text": made.text, "tokens": made.tokens, "memories": memories, "left_out": made.left_out}


def _taken(taken: Taken, whose: User, *, explain: bool) -> dict[str, Any]:
    best = taken.best
    row = {
        "uri": memory_uri(whose.user_id, best.path),
        "category": best.type,
        "score": best.score,
        "lines": taken.lines,
        "tokens": taken.tokens,
        "best": best.text,
        "cut": taken.cut,
        "flags": flags(best.text, *(best.whole.lines if best.whole else ())),
    }
    return {**row, "explain": dict(best.explain)} if explain else row


def _check(body: Find) -> None:
    if body.image_url is not None:
        raise Unimplemented("images are not searched; ask with words")
    if body.tags:
        raise Unimplemented("there are no tags; ask without them")
    if body.mode == "context":
        raise Unimplemented("a context is not made by search; ask GET /sessions/{id}/context")
    if not body.query:
        raise InvalidArgument("query: say what to look for", field="query")


def _query(body: Find, kind: Literal["memory", "message"], whose: User) -> Query:
    return Query(
        text=body.query,
        context_type=kind,
        limit=body.node_limit or body.limit,
        score_threshold=body.score_threshold,
        session_id=body.session_id,
        scope=_scope(body.targets, whose),
        since=_time(body.since),
        until=_time(body.until),
        as_of=past(body.as_of, library().clock),
        filters=body.filter,
        superseded=body.include_superseded,
    )


def _time(given: datetime | str | None) -> str | None:
    if isinstance(given, datetime):
        return stamp(given)
    found = _AGO.fullmatch(given or "")
    if found is None:
        return None
    try:
        return stamp(library().clock.now() - timedelta(**{_UNITS[found[2]]: int(found[1])}))
    except OverflowError:
        return ""


def _scope(targets: Iterable[str], whose: User) -> Scope:
    places = [place_of(uri, whose.user_id)[2:] for uri in targets]
    peer = acting_peer(router)
    if not places or () in places:
        return Scope(acting_peer=peer)
    directories = {"/".join(place[1:]) for place in places if place[0] == "memories"}
    sessions = {place[1] for place in places if place[0] == "sessions" and len(place) > 1}
    everything = ("sessions",) in places
    return Scope(frozenset(directories), None if everything else frozenset(sessions), peer)


def _add_content(rows: list[dict[str, Any]], hits: list[Hit], whose: User, then: datetime | None) -> None:
    """Puts whole memories beside their lines, best first, while they fit into the answer."""
    room = MAX_ANSWER_BYTES
    texts: dict[str, str] = {}
    for row, hit in zip(rows, hits, strict=True):
        path = hit.document.group
        if row["context_type"] == "memory":
            texts.setdefault(path, _text(whose, path, then))
            room -= len(texts[path].encode())
            if room >= 0 and texts[path]:
                row["content"] = texts[path]


def _text(whose: User, path: str, then: datetime | None) -> str:
    known = library()
    try:
        found = read_at(known, whose, path, then) if then else memory.read(known, whose, path)
        return found.body
    except NotFound:
        return ""


def _shown(hit: Hit, whose: User, *, explain: bool) -> dict[str, Any]:
    attributes = hit.document.attributes
    shown = _message(hit, whose) if attributes["context_type"] == "message" else _memory(hit, whose)
    row = {
        "context_type": attributes["context_type"],
        "level": DETAIL,
        "score": hit.score,
        "abstract": hit.document.text,
        "overview": None,
        **shown,
    }
    return {**row, "explain": dict(hit.explain)} if explain else row


def _memory(hit: Hit, whose: User) -> dict[str, Any]:
    attributes = hit.document.attributes
    sources = []
    if "session_id" in attributes:
        spans = ("session_id", "seq_from", "seq_to", "at")
        archive = archive_id(int(str(attributes["archive"])))
        sources = [{**{name: attributes[name] for name in spans}, "archive": archive}]
    return {
        "uri": memory_uri(whose.user_id, hit.document.group),
        "category": attributes["type"],
        "title": attributes["title"],
        "peer": attributes["peer"],
        "sources": sources,
        **{name: attributes[name] for name in ("valid_until", "superseded_by") if name in attributes},
    }


def _message(hit: Hit, whose: User) -> dict[str, Any]:
    names = ("session_id", "message_id", "seq", "role", "peer_id", "created_at")
    attributes = hit.document.attributes
    uri = f"{session_uri(whose.user_id, str(attributes['session_id']))}/messages/{attributes['seq']}"
    return {"uri": uri, "category": "message", **{name: attributes[name] for name in names}}
