"""compaction: when a context grows too long, a commit of its old messages is requested.

in             a session whose context is at the warning threshold, its state, and the messages that could be archived
out            CommitRequested up to a seq; or ExtractRequested again for a failed archive that blocks the way; or a
               note that a pending archive which blocks the way is being waited for
commit point   CAS PUT of `context.json` with the compaction in it, by whoever builds the context
on duplicate   only one compaction runs at a time: a second caller finds the first one in the state
on crash       after the PUT: a compaction that nobody works on counts as lost when its time is over
cost           of a request: four table writes and a message; while one is running, nothing
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from strandline.domain.compaction import breaker
from strandline.domain.compaction.limits import AutoCompact
from strandline.domain.compaction.reading import speaks
from strandline.domain.compaction.room import shares
from strandline.domain.compaction.state import Compaction, ContextState
from strandline.domain.contracts import CommitRequested
from strandline.domain.errors import ContextBlocked, StrandlineError
from strandline.domain.session import CANCELLED, Archive, Head, Skip
from strandline.domain.times import parse, stamp
from strandline.pipeline.breaker import nothing_to_do
from strandline.pipeline.commit import plan_through
from strandline.pipeline.library import Library
from strandline.pipeline.services import Services
from strandline.pipeline.task import revive
from strandline.ports import StoreError
from strandline.storage.due import Due
from strandline.storage.log import ref
from strandline.storage.records import dated, task_id

TRIAL_SECONDS = 10  # after which a caller may ask how the one trial went

Message = Mapping[str, Any]
PLANNED = 2_000
"""Live messages that are read at most to ask for a commit."""


@dataclass(frozen=True)
class Sought:
    """A compaction that is to be asked for, and how: by a new archive (with the lease that its commit holds), by an
    archive that has failed, or by one that is on its way."""

    compaction: Compaction
    how: Literal["commit", "retry", "wait"]
    lease: str = ""
    archive: Archive | None = None


def through(messages: Sequence[Message], limits: AutoCompact, left: int | None) -> int:
    """Up to which seq these visible messages may go: all but the newest `keep_recent`, or but fewer where those take
    more than their share of the tokens that the newest user message leaves (None: no window), or `target_chars`."""
    if not messages:
        return 0
    kept = spent = 0
    room = limits.target_chars if left is None else shares(left).kept
    asks = next((message for message in reversed(messages) if speaks(message)), None)
    for message in reversed(messages):
        spent += _chars(message) if left is None else int(message["tokens"]) * (message is not asks)
        if kept and (kept == limits.keep_recent or spent > room):
            break
        kept += 1
    return int(messages[-1]["seq"]) - kept


def _chars(message: Message) -> int:
    outputs = (part.get("text") or part.get("tool_output") or "" for part in message.get("parts", ()))
    return len(message.get("content", "")) + sum(map(len, outputs))


def seek(services: Library, head: Head, state: ContextState, last: int, limits: AutoCompact) -> Sought | None:
    """What is to be done so that the context becomes shorter, if anything can be and nothing is yet. Of a new commit it
    takes the lease; `last` is the seq up to which one would go. Raises StoreError."""
    now = services.clock.now()
    if breaker.under_way(state, head, now, services.rules.heal_seconds) or breaker.is_open(state, now):
        return None
    rest = (stamp(now), limits.max_failures, limits.cool_down_seconds)
    archive = breaker.in_the_way(head)
    if archive is not None and archive.reason == CANCELLED:
        return None  # its owner does not want it to be extracted
    if archive is not None:
        asked = Compaction(task_id(ref(head), archive), archive.last, *rest)
        return Sought(asked, "retry" if archive.reason is not None else "wait", archive=archive)
    return _by_commit(services, head, last, rest)


def _by_commit(services: Library, head: Head, last: int, rest: tuple[str, int, int]) -> Sought | None:
    through = _planned(services, head, last)
    if through is None:
        return None
    token = services.ids.new()
    if not services.leases.take(ref(head), "commit", token):
        return None
    return Sought(Compaction(dated(rest[0], token), through, *rest), "commit", lease=token)


def _planned(services: Library, head: Head, last: int) -> int | None:
    """Up to which seq a commit would go; None when nothing can. Of a session with very many live messages nobody but
    the commit reads them all: there something can go, or it will say so."""
    if last - head.live_from >= PLANNED:
        return last
    planned = plan_through(services.told, head, last, services.clock.now())
    return None if isinstance(planned, Skip) else planned.last


def start(services: Services, head: Head, sought: Sought) -> None:
    """Starts the compaction that the state names. Where that fails the state is cleared, and the next call asks
    again; should even that not be written down, when it counts as lost."""
    try:
        if sought.how == "commit":
            _send(services, head, sought)
        elif sought.how == "retry" and sought.archive is not None:
            revive(services, ref(head), sought.archive.number)
    except (StoreError, StrandlineError):
        drop(services, head, sought)
        nothing_to_do(services, ref(head), sought.compaction.task_id)


def _send(services: Services, head: Head, sought: Sought) -> None:
    whose, name = ref(head), sought.compaction.task_id
    services.due.put(Due(services.due_at(), "commit", whose, task_id=name))
    with suppress(StoreError):  # the commit notes its task again
        services.tasks.announce(whose, name)
    services.commit_queue.send(
        CommitRequested(session=whose, task_id=name, lease=sought.lease, through=sought.compaction.through)
    )


def drop(services: Services, head: Head, sought: Sought) -> None:
    """Somebody else has asked in the meantime, or the state could not be written."""
    if sought.lease:
        services.leases.let_go(ref(head), "commit", sought.lease)


def refusal(services: Services, head: Head, state: ContextState) -> ContextBlocked:
    """What a caller is told whose context is at its limit while the breaker is open, or a trial is going on."""
    now = services.clock.now()
    trying = breaker.under_way(state, head, now, services.rules.heal_seconds)
    wait = (parse(state.retry_at) - now).total_seconds() if state.retry_at else TRIAL_SECONDS
    return ContextBlocked(
        "the context is at its limit, and making it shorter has failed repeatedly",
        last_error=state.last_error,
        failures=state.failures,
        retry_at=state.retry_at,
    ).in_seconds(min(wait, TRIAL_SECONDS) if trying else wait)
