"""The other end of the queues, and the schedule: what AWS does to call the functions, and what `entry` does in them.

Each poller takes a batch, has a function handle it, and deletes what did not fail. What failed, or was with a function
that died, comes back by itself.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from strandline.domain.contracts import (
    AppendRequested,
    CommitRequested,
    EraseRequested,
    ExtractRequested,
    LearnRequested,
    SummariseRequested,
)
from strandline.domain.errors import ExtractionFailed, NotFound
from strandline.entry import learn as learner
from strandline.entry.batch import give_up_or_raise, reason
from strandline.pipeline.append import AppendRequest
from strandline.pipeline.auto_commit import give_up, run_auto_commit
from strandline.pipeline.commit import run_commit
from strandline.pipeline.erase import run_erase, trouble
from strandline.pipeline.extract import run_extract
from strandline.pipeline.ingest import run_ingest
from strandline.pipeline.learn import run_learn
from strandline.pipeline.library import Library
from strandline.pipeline.merge import run_merge
from strandline.pipeline.sweep import run_sweep
from strandline.pipeline.working_memory import run_summarise
from strandline.ports import StoreError
from strandline.storage.layout import Life, User
from tests.sim.history import Failed, Overlapped
from tests.sim.queues import Letter
from tests.sim.world import NoAnswer, World

Failures = list[Letter]
Handler = Callable[[World, Library, Sequence[Letter]], Failures]

TICK = 60


@dataclass(frozen=True)
class Stage:
    """Which function a queue calls, with at most how many messages."""

    function: str
    batch: int
    handle: Handler


def start(world: World, pollers: int = 2) -> None:
    """Pollers of every queue. They go on for ever."""
    for name, stage in STAGES.items():
        for number in range(pollers):
            world.scheduler.spawn(f"{name}{number}", partial(_poll, world, name, stage))


def _poll(world: World, name: str, stage: Stage) -> None:
    queue, port = world.queues[name], world.ports[name]
    while True:
        if not queue.has_any():
            world.scheduler.wait(queue)
            continue
        batch: list[Letter] = []
        with suppress(StoreError):
            batch = port.take(stage.batch)
        if batch:
            _deliver(world, stage, port, batch)


def _deliver(world: World, stage: Stage, port: Any, batch: Sequence[Letter]) -> None:
    try:
        failures = world.invoke(stage.function, lambda library: stage.handle(world, library, batch))
    except NoAnswer:
        return
    for letter in batch:
        if letter not in failures:
            with suppress(StoreError):
                port.delete(letter)


def _each(world: World, function: str, batch: Sequence[Letter], work: Callable[[Letter], object]) -> Failures:
    """What raised; `entry.batch.each` as it concerns the queue."""
    failures = []
    for letter in batch:
        try:
            work(letter)
        except Exception:  # noqa: BLE001 - whatever it is, the message comes again
            world.history.append(Failed(world.scheduler.step, function))
            failures.append(letter)
    return failures


def _record(letter: Letter) -> Mapping[str, Any]:
    return {"attributes": {"ApproximateReceiveCount": str(letter.received)}, "messageId": "m"}


# ---- the functions


def _ingest(world: World, library: Library, batch: Sequence[Letter]) -> Failures:
    failures: Failures = []
    groups: dict[str, list[Letter]] = {}
    for letter in batch:
        groups.setdefault(letter.group, []).append(letter)
    for group in groups.values():
        outcomes = run_ingest(library, [_append_request(world, letter) for letter in group])
        for letter, outcome in zip(group, outcomes, strict=True):
            if outcome is not None:
                failures.append(letter)
    return failures


def _append_request(world: World, letter: Letter) -> AppendRequest:
    wanted: AppendRequested = letter.message
    return AppendRequest(
        User(wanted.account_id, wanted.user_id),
        wanted.session_id,
        wanted.messages,
        repeat_key=wanted.idempotency_key or letter.id,
        sent_at=world.at(letter.sent_at),
    )


def _commit(world: World, library: Library, batch: Sequence[Letter]) -> Failures:
    def commit(letter: Letter) -> None:
        request: CommitRequested = letter.message
        if request.task_id:
            _commit_by_itself(library, letter)
            return
        with suppress(NotFound):
            run_commit(library, request.session, request.keep_recent_count)

    return _each(world, "commit", batch, commit)


def _commit_by_itself(library: Library, letter: Letter) -> None:
    try:
        run_auto_commit(library, letter.message)
    except Exception as error:
        if letter.received < library.rules.max_receives:
            raise
        give_up(library, letter.message, reason(error))


def _extract(world: World, library: Library, batch: Sequence[Letter]) -> Failures:
    def extract(letter: Letter) -> None:
        request: ExtractRequested | SummariseRequested = letter.message
        if isinstance(request, SummariseRequested):
            _summarise(library, letter)
            return
        _take_on(world, "extract", Life(request.session).archive(request.archive))
        try:
            run_extract(library, request, letter.received)
        except Exception as error:  # noqa: BLE001 - raised again, or the archive has failed
            give_up_or_raise(library, _record(letter), request, "extract", error)

    return _each(world, "extract", batch, extract)


def _summarise(library: Library, letter: Letter) -> None:
    """What has been tried often enough is let go."""
    try:
        run_summarise(library, letter.message)
    except ExtractionFailed as error:
        if not error.final and letter.received < library.rules.max_receives:
            raise


def _learn(world: World, library: Library, batch: Sequence[Letter]) -> Failures:
    def learn(letter: Letter) -> None:
        request: LearnRequested = letter.message
        _take_on(world, "learn", Life(request.session).archive(request.archive))
        try:
            run_learn(library, request, letter.received)
        except Exception as error:  # noqa: BLE001 - raised again, or nothing is learnt
            learner.give_up_or_raise(library, _record(letter), request, error)

    return _each(world, "learn", batch, learn)


def _take_on(world: World, function: str, archive: str) -> None:
    """The current run is of that archive; it is noted when another is, too."""
    world.actor.context.archive = archive
    if any(other.archive == archive for other in world.running(function)):
        world.history.append(Overlapped(world.scheduler.step, function))


def _merge(world: World, library: Library, batch: Sequence[Letter]) -> Failures:
    outcomes = _merged(library, [letter.message for letter in batch])
    found = dict(zip(batch, outcomes, strict=True))

    def end(letter: Letter) -> None:
        error = found[letter]
        if error is not None:
            give_up_or_raise(library, _record(letter), letter.message, "merge", error)

    return _each(world, "merge", batch, end)


def _merged(library: Library, requests: Sequence[Any]) -> Sequence[Exception | None]:
    with suppress(Exception):
        return run_merge(library, requests)
    return [_alone(library, request) for request in requests]


def _alone(library: Library, request: Any) -> Exception | None:
    try:
        return run_merge(library, [request])[0]
    except Exception as error:  # noqa: BLE001 - it is this request's outcome
        return error


def _erase(world: World, library: Library, batch: Sequence[Letter]) -> Failures:
    def erase(letter: Letter) -> None:
        request: EraseRequested = letter.message
        try:
            run_erase(library, request)
        except Exception as error:
            if letter.received >= library.rules.max_receives:
                trouble(library, request, reason(error))
            raise

    return _each(world, "erase", batch, erase)


STAGES: Mapping[str, Stage] = {
    "ingest": Stage("append", 10, _ingest),
    "commit": Stage("commit", 10, _commit),
    "extract": Stage("extract", 1, _extract),
    "merge": Stage("merge", 10, _merge),
    "learn": Stage("learn", 10, _learn),
    "erase": Stage("erase", 1, _erase),
}


# ---- the schedule


def sweep(world: World) -> None:
    """One tick. A sweep that died or failed is not repeated: the next one comes anyway."""
    with suppress(NoAnswer):
        world.invoke("sweep", run_sweep)


def ticks(world: World, count: int) -> None:
    """That many ticks, a minute apart, each in an actor of its own: two may overlap."""
    for number in range(count):
        world.scheduler.at(TICK * (number + 1), partial(_tick, world, number))


def _tick(world: World, number: int) -> None:
    world.scheduler.spawn(f"sweep{number}", partial(sweep, world))
