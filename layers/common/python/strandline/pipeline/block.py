"""block: the memories that a prompt is given for a query, as text.

in             a query, a budget of tokens, types of memories and what each may take; perhaps a time
out            a block of topics and memory lines framed as data, with the memories in it and why
cost           one search, and a GET for each topic that is shown; as of a time what looking back costs (`past.py`)

Lines that say the same as better ones do count whole here, other than in a search: what another line says of a message
may be what is asked for, and is cheap.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from strandline.domain.block import OF_RUNS, Block, Candidate, Whole, block, default_quotas
from strandline.domain.errors import NotFound
from strandline.domain.memory import Memory
from strandline.domain.memory_tool import seen
from strandline.domain.ranking import Hit
from strandline.domain.times import day, parse
from strandline.domain.topic import flags, freshness, is_topic
from strandline.pipeline.catalogue import read_file
from strandline.pipeline.library import Library
from strandline.pipeline.past import read_at
from strandline.pipeline.search import POOL, Query, Scope, run_search
from strandline.storage.layout import User

MAX_TOKENS = 1_600
QUERY_CHARS = 1_000
"""What a long query begins and ends with: to search for every word of it takes longer than all the rest."""

TOPICS = 10
"""Topics that are read whole; of others found the lines that were found are shown."""


@dataclass(frozen=True)
class Wanted:
    """What a prompt is about, and how much room there is: in all, and of a type (what is not in `quotas` has what
    `default_quotas` says). Without `types` memories of all of them are taken, but for those of runs. An acting peer
    sees no other peer's memories. `as_of` (RFC 3339): the memories as they were then."""

    query: str
    max_tokens: int = MAX_TOKENS
    types: frozenset[str] | None = None
    quotas: Mapping[str, int] = field(default_factory=dict)
    acting_peer: str | None = None
    as_of: str | None = None

    def leaves_out(self, kind: str) -> bool:
        """Whether memories of a type have to be asked for, by `types` or `quotas`, and are not."""
        return kind in OF_RUNS and kind not in (self.types or self.quotas)

    @property
    def moment(self) -> datetime | None:
        return parse(self.as_of) if self.as_of else None


def memory_block(services: Library, owner: User, wanted: Wanted) -> Block:
    """The memories for that query within that budget. Raises FailedPrecondition when too much has changed since the
    time that is asked for."""
    scope = Scope(acting_peer=wanted.acting_peer)
    text = _both_ends(wanted.query)
    query = Query(text, limit=POOL, scope=scope, types=wanted.types, as_of=wanted.moment, spread=False)
    found = run_search(services, owner, query)
    hits = [hit for hit in found if not wanted.leaves_out(str(hit.document.attributes["type"]))]
    quotas = {**default_quotas(wanted.max_tokens), **wanted.quotas}
    candidates = list(_candidates(hits, _topics(services, owner, hits, wanted.moment)))
    return block(candidates, wanted.max_tokens, services.tokens.count, quotas)


def _both_ends(text: str) -> str:
    return text if len(text) <= QUERY_CHARS else f"{text[: QUERY_CHARS // 2]} {text[-QUERY_CHARS // 2 :]}"


def _topics(
    services: Library, owner: User, hits: Sequence[Hit], moment: datetime | None
) -> Mapping[str, Whole]:
    """The best of the topics that were found, whole."""
    paths = list(dict.fromkeys(hit.document.group for hit in hits if is_topic(hit.document.group)))
    found = {path: _read(services, owner, path, moment) for path in paths[:TOPICS]}
    now = moment or services.clock.now()
    return {path: _whole(memory, now) for path, memory in found.items() if memory}


def _read(services: Library, owner: User, path: str, moment: datetime | None) -> Memory | None:
    if moment is None:
        return read_file(services, owner, path)
    try:
        return read_at(services, owner, path, moment)
    except NotFound:
        return None


def _whole(memory: Memory, now: datetime) -> Whole:
    lines = tuple(line for line in seen(memory.body).split("\n") if line.strip())
    return Whole(lines, freshness(memory.updated_at, now))


def _candidates(hits: Sequence[Hit], topics: Mapping[str, Whole]) -> Iterator[Candidate]:
    """Best first; a topic that is shown whole comes once."""
    shown: set[str] = set()
    for hit in hits:
        path = hit.document.group
        whole = topics.get(path)
        if path not in shown:
            yield _candidate(hit, whole)
        if whole:
            shown.add(path)


def _candidate(hit: Hit, whole: Whole | None) -> Candidate:
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
        flagged=bool(flags(*(whole.lines if whole else (hit.document.text,)))),
        whole=whole,
    )
