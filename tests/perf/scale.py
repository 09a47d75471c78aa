"""A user with many memories: what the index takes to build, to keep up to date and to search.

The real use cases over a directory of files in place of the bucket, which counts requests and bytes; each part of it in
a process of its own, whose peak of memory is read at its end. Made-up memories, one file each: words by Zipf's law.
"""

import hashlib
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from typing import Any

from strandline.domain.memory import Line, Memory, Source
from strandline.pipeline.catalogue import reindex, tidy
from strandline.pipeline.embedding import embed
from strandline.pipeline.library import Library
from strandline.pipeline.search import Query, run_search
from strandline.pipeline.services import Ports, Rules
from strandline.ports import Condition, ConditionFailed, IfAbsent, IfMatch, Stored
from strandline.storage.layout import User
from tests.fakes import FakeIds
from tests.perf import report
from tests.perf.world import ROOT

SIZES = (100, 10_000, 50_000)
AT_ONCE = 500  # memories in one update of the build
UPDATES = 200
CHANGED = 10  # memories in one update thereafter
QUERIES = 50
DIMENSIONS = 384
OWNER = User("bench", "scale")
FOREVER = datetime(2100, 1, 1, tzinfo=UTC)


class Directory:
    """As much of an object store as indexes need. `calls` and `moved` count requests and bytes."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.calls: Counter[str] = Counter()
        self.moved: Counter[str] = Counter()

    def get(self, key: str) -> Stored | None:
        return self._get(key, None)

    def get_unless(self, key: str, etag: str) -> Stored | None:
        stored = self._get(key, etag)
        if stored is None:
            raise KeyError(key)
        return None if stored.etag == etag else stored

    def _get(self, key: str, unless: str | None) -> Stored | None:
        self.calls["get"] += 1
        path = self._path(key)
        if not path.exists():
            return None
        body = path.read_bytes()
        stored = Stored(body, hashlib.md5(body, usedforsecurity=False).hexdigest())
        self.moved["get"] += 0 if stored.etag == unless else len(body)
        return stored

    def put(
        self, key: str, body: bytes, *, when: Condition | None = None, meta: Mapping[str, str] | None = None
    ) -> str:
        self.calls["put"] += 1
        self.moved["put"] += len(body)
        path = self._path(key)
        if isinstance(when, IfAbsent) and path.exists():
            raise ConditionFailed(key)
        path.write_bytes(body)
        return hashlib.md5(body, usedforsecurity=False).hexdigest()

    def delete(self, key: str, *, when: IfMatch | None = None) -> None:
        self.calls["delete"] += 1
        self._path(key).unlink(missing_ok=True)

    def keys(self, prefix: str, *, after: str = "") -> Iterator[str]:
        self.calls["list"] += 1
        names = (path.name.replace("|", "/") for path in self._root.iterdir())
        return iter(sorted(name for name in names if name.startswith(prefix) and name > after))

    def _path(self, key: str) -> Path:
        return self._root / key.replace("/", "|")


class Numbers:
    """An embedder that costs next to nothing: numbers drawn from the text's hash."""

    name = "numbers/1"

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[Sequence[float]]:
        return [[byte - 127.5 for byte in _bytes(text)] for text in texts]


def _bytes(text: str) -> bytes:
    return hashlib.shake_128(text.encode()).digest(DIMENSIONS)


class RealClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


def library(store: Directory, *, vectors: bool) -> Library:
    """A function that has just started."""
    given: dict[str, Any] = {
        **dict.fromkeys(each.name for each in fields(Ports)),
        "objects": lambda: store,
        "clock": RealClock(),
        "ids": FakeIds(),
        "embedder": Numbers if vectors else None,
    }
    return Library(Ports(**given), Rules())


# ---- what is stored --------------------------------------------------------------------------------------------


class Talker:
    """Lines of words by Zipf's law: the k-th word comes 1/k as often as the first."""

    def __init__(self, seed: int, words: int = 20_000) -> None:
        self._random = random.Random(seed)
        self._words = [f"{_syllables(n)}" for n in range(words)]
        self._weights = list(accumulate(1 / (n + 3) for n in range(words)))

    def line(self, words: int = 16) -> str:
        return " ".join(self._random.choices(self._words, cum_weights=self._weights, k=words))


def _syllables(number: int) -> str:
    consonants, vowels = "bdfgklmnprst", "aeiou"
    spoken = ""
    while number or len(spoken) < 4:
        number, consonant = divmod(number, len(consonants))
        number, vowel = divmod(number, len(vowels))
        spoken += consonants[consonant] + vowels[vowel]
    return spoken


def memories(count: int, seed: int = 1) -> Iterator[Memory]:
    """That many files, each with a title and one line."""
    talker = Talker(seed)
    for number in range(count):
        yield made(talker, number)


def made(talker: Talker, number: int, version: int = 1) -> Memory:
    at = f"2026-{1 + number // 28 % 12:02d}-{1 + number % 28:02d}T09:00:00.000Z"
    source = Source(
        at, f"session-{number // 20}", 1, number % 20 + 1, number % 20 + 1, f"{number % 2**48:012x}"
    )
    title = talker.line(2)
    return Memory(
        path=f"entities/things/{number:06d}-{title.replace(' ', '-')[:20]}.md",
        type="entities",
        title=title,
        peer=None,
        body=f"# {title}\n\n{Line(source, talker.line())}\n",
        created_at=at,
        updated_at=at,
        applied=tuple(f"{each:012x}" for each in range(version)),
    )


