"""Topics: what an agent writes down for itself, and the index of it."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from aws_lambda_powertools.event_handler.openapi.params import Query
from pydantic import Field

from strandline.domain.address import memory_uri
from strandline.domain.errors import Aborted, Conflict
from strandline.domain.memory import Memory
from strandline.domain.topic import DIRECTORY, freshness
from strandline.entry.answers import answers
from strandline.entry.http import ok
from strandline.entry.results.topics import SavedTopic, ShownIndex
from strandline.entry.routes.asking import acting_peer, new_router, owner
from strandline.entry.routes.exact import Exact
from strandline.entry.routes.lifetime import Lifetime
from strandline.entry.routes.search import shown_block
from strandline.entry.wiring import library
from strandline.pipeline import topic
from strandline.pipeline.block import MAX_TOKENS, Wanted, memory_block
from strandline.storage.layout import User

router = new_router()


class SaveTopic(Lifetime, Exact):
    """A whole topic. It replaces what has that file name; the bucket keeps its versions. Name, description and
    summary are put on one line each; the index shows the summary."""

    filename: str = Field(description="without a path; `.md` may be left out")
    name: str
    description: str
    memory_type: Literal["user", "feedback", "project", "reference"]
    summary: str
    content: str


@router.post("/api/v1/memories/topics")
@answers(SavedTopic, Aborted, Conflict)
def save_topic(body: SaveTopic) -> dict[str, Any]:
    """Saves a topic: a memory `topics/<filename>` that the index of topics shows."""
    whose = owner(router)
    known = library()
    note = topic.Note(body.name, body.description, body.memory_type, body.summary, body.content)
    saved = topic.save(known, whose, body.filename, body.of(note.edit()))
    return ok(_saved(whose, saved), known.clock)


@router.get("/api/v1/memories/index")
@answers(ShownIndex)
def index(
    query: Annotated[str | None, Query(max_length=10_000)] = None,
    max_tokens: Annotated[int, Query(ge=1, le=100_000)] = MAX_TOKENS,
) -> dict[str, Any]:
    """The index of the agent's topics, newest first, limited to what suits a prompt. With a query also a block of
    the memories most relevant to it, topics and others, of at most `max_tokens` tokens."""
    whose = owner(router)
    known = library()
    made = topic.topic_index(known, whose)
    shown: dict[str, Any] = {
        "index": made.text,
        "lines": made.text.count("\n"),
        "bytes": len(made.text.encode()),
        "total": made.total,
        "shown": len(made.shown),
        "truncated": made.truncated,
        "topics": [_listed(whose, path, row) for path, row in made.shown.items()],
    }
    if query is not None:
        wanted = Wanted(query, max_tokens, acting_peer=acting_peer(router))
        shown["block"] = shown_block(memory_block(known, whose, wanted), whose)
    return ok(shown, known.clock)


def _saved(whose: User, saved: Memory) -> dict[str, Any]:
    row = {
        "title": saved.title,
        "type": saved.type,
        "description": saved.topic.description if saved.topic else "",
        "summary": saved.topic.summary if saved.topic else "",
        "updated_at": saved.updated_at,
        "expires_at": saved.expires_at,
        "flags": saved.flags,
    }
    more = {"sha256": saved.sha256, "version": saved.version, "ttl_seconds": saved.ttl_seconds}
    return {**_listed(whose, saved.path, row), **more}


def _listed(whose: User, path: str, row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "filename": path.removeprefix(DIRECTORY),
        "path": path,
        "uri": memory_uri(whose.user_id, path),
        "name": row["title"],
        "description": row.get("description", ""),
        "type": row["type"],
        "summary": row.get("summary", ""),
        "updated_at": row["updated_at"],
        "expires_at": row["expires_at"],
        "freshness": freshness(row["updated_at"], library().clock.now()),
        "flags": row.get("flags", []),
    }
