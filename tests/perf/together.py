"""LoCoMo's sessions imported one at a time and all at once, through the local run: time, batches, conflicts, and
whether the memory files are the same.

Each way has a run of its own with nothing in it. Merge batches, their conflicts and repeated deliveries are what the
functions' own lines say; refused writes of any kind are counted by the S3 server.
"""

import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from strandline_sdk.client import Client
from tests.perf import locomo
from tests.perf.locomo import Locomo
from tests.perf.service import REFUSED, Run, running

Files = Counter[tuple[str, str, str]]
"""Memory files: user, path, text."""
_EXTRACTION = re.compile(
    r"(?<=^- )'?[0-9a-f]{12}'?$|(?<=-)[0-9a-f]{12}(?=\.md|\])|(?<=^id: mem_)[0-9a-f]{16}$", re.MULTILINE
)
"""What follows from the life of a session, which is another in another run: ids of extractions, alone and in the names
of files, and the ids of files that follow from their names."""


@dataclass(frozen=True)
class Import:
    """One way of importing: seconds until acknowledged and until all memories were written, merge batches and the
    conflicts on memory files in them, deliveries that came again, writes to S3, the refused of them, and the files."""

    stored: float
    seconds: float
    batches: int
    conflicts: int
    again: int
    puts: int
    refused: int
    files: Files


def measure(*, quick: bool) -> tuple[Locomo, Import, Import]:
    """One at a time, and all at once. Raises Skipped without the data, RuntimeError when a session fails,
    AssertionError when the two do not give the same files."""
    data = Locomo(quick=quick)
    alone, together = _import(data, _one_at_a_time), _import(data, _all_at_once)
    assert alone.files == together.files, _differing(alone.files, together.files)
    return data, alone, together


def _import(data: Locomo, way: Callable[[Locomo, Client], float]) -> Import:
    with running() as run:
        began = time.monotonic()
        stored = way(data, run.client) - began
        seconds = time.monotonic() - began
        lines, asked = list(_lines(run)), run.asked()
        batches = [line for line in lines if "tasks" in line]
        return Import(
            stored=stored,
            seconds=seconds,
            batches=len(batches),
            conflicts=sum(_count(line, "conflicts") for line in batches),
            again=sum(line.get("received", 1) > 1 for line in lines),
            puts=sum(n for (verb, _), n in asked.items() if verb == "PUT"),
            refused=sum(asked["PUT", status] for status in REFUSED),
            files=_files(data, run.client),
        )


def _one_at_a_time(data: Locomo, client: Client) -> float:
    """Each session is stored, committed and waited for before the next."""
    for session in data.sessions:
        locomo.finish(client, locomo.store(data, client, jobs=1, sessions=[session]))
    return time.monotonic()


def _all_at_once(data: Locomo, client: Client) -> float:
    """Every session has a thread of its own; when all are stored and committed, all are waited for."""
    tasks = locomo.store(data, client, jobs=len(data.sessions))
    stored = time.monotonic()
    locomo.finish(client, tasks)
    return stored


def _lines(run: Run) -> Iterator[dict[str, Any]]:
    """What the merge function says of each batch, and of each message in it."""
    for line in (run.logs / "MergeFunction.log").read_text().splitlines():
        if line.startswith('{"_aws"'):
            yield json.loads(line)


def _count(line: Mapping[str, Any], name: str) -> int:
    return int(sum(line.get(name, ())))


def _files(data: Locomo, client: Client) -> Files:
    """Every memory file of every conversation, whole, but for the ids of another life."""
    found: Files = Counter()
    for sample in data.samples:
        whose = client.acting_for(sample)
        for each in whose.memories():
            found[sample, _of_any_life(each["path"]), _of_any_life(whose.memory_file(each["uri"]))] += 1
    return found


def _of_any_life(text: str) -> str:
    return _EXTRACTION.sub("…", text)


def _differing(one: Files, other: Files) -> str:
    return f"{len(one - other)} and {len(other - one)} files differ: {[*(one - other), *(other - one)][:2]}"
