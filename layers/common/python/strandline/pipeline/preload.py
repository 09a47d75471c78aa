"""preload: which memories a prompt should begin with, and the text of them.

in             a query, a budget of tokens
out            a block framed as data, with what it holds and why
cost           one search, and a GET for each topic that is looked at

Memories come in the order of their best line. Of a topic all of the text is shown, of any other memory the lines that
were found.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from strandline.domain.memory_tool import seen
from strandline.domain.preload import Block, Candidate, block
from strandline.domain.ranking import Hit
from strandline.domain.topic import flags, freshness, is_topic
from strandline.pipeline.catalogue import read_file
from strandline.pipeline.library import Library
from strandline.pipeline.search import Query, Scope, run_search
from strandline.storage.layout import User

LINES = 100
TOPICS = 10
SHOWN_CHARS = 160
MAX_TOKENS = 1_600


@dataclass(frozen=True)
class Wanted:
    """What a prompt is about, and how much room there is. An acting peer sees no other peer's memories."""

    query: str
    max_tokens: int = MAX_TOKENS
    acting_peer: str | None = None


def preload(services: Library, owner: User, wanted: Wanted) -> Block:
    """The memories for that query within that budget."""
    query = Query(wanted.query, limit=LINES, scope=Scope(acting_peer=wanted.acting_peer))
    found: dict[str, list[Hit]] = {}
    for hit in run_search(services, owner, query):
        found.setdefault(hit.document.group, []).append(hit)
    topics = [path for path in found if is_topic(path)][:TOPICS]
    candidates = [
        _candidate(services, path, hits, _whole(services, owner, path) if path in topics else None)
        for path, hits in found.items()
    ]
    return block(candidates, wanted.max_tokens, services.tokens.count)


def _whole(services: Library, owner: User, path: str) -> Sequence[str] | None:
    memory = read_file(services, owner, path)
    return [line for line in seen(memory.body).split("\n") if line.strip()] if memory else None


def _candidate(services: Library, path: str, hits: Sequence[Hit], whole: Sequence[str] | None) -> Candidate:
    best = hits[0]
    told = best.document.attributes
    lines = whole or [hit.document.text for hit in sorted(hits, key=lambda hit: hit.document.id)]
    return Candidate(
        path=path,
        type=str(told["type"]),
        written=freshness(str(told.get("at") or ""), services.clock.now()),
        score=best.score,
        lines=lines,
        why=f"{len(hits)} of its lines were found, the best: {best.document.text[:SHOWN_CHARS]}",
        all=whole is not None,
        flagged=bool(flags(*lines)),
    )
