"""search: memory lines, or raw messages, best first.

A warm search makes one conditional GET of the user's memory index, and one of the message index; it finds whatever a
merge has written. Where an embedder is configured, it makes the same two requests for the vectors and asks the model
once, and both scores count together. Raw messages come from the message index (archived ones, of every session) and
from the head of the named session (live ones).

The best memories are reranked (`ranking/rerank`): the messages that a line cites tell more than the line itself, and a
query that names a person is about that person.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from strandline.domain.address import visible
from strandline.domain.errors import InvalidArgument
from strandline.domain.message import read_line
from strandline.domain.ranking import (
    Conditions,
    Document,
    Hit,
    Index,
    reranked,
    scores_of_turns,
    search_all,
    search_blended,
    spread,
)
from strandline.domain.times import stamp
from strandline.pipeline.commit import load_head
from strandline.pipeline.documents import message_documents, message_group
from strandline.pipeline.embedding import alike
from strandline.pipeline.library import Library
from strandline.pipeline.past import Past, catalogue_at
from strandline.storage.index import Catalogue
from strandline.storage.layout import User
from strandline.storage.log import ref

POOL = 200
"""How many of the best by words or likeness are looked at again, and how many messages speak for them."""

FILTERS = ("type", "peer", "session_id", "role", "peer_id", "archive")


@dataclass(frozen=True)
class Scope:
    """Where to look: directories of memories ("" is all), and sessions, each None for everywhere. An acting peer sees
    no other peer's memories."""

    directories: frozenset[str] | None = None
    sessions: frozenset[str] | None = None
    acting_peer: str | None = None

    def holds(self, document: Document) -> bool:
        if document.attributes["context_type"] == "message":
            return self.sessions is None or document.attributes["session_id"] in self.sessions
        path = document.group
        return visible(path, self.acting_peer) and (
            self.directories is None or any(within(path, directory) for directory in self.directories)
        )


def within(path: str, directory: str) -> bool:
    """Whether a memory path is that directory (or file), or below it."""
    return not directory or path == directory or path.startswith(f"{directory}/")


@dataclass(frozen=True)
class Query:
    """What to look for. `since` and `until` (RFC 3339, UTC) bound the time of the conversation, both inclusive. With
    `as_of` memories are searched as they were at that time. What held no longer at `until`, or now, is found only where
    `superseded` asks for it. With `spread` a memory line that cites only what better ones cite too
    counts half. `types` are those of memories, None for all."""

    text: str
    context_type: Literal["memory", "message"] = "memory"
    limit: int = 10
    score_threshold: float | None = None
    session_id: str | None = None
    scope: Scope = Scope()
    since: str | None = None
    until: str | None = None
    as_of: datetime | None = None
    superseded: bool = False
    spread: bool = True
    types: frozenset[str] | None = None
    filters: Mapping[str, Any] = field(default_factory=dict)


def run_search(services: Library, owner: User, query: Query) -> list[Hit]:
    """Raises InvalidArgument for an unknown filter, NotFound for a named session that is not there."""
    return search_past(services, owner, query)[0]


def search_past(services: Library, owner: User, query: Query) -> tuple[list[Hit], int]:
    """The hits, and of how many memories the bucket does not know any more what they were at the time asked for.

    Raises InvalidArgument for an unknown filter, and for messages of another time; NotFound for a named session that is
    not there; FailedPrecondition when too many memories have changed since.
    """
    unknown = sorted(set(query.filters) - set(FILTERS))
    if unknown:
        raise InvalidArgument(f"unknown filters {unknown}; known are {', '.join(FILTERS)}")
    kind = "messages" if query.context_type == "message" else "memories"
    past = _catalogue(services, owner, kind, query.as_of)
    stored = past.catalogue.index
    indexes = [stored, *(_unindexed(services, owner, query, stored) if kind == "messages" else ())]
    now = stamp(query.as_of or services.clock.now())
    likeness = alike(services, owner, kind, query.text)

    conditions = Conditions(query.limit, _accept(query), now, query.score_threshold)
    if kind == "memories":
        conditions = Conditions(max(POOL, query.limit), conditions.accept, now)
    if likeness:
        hits = search_blended(indexes, query.text, likeness, conditions)
    else:
        hits = search_all(indexes, query.text, conditions)
    if kind == "memories":
        hits = _looked_at_again(services, owner, query, hits)
    return hits, len(past.not_kept)


def _looked_at_again(services: Library, owner: User, query: Query, pool: Sequence[Hit]) -> list[Hit]:
    """The best memory lines by everything that speaks for them."""
    turns = _turns(services, owner, query) if pool and query.as_of is None else None
    hits = reranked(pool, query.text, turns)
    shown = spread(hits) if query.spread else hits
    return [hit for hit in shown if hit.score >= (query.score_threshold or 0.0)][: query.limit]


def _turns(services: Library, owner: User, query: Query) -> Mapping[tuple[str, int], float]:
    """The messages that the query finds by their words."""
    messages = _catalogue(services, owner, "messages", None).catalogue.index
    return scores_of_turns(search_all([messages], query.text, Conditions(POOL)))


def _catalogue(services: Library, owner: User, kind: str, as_of: datetime | None) -> Past:
    if as_of is None:
        found = services.indexes.read_warm(owner.index(kind))
        return Past(found.value if found else Catalogue())
    if kind == "messages":
        raise InvalidArgument(
            "as_of: only memories are searched as they were; bound messages by since and until"
        )
    return catalogue_at(services, owner, as_of)


def _unindexed(services: Library, owner: User, query: Query, archived: Index) -> list[Index]:
    """The messages of the named session that the index does not hold: live ones, and those of archives not merged."""
    if query.session_id is None:
        return []
    head = load_head(services, owner, query.session_id)
    known = set(archived.groups())
    runs = {"live": services.log.live(head, head.live_from, head.last_seq)}
    for archive in (*head.pending, *head.failed):
        if message_group(head.incarnation, archive.number) not in known:
            lines = services.log.archived(ref(head), archive.number, archive.first, archive.last)
            runs[message_group(head.incarnation, archive.number)] = lines or []
    groups = {
        group: list(message_documents(group, head.session_id, map(read_line, lines)))
        for group, lines in runs.items()
    }
    return [Index().replace_groups(groups)]


def _stands(document: Document, until: str | None) -> bool:
    """Whether what a line says still held then, or holds now."""
    ended = document.attributes.get("valid_until")
    return ended is None or (until is not None and str(ended) > until)


def _accept(query: Query) -> Callable[[Document], bool]:
    def accept(document: Document) -> bool:
        at = document.attributes.get("at") or document.attributes.get("created_at") or ""
        return (
            query.scope.holds(document)
            and (query.types is None or document.attributes.get("type") in query.types)
            and (query.superseded or _stands(document, query.until))
            and all(document.attributes.get(name) == value for name, value in query.filters.items())
            and (query.since is None or str(at) >= query.since)
            and (query.until is None or str(at) <= query.until)
        )

    return accept
