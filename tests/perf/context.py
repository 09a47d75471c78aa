"""What a context costs, of sessions of three lengths: an agent's real run, repeated, with a context before each round.

On the fakes, with the tokens of tiktoken and an extractor that finds nothing; memories are another section's. Whoever
runs this has the data, or it is skipped.
"""

import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from strandline.adapters.tokens import TiktokenCounter
from strandline.domain.compaction.assembly import Room
from strandline.domain.extraction import Extraction, Transcript
from strandline.domain.message import MessageIn, read_line
from strandline.entry.wiring import RuleModel
from strandline.pipeline.append import AppendRequest, run_append
from strandline.pipeline.library import Library
from strandline.pipeline.prompt import Prompt, Wanted, run_prompt
from strandline_sdk.importers import read_sessions
from tests.perf.skip import Skipped
from tests.pipeline.world import ALICE, World

SWE = Path(__file__).parents[3] / "shared/data/swe_agent/marshmallow-1867.function_calling.traj"
SIZES = (50, 5_000, 100_000)
BATCH = 24  # the messages of one run
WINDOW = 128_000
REPEATS = 5


@dataclass(frozen=True)
class Call:
    """One call: requests by kind, bytes read, milliseconds of CPU."""

    requests: Mapping[str, int]
    received: int
    milliseconds: float


@dataclass
class Row:
    """A session: its messages and tokens, those of the longest context and of the last, archives, what asking cost in
    all, and calls by kind."""

    messages: int
    tokens: int = 0
    most: int = 0
    shown: int = 0
    archives: int = 0
    asked: int = 0
    model_calls: int = 0
    milliseconds: float = 0
    calls: dict[str, Call] = field(default_factory=dict)


class Silent:
    """An extractor that finds no memories, and says how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def extract(self, transcript: Transcript) -> Extraction:
        self.asked += 1
        said = f"{len(transcript.turns)} messages"
        return Extraction(extractor="silent/1", abstract=said, proposals=())


def measure(*, quick: bool) -> Sequence[Row]:
    """A row for each size. Raises Skipped without the data."""
    if not SWE.exists():
        raise Skipped(f"there is no {SWE}")
    return [_of(size) for size in (SIZES[:2] if quick else SIZES)]


def _of(size: int) -> Row:
    world, model = World(), Silent()
    world.tokens, world.model, world.summariser = TiktokenCounter("cl100k_base"), model, RuleModel()
    warm, row = world.services(), Row(size)
    for batch in _batches(size):
        run_append(warm, AppendRequest(ALICE, "s", batch))
        began, asked = time.process_time(), model.asked
        row.most = max(row.most, _ask(warm).assembled.tokens)
        row.milliseconds += 1000 * (time.process_time() - began)
        row.asked += 1
        row.model_calls += model.asked - asked
        world.settle(100)
    return _measured(world, warm, row)


def _measured(world: World, warm: Library, row: Row) -> Row:
    made = _ask(warm)
    head = world.head("s")
    row.shown, row.archives = made.assembled.tokens, head.commit_count
    row.tokens = _tokens(world)
    row.calls["cold"] = _call(world, lambda: _ask(world.services()))
    row.calls["warm, nothing new"] = _call(world, lambda: _ask(warm))
    row.calls["warm, a message more"] = _call(world, lambda: _ask(warm), before=lambda: _one_more(warm))
    return row


def _tokens(world: World) -> int:
    head = world.head("s")
    lines = [line for body in world.bodies("/messages.0").values() for line in body.splitlines()]
    live = world.services().log.live(head, head.live_from, head.last_seq)
    return sum(int(read_line(line)["tokens"]) for line in (*lines, *live))


def _call(world: World, ask: Callable[[], Prompt], before: Callable[[], object] | None = None) -> Call:
    spent, requests, received = [], {}, 0
    for _ in range(REPEATS):
        if before:
            before()
        calls, read = len(world.calls.names), world.objects.bytes["get"]
        began = time.process_time()
        ask()
        spent.append(1000 * (time.process_time() - began))
        requests, received = dict(world.calls.since(calls)), world.objects.bytes["get"] - read
    return Call(requests, received, statistics.median(spent))


def _one_more(library: Library) -> None:
    said = MessageIn(
        role="assistant", content="Let me look at the test that fails before I change anything else."
    )
    run_append(library, AppendRequest(ALICE, "s", [said]))


def _ask(library: Library) -> Prompt:
    return run_prompt(library, ALICE, "s", Wanted(Room(WINDOW, 8_000), memories=None))


def _batches(size: int) -> Iterator[Sequence[MessageIn]]:
    (session,) = read_sessions(SWE)
    run = session.messages
    for first in range(0, size, BATCH):
        made = [MessageIn.model_validate(_renamed(message, first)) for message in run]
        yield made[: size - first]


def _renamed(message: Mapping[str, Any], run: int) -> Mapping[str, Any]:
    """The message as it is said in another run: its calls have other ids."""
    parts = [
        {**part, "tool_id": f"{part['tool_id']}-{run}"} if part.get("tool_id") else part
        for part in message.get("parts") or ()
    ]
    rest = {name: value for name, value in message.items() if name not in ("id", "parts", "created_at")}
    return {**rest, **({"parts": parts} if parts else {})}
