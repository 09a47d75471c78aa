"""Requests and bytes per use case: append, commit + extract + merge, search, context."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from statistics import mode

from strandline.domain.contracts import ExtractRequested, MergeRequested, SessionRef
from strandline.domain.errors import Aborted
from strandline.domain.message import MessageIn
from strandline.pipeline.append import AppendRequest, run_append
from strandline.pipeline.commit import run_commit
from strandline.pipeline.context import run_context
from strandline.pipeline.extract import run_extract
from strandline.pipeline.library import Library
from strandline.pipeline.merge import run_merge
from strandline.pipeline.search import Query, run_search
from strandline.storage.layout import User
from tests.perf import talk
from tests.perf.counting import Counts
from tests.perf.world import World, sent

OWNER = User("acme", "writer")
WRITERS = 20
APPENDS_EACH = 10
IN_A_ROW = 330  # more than one tail of messages, so that the mean has its share of spills


@dataclass(frozen=True)
class Row:
    """One line of a table: what was done, its usual requests, and the mean of several where it varies."""

    what: str
    usual: Counts
    mean: Counts
    note: str = ""


def _append(library: Library, owner: User, session_id: str, messages: Sequence[MessageIn]) -> None:
    run_append(library, AppendRequest(owner, session_id, messages))


def _one(rng: random.Random) -> list[MessageIn]:
    return [MessageIn(role="user", content=talk.said(rng))]


# ---- append ------------------------------------------------------------------------------------------------


def appends(world: World, *, quick: bool) -> list[Row]:
    """Single messages onto sessions of several lengths, function warm and cold, and many writers at once."""
    rows = [_first(world)]
    for live in (1, 1_000, 10_000 if quick else 100_000):
        rows += _onto(world, live)
    return [*rows, _writers(world)]


def _first(world: World) -> Row:
    rng = random.Random(1)
    return _row(world, "a new session, cold", [partial(_cold, world, f"new-{n}", rng) for n in range(5)])


def _cold(world: World, session_id: str, rng: random.Random) -> None:
    _append(world.library(), OWNER, session_id, _one(rng))


def _onto(world: World, live: int) -> list[Row]:
    session_id = f"live-{live}"
    rng = random.Random(live)
    warm = world.library()
    for batch in talk.batches(live, live):
        _append(warm, OWNER, session_id, batch)
    world.take()
    steps = [partial(_append, warm, OWNER, session_id, _one(rng)) for _ in range(IN_A_ROW)]
    cold = [partial(_cold, world, session_id, rng) for _ in range(5)]
    return [
        _row(world, f"{live:,} live, warm", steps),
        _row(world, f"{live:,} live, cold", cold),
    ]


def _row(world: World, what: str, steps: Sequence[Callable[[], object]], note: str = "") -> Row:
    """Each step counted by itself: `usual` is what most of them took."""
    counts = []
    world.take()
    for step in steps:
        step()
        counts.append(world.take())
    usual = mode(tuple(sorted(count.requests.items())) for count in counts)
    mean = sum(counts, Counts()).per(len(counts))
    return Row(what, Counts(dict(usual)), mean, note)


def _writers(world: World) -> Row:
    """Every writer is a warm function of its own, and appends its next message as soon as the last is acknowledged."""
    libraries = [world.library() for _ in range(WRITERS)]
    for library in libraries:
        _append(library, OWNER, "shared", _one(random.Random(0)))
    world.take()
    with ThreadPoolExecutor(WRITERS) as pool:
        outcomes: Counter[str] = sum(pool.map(_write_on, libraries), Counter())
    mean = world.take().per(outcomes["acknowledged"])
    note = f"{outcomes['acknowledged']} acknowledged, {outcomes['aborted']} refused with 409 ABORTED"
    return Row(f"{WRITERS} warm writers at once", mean, mean, note)


def _write_on(library: Library) -> Counter[str]:
    outcomes: Counter[str] = Counter()
    rng = random.Random(id(library))
    for _ in range(APPENDS_EACH):
        try:
            _append(library, OWNER, "shared", _one(rng))
            outcomes["acknowledged"] += 1
        except Aborted:
            outcomes["aborted"] += 1
    return outcomes


# ---- commit, extract, merge ----------------------------------------------------------------------------------


def archives(world: World) -> list[Row]:
    """One archive through its three stages, each in a cold function; the last one meets memories that are there."""
    cases = [(f"archived-{size}", size, 1) for size in (1, 10, 100)]
    rows = [row for user, size, n in cases for row in _archive(world, User("acme", user), size, n)]
    return [*rows, *_archive(world, User("acme", "archived-100"), 100, 2)]


def _archive(world: World, owner: User, size: int, number: int) -> list[Row]:
    name = _counted(size, "message") if number == 1 else f"{size} more messages of the same user"
    session_id = f"session-{number}"
    _append(world.library(), owner, session_id, talk.messages(size + number, size))
    world.take()
    stages: dict[str, Counts] = {}
    committing, extracting, merging = world.library(), world.library(), world.library()
    whose = SessionRef(account_id=owner.account_id, user_id=owner.user_id, session_id=session_id)
    run_commit(committing, whose)
    stages["commit"] = world.take()
    (wanted,) = sent(committing.extract_queue)
    assert isinstance(wanted, ExtractRequested)
    run_extract(extracting, wanted)
    stages["extract"] = world.take()
    (found,) = sent(extracting.merge_queue)
    assert isinstance(found, MergeRequested)
    assert run_merge(merging, [found]) == [None]
    stages["merge"] = world.take()
    files = sum(1 for _ in merging.objects.keys(owner.memories))
    world.take()
    note = f"{_counted(files, 'memory file')} then"
    return [
        Row(f"{name}: {stage}", counts, counts, note if stage == "merge" else "")
        for stage, counts in stages.items()
    ]


def _counted(n: int, thing: str) -> str:
    return f"{n} {thing}{'' if n == 1 else 's'}"


# ---- reads ---------------------------------------------------------------------------------------------------


def reads(world: World) -> list[Row]:
    """Search and context of a user with two archives of 100 messages and some live ones."""
    owner = User("acme", "archived-100")
    _append(world.library(), owner, "session-1", talk.messages(7, 20))
    asked = {
        "search, memories": Query("Who went sailing in Lisbon?"),
        "search, messages": Query("Who went sailing in Lisbon?", context_type="message"),
        "search, messages and the live ones of a session": Query(
            "Who went sailing?", context_type="message", session_id="session-1"
        ),
    }
    rows = []
    for what, query in asked.items():
        warm = world.library()
        rows.append(_row(world, f"{what}, cold", [partial(run_search, warm, owner, query)]))
        rows.append(_row(world, f"{what}, warm", [partial(run_search, warm, owner, query)] * 3))
    library = world.library()
    rows.append(_row(world, "context", [partial(run_context, library, owner, "session-1")]))
    return rows