def update(services: Library, files: Mapping[str, Memory | None]) -> None:
    """What a merge does about the index when it has written these files."""
    base = services.indexes.read_warm(OWNER.index("memories"))
    reindex(services, OWNER, files, base=base, known=files)
    embed(services, OWNER, "memories", FOREVER)
    tidy(services, OWNER, "memories")


# ---- what is measured --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cost:
    """What a step takes: the mean of several, and the most that one of them took; of memory, the process's peak."""

    seconds: float
    most_seconds: float
    written: float
    most_written: float
    read: float
    calls: Mapping[str, float]
    peak: int = 0


KINDS = ("put", "get", "list", "delete")


def measured(store: Directory, steps: Sequence[Callable[[], object]]) -> Cost:
    seconds, written = [], []
    calls, moved = Counter(store.calls), Counter(store.moved)
    for step in steps:
        began, before = time.process_time(), store.moved["put"]
        step()
        seconds.append(time.process_time() - began)
        written.append(store.moved["put"] - before)
    count = len(steps)
    return Cost(
        sum(seconds) / count,
        max(seconds),
        sum(written) / count,
        max(written),
        (store.moved["get"] - moved["get"]) / count,
        {kind: (store.calls[kind] - calls[kind]) / count for kind in KINDS},
    )


def build(root: Path, size: int, *, vectors: bool) -> Cost:
    """The whole index, as a restore makes it."""
    store = Directory(root)
    services = library(store, vectors=vectors)
    files = list(memories(size))
    chunks = [files[start : start + AT_ONCE] for start in range(0, size, AT_ONCE)]

    def step(chunk: Sequence[Memory]) -> Callable[[], object]:
        return lambda: update(services, {memory.path: memory for memory in chunk})

    return measured(store, [step(chunk) for chunk in chunks])


def updates(root: Path, size: int, *, vectors: bool) -> Cost:
    """Merges in one warm function: each changes a few memories and adds a few."""
    store = Directory(root)
    services = library(store, vectors=vectors)
    talker, rng, files = Talker(2), random.Random(3), list(memories(size))
    services.indexes.read(OWNER.index("memories"))
    if vectors:
        services.vectors.read(OWNER.vectors("memories"))

    def step(number: int) -> Callable[[], object]:
        old = rng.sample(files, CHANGED // 2)
        changed = [Memory(**{**vars(m), "body": made(talker, number).body, "edits": 1}) for m in old]
        new = [made(talker, size + CHANGED * number + n) for n in range(CHANGED - len(old))]
        return lambda: update(services, {memory.path: memory for memory in (*changed, *new)})

    return measured(store, [step(number) for number in range(UPDATES)])


def cold(root: Path, _size: int, *, vectors: bool) -> Cost:
    """A query in a function that has just started."""
    store = Directory(root)
    services = library(store, vectors=vectors)
    return measured(store, [lambda: run_search(services, OWNER, Query(Talker(4).line(6)))])


def warm(root: Path, _size: int, *, vectors: bool) -> Cost:
    """Queries in a function that has answered one."""
    store = Directory(root)
    services = library(store, vectors=vectors)
    talker = Talker(5)
    run_search(services, OWNER, Query("first"))

    def step(query: str) -> Callable[[], object]:
        return lambda: run_search(services, OWNER, Query(query))

    return measured(store, [step(talker.line(6)) for _ in range(QUERIES)])


PARTS: Mapping[str, Callable[..., Cost]] = {
    "500 of them added at once": build,
    "10 added or changed, warm": updates,
    "query, cold": cold,
    "query, warm": warm,
}


def measure(sizes: Sequence[int], *, vectors: bool) -> dict[tuple[int, str], Cost]:
    """Every part for every size."""
    found = {}
    for size in sizes:
        with tempfile.TemporaryDirectory() as directory:
            for part in PARTS:
                found[size, part] = _apart(part, directory, size, vectors=vectors)
    return found


def _apart(part: str, directory: str, size: int, *, vectors: bool) -> Cost:
    command = [sys.executable, "-m", "tests.perf.scale", part, directory, str(size), str(int(vectors))]
    shown = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout
    return Cost(**json.loads(shown))


def table(found: Mapping[tuple[int, str], Cost]) -> str:
    """A row for each."""
    header = (
        "",
        "CPU, ms",
        "at most",
        "KiB written",
        "at most",
        "KiB read",
        *(f"S3 {kind.upper()}" for kind in KINDS),
        "peak, MiB",
    )
    rows = [
        (
            f"{size:,} memories: {part}",
            *(f"{1000 * seconds:,.0f}" for seconds in (cost.seconds, cost.most_seconds)),
            *(report.kibibytes(size) for size in (cost.written, cost.most_written, cost.read)),
            *(report.number(cost.calls.get(kind, 0)) for kind in KINDS),
            f"{cost.peak / 2**20:,.0f}",
        )
        for (size, part), cost in found.items()
    ]
    return report.table(header, rows)


def main() -> None:
    part, directory, size, vectors = sys.argv[1:]
    cost = PARTS[part](Path(directory), int(size), vectors=bool(int(vectors)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps(asdict(replace(cost, peak=peak))))


if __name__ == "__main__":
    main()
