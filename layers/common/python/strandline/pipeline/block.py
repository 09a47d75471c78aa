"""block: the memories that a prompt is given for a query, as text.

in             a query, a budget of tokens, types of memories and what each may take
out            a block of memory lines framed as data, with the memories in it and why
cost           one search

Lines that say the same as better ones do count whole here, other than in a search: what another line says of a message
may be what is asked for, and is cheap.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from strandline.domain.block import Block, Candidate, block
from strandline.domain.ranking import Hit
from strandline.domain.times import day, parse
from strandline.pipeline.library import Library
from strandline.pipeline.search import POOL, Query, Scope, run_search
from strandline.storage.layout import User

MAX_TOKENS = 1_600


@dataclass(frozen=True)
class Wanted:
    """What a prompt is about, and how much room there is: in all, and of a type with a quota. Without `types` memories
    of all of them are taken. An acting peer sees no other peer's memories."""

    query: str
    max_tokens: int = MAX_TOKENS
    types: frozenset[str] | None = None
    quotas: Mapping[str, int] = field(default_factory=dict)
    acting_peer: str | None = None


def memory_block(services: Library, owner: User, wanted: Wanted) -> Block:
    """The memories for that query within that budget."""
    scope = Scope(acting_peer=wanted.acting_peer)
    query = Query(wanted.query, limit=POOL, scope=scope, types=wanted.types, spread=False)
    candidates = [_candidate(hit) for hit in run_search(services, owner, query)]
    return block(candidates, wanted.max_tokens, services.tokens.count, wanted.quotas)


def _candidate(hit: Hit) -> Candidate:
    told = hit.document.attributes
    at = str(told["at"])
    return Candidate(
        path=hit.document.group,
        type=str(told["type"]),
        order=(at, hit.document.id),
        day=day(parse(at)),
        text=hit.document.text,
        score=hit.score,
        explain=hit.explain,
    )
