"""Experiences as an agent finds and reads them: cases by what was asked, situations first, a text only where it fits.

A search reads the cases that it finds and the experiences that they name; a reading is counted for a session that is
named with it, so that the outcome of its next commit is that experience's, too (`learn.py`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from strandline.domain.errors import InvalidUri
from strandline.domain.learning.anchor import sought
from strandline.domain.learning.experience import confidence, situation, told
from strandline.domain.learning.run import runs
from strandline.domain.learning.standing import superseded_by
from strandline.domain.line import DERIVED
from strandline.domain.memory import Memory
from strandline.domain.memory_types.outcomes import OUTCOMES
from strandline.pipeline import memory
from strandline.pipeline.catalogue import lineage, read_file
from strandline.pipeline.library import Library
from strandline.pipeline.related import present, together
from strandline.pipeline.search import Query, run_search
from strandline.pipeline.usage import UsageReport, run_usage
from strandline.storage.layout import User

FOLDER = "experiences/"
LINES_PER_CASE = 10
PER_CASE = 5
HEIRS = 3
"""How often what has taken the place of an experience may have been taken the place of itself."""

MAX_QUERY_CHARS = 2_000


@dataclass(frozen=True)
class Gist:
    """What is shown of an experience that is not read yet."""

    path: str
    name: str
    situation: str


@dataclass(frozen=True)
class FoundCase:
    """A case that a search has found, with what was learnt of it."""

    path: str
    memory: Memory
    score: float
    experiences: Sequence[Gist]


def search_experience(services: Library, owner: User, query: str, limit: int) -> list[FoundCase]:
    """The cases whose requests are like the query, best first. Reads each of them, and its experiences. An experience
    that somebody has written, and that belongs to no case, stands for itself."""
    wanted = Query(
        sought(query[:MAX_QUERY_CHARS]),
        limit=limit * LINES_PER_CASE,
        types=frozenset({"cases"}),
        spread=False,
    )
    best: dict[str, float] = {}
    for hit in run_search(services, owner, wanted):
        best.setdefault(hit.document.group, hit.score)
    found = []
    for path in list(best)[:limit]:
        case = read_file(services, owner, path)
        if case is not None:
            found.append(FoundCase(path, case, best[path], list(_gists(services, owner, case))))
    found += _written(services, owner, query[:MAX_QUERY_CHARS], limit)
    return sorted(found, key=lambda each: -each.score)[:limit]


def _written(services: Library, owner: User, query: str, limit: int) -> Iterator[FoundCase]:
    wanted = Query(query, limit=limit * PER_CASE, types=frozenset({"experiences"}), spread=False)
    own = [hit for hit in run_search(services, owner, wanted) if "#own" in hit.document.id]
    best = {hit.document.group: hit.score for hit in reversed(own)}
    for path in list(dict.fromkeys(hit.document.group for hit in own))[:limit]:
        there = read_file(services, owner, path)
        alone = there and not superseded_by(there)
        if there and alone and not any(link.type == "belongs_to" for link in there.links):
            yield FoundCase(path, there, best[path], [Gist(path, there.title, first_line(there))])


def _gists(services: Library, owner: User, case: Memory) -> Iterator[Gist]:
    """Those that were learnt of the case; what has taken the place of one in its stead."""
    linked = [link.path for link in case.links if link.path.startswith(FOLDER)][:PER_CASE]
    there = {path: present(services, owner, path) for path in linked}
    for _ in range(HEIRS):
        heirs = [heir for known in there.values() if known for heir in superseded_by(known)]
        there |= {path: present(services, owner, path) for path in heirs if path not in there}
    for path, known in there.items():
        if known is not None and not superseded_by(known):
            yield Gist(path, known.title, situation(known.values) or first_line(known))


def first_line(found: Memory) -> str:
    """The first line of a text that says something, as of an experience that somebody has written."""
    rows = (row.removesuffix(DERIVED).strip("- ").strip() for row in found.body.split("\n"))
    return next((row[:300] for row in rows if row and not row.startswith("#")), "")


@dataclass(frozen=True)
class Shown:
    """An experience, its text with what runs of `related` ones teach, how much all of that counts (0 to 1: the mean of
    the runs), and what has taken its place, by path."""

    memory: Memory
    text: str
    confidence: float
    related: Sequence[str]
    superseded_by: Sequence[str]


def read_experience(services: Library, owner: User, path: str, session_id: str | None = None) -> Shown:
    """Reads one, with the runs of those that ask the same, and counts that a session did. Raises NotFound when
    either is not there."""
    found = memory.read(services, owner, checked(path))
    if session_id is not None:
        run_usage(services, UsageReport(owner, session_id, [found.path]))
    whole = together(services, owner, found)
    sure = confidence(runs(whole.memory.values))
    return Shown(found, told(whole.memory), sure, sorted(whole.beside), superseded_by(found))


def checked(path: str) -> str:
    """The path, if it is that of an experience. Raises InvalidUri."""
    if not path.startswith(FOLDER):
        raise InvalidUri(
            f"not an experience: {path[:200]!r}; they are at …/memories/{FOLDER}", uri=path[:200]
        )
    return path


# ---- what became of it


@dataclass(frozen=True)
class Told:
    """A trajectory, and how it belongs to an experience: `source` it was learnt from, `used` it had read it."""

    path: str
    relation: str
    memory: Memory | None = None
    values: Mapping[str, str] = field(default_factory=dict)


def trajectories(
    services: Library, owner: User, path: str, days: tuple[str, str], page: slice
) -> tuple[list[Told], int]:
    """Those of an experience from one day to another (inclusive), the newest first, and how many there are. Raises
    NotFound."""
    found = memory.read(services, owner, checked(path))
    rows = memory.list_memories(services, owner, "trajectories/")
    ends = [
        (rows[end]["updated_at"], end, "used" if kind == "used" else "source")
        for end, kind in _lineage(services, owner, found)
        if end in rows and days[0] <= rows[end]["updated_at"][:10] <= days[1]
    ]
    some = sorted(ends, reverse=True)[page]
    return [_told(services, owner, end, relation) for _, end, relation in some], len(ends)


def _lineage(services: Library, owner: User, found: Memory) -> set[tuple[str, str]]:
    """Its own links name the newest; and those of an index that an older version wrote."""
    own = {(link.path, link.type) for link in found.links}
    index = services.indexes.read_warm(owner.index("memories"))
    return own | (lineage(index.value, found.path) if index else set())


def _told(services: Library, owner: User, path: str, relation: str) -> Told:
    there = read_file(services, owner, path)
    values = {value.field: str(value.value) for value in there.values} if there else {}
    return Told(path, relation, there, values)


@dataclass(frozen=True)
class Outcomes:
    """How the runs ended that had read an experience, and those that it was learnt from: all five, always."""

    used: Mapping[str, int]
    learned: Mapping[str, int]


def outcomes(services: Library, owner: User, path: str) -> Outcomes:
    """Raises NotFound."""
    found = memory.read(services, owner, checked(path))
    known = {value.field: value.value for value in found.values}
    return Outcomes(_tally(known, "used_"), _tally(known, ""))


def _tally(known: Mapping[str, str | int], prefix: str) -> dict[str, int]:
    return {each: int(known.get(f"{prefix}{each}", 0)) for each in OUTCOMES}
