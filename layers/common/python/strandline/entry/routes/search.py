"""Search over memories and raw messages."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from strandline.domain.errors import InvalidUri, NotFound
from strandline.domain.message import Identifier, Moment
from strandline.domain.ranking import Hit
from strandline.domain.times import stamp
from strandline.entry.answers import answers
from strandline.entry.http import ok
from strandline.entry.results.search import Found
from strandline.entry.routes.asking import new_router, owner
from strandline.entry.wiring import library
from strandline.pipeline.diff import archive_id, memory_uri, session_uri
from strandline.pipeline.search import Query, run_search
from strandline.storage.layout import User

router = new_router()


class Find(BaseModel):
    """`since` and `until` bound the time of the conversation; `filter` names attributes a hit must have."""

    model_config = ConfigDict(extra="ignore")

    query: str = Field(min_length=1, max_length=10_000)
    target_uri: str | None = None
    limit: int = Field(default=10, ge=1, le=200)
    score_threshold: float | None = None
    filter: dict[str, str | int | bool | None] = Field(default_factory=dict)
    since: Moment | None = None
    until: Moment | None = None
    session_id: Identifier | None = None
    context_type: Literal["memory", "message"] = "memory"
    explain: bool = False


@router.post("/api/v1/search/find")
@answers(Found, InvalidUri, NotFound)
def find(body: Find) -> dict[str, Any]:
    """The best memory lines or messages for a query."""
    whose = owner(router)
    known = library()
    hits = [_shown(hit, whose, explain=body.explain) for hit in run_search(known, whose, _query(body, whose))]
    return ok({"memories": hits, "resources": [], "skills": [], "total": len(hits)}, known.clock)


@router.post("/api/v1/search/search")
@answers(Found, InvalidUri, NotFound)
def search(body: Find) -> dict[str, Any]:
    """The same as find."""
    return find(body)


def _query(body: Find, whose: User) -> Query:
    return Query(
        text=body.query,
        context_type=body.context_type,
        limit=body.limit,
        score_threshold=body.score_threshold,
        session_id=body.session_id,
        prefix=_prefix(body.target_uri, whose),
        since=stamp(body.since) if body.since else None,
        until=stamp(body.until) if body.until else None,
        filters=body.filter,
    )


def _prefix(uri: str | None, whose: User) -> str:
    root = memory_uri(whose.user_id, "")
    if uri is None or uri.rstrip("/") + "/" == root:
        return ""
    if not uri.startswith(root):
        raise InvalidUri(f"target_uri must begin with {root}")
    return uri[len(root) :]


def _shown(hit: Hit, whose: User, *, explain: bool) -> dict[str, Any]:
    attributes = hit.document.attributes
    shown = _message(hit, whose) if attributes["context_type"] == "message" else _memory(hit, whose)
    row = {
        "context_type": attributes["context_type"],
        "score": hit.score,
        "abstract": hit.document.text,
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
    }


def _message(hit: Hit, whose: User) -> dict[str, Any]:
    names = ("session_id", "message_id", "seq", "role", "peer_id", "created_at")
    attributes = hit.document.attributes
    uri = f"{session_uri(whose.user_id, str(attributes['session_id']))}/messages/{attributes['seq']}"
    return {"uri": uri, "category": "message", **{name: attributes[name] for name in names}}
