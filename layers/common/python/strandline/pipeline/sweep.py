"""sweep: look at what is due.

in             the clock
out            CommitRequested for sessions that have fallen silent (pipeline/idle.py); ExtractRequested for archives
               whose task has stood still, LearnRequested for what is still to be learnt; EraseRequested for what was
               deleted; events that the bus may not have
commit point   the move or removal of a due marker
on duplicate   everything sent is idempotent at the receiver; two sweeps at once cost requests, nothing else
on crash       a marker is put at its new time before it is removed from the old one, so none is lost

    heal     pending          → ExtractRequested again, look again later; after too many rounds the archive has failed.
                                While its task moves on (a model reads a long archive), it is only looked at again
             ended            → its task and the session list are made to agree with it; marker removed. Done, but its
                                merge has not come to the task → ExtractRequested again, look again later
             session deleted  → marker removed
    reindex  → the index entries of the files are made to agree with them, an edit gets its event; marker removed
    announce → the event is published; marker removed
    bury     session lives    → it was not deleted after all: left alone, marker removed
             deleted          → EraseRequested, now and a day after, when nothing late can land any more and the
                                gravestone may go; looked at until it has gone, then the marker is removed
    expire   expired          → the memory is deleted; marker removed
             renewed          → marker moved to when it expires now; one that is gone, or stays for ever: removed
    scrub    going on         → EraseRequested of it again, look again later
             over, or gone    → marker removed
    erase    going on         → EraseRequested again, look again later
             over             → marker removed
    learn    not learnt yet   → LearnRequested again, look again later; after too many rounds its task has failed
             learnt           → marker removed
             session deleted  → its task goes, marker removed

It reads markers that are due, never all sessions: its cost grows with what is due.
"""

import logging
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial

from strandline.domain.address import memory_uri
from strandline.domain.contracts import EraseRequested, LearnRequested
from strandline.domain.errors import FailedPrecondition, NotFound, Unavailable
from strandline.domain.events import Happening, with_links
from strandline.domain.expiry import expired
from strandline.domain.failure import kind_of
from strandline.domain.memory import Memory
from strandline.domain.session import Head
from strandline.domain.times import parse, stamp
from strandline.pipeline import learning
from strandline.pipeline.announce import tell, tell_what_is_known
from strandline.pipeline.catalogue import read_file, reindex
from strandline.pipeline.expiry import watch
from strandline.pipeline.healing import heal
from strandline.pipeline.idle import look_at_request, look_at_session, silent
from strandline.pipeline.library import Library
from strandline.pipeline.links import follow, join
from strandline.pipeline.memory import Deletion, delete, edit_seen
from strandline.pipeline.remains import GRAVESTONE_KEPT
from strandline.ports import StoreError
from strandline.storage.due import SHARDS, Due
from strandline.storage.layout import head_key, user_of

BATCH = 100
NOT_TAKEN = "the bus did not take the event"
BY_EXPIRY = Deletion(by="expiry")
COUNTS = ("due", "committed", "moved", "healed", "failed")

log = logging.getLogger(__name__)


def run_sweep(services: Library) -> Mapping[str, int]:
    """Looks at every marker that is due; answers how many there were (`due`), how many commits it has asked for
    (`committed`), how many markers it has only moved (`moved`), where something had stood still or was behind
    (`healed`), and how many could not be dealt with (`failed`).

    One marker's failure never stops the others: it is put off, and a later sweep meets it again.
    """
    now = services.clock.now()
    counts = Counter(dict.fromkeys(COUNTS, 0))
    for due in _all_due(services, now, counts):
        counts["due"] += 1
        counts.update(filter(None, [_look(services, due, now)]))
    return counts


def _look(services: Library, due: Due, now: datetime) -> str | None:
    try:
        return _LOOKS[due.kind](services, due, now)
    except Exception as error:  # noqa: BLE001 - one marker's failure stops no other
        log.error("sweep: %s failed, to be looked at again later: %s", due.kind, kind_of(error))
        _put_off(services, due)
        return "failed"


def _put_off(services: Library, due: Due) -> None:
    """Behind the others, so that many bad ones do not keep the good ones waiting."""
    with suppress(StoreError):
        services.due.move(due, replace(due, at=services.due_at()))


def _all_due(services: Library, now: datetime, counts: Counter[str]) -> Iterator[Due]:
    """What stands still first: sessions that have fallen silent may be very many."""
    reads: list[Callable[[], Iterable[Due]]]
    reads = [partial(services.due.due, number, now, BATCH) for number in range(SHARDS)]
    reads.append(partial(silent, services, now))
    for read in reads:
        try:
            yield from read()
        except StoreError as error:
            counts["failed"] += 1
            log.warning("sweep: due markers cannot be read: %s", type(error).__name__)


def _bury(services: Library, due: Due, now: datetime) -> None:
    """`rounds` counts the looks: the first soon after the delete, the second a day after it."""
    found = services.heads.read(head_key(due.session))
    grave = found.value if found and found.value.incarnation == due.session.incarnation else None
    if grave is not None and grave.buried_at is None:
        services.due.remove(due)  # the delete died before it became true: the session lives
        return
    if grave is None and due.rounds > 1:
        services.due.remove(due)
        return
    services.erase_queue.send(EraseRequested(scope="session", session=due.session))
    services.due.move(due, replace(due, at=_next_look(services, due, grave, now), rounds=due.rounds + 1))


def _next_look(services: Library, due: Due, grave: Head | None, now: datetime) -> str:
    if due.rounds:
        return services.due_at()
    buried_at = parse(grave.buried_at) if grave and grave.buried_at else now
    return max(stamp(buried_at + GRAVESTONE_KEPT), services.due_at())


def _erase(services: Library, due: Due, _now: datetime) -> None:
    going_on = services.erasures.get(due.session.account_id, due.session.user_id)
    if going_on is None:
        services.due.remove(due)
        return
    services.erase_queue.send(EraseRequested(scope=going_on.scope, session=due.session))
    services.due.move(due, replace(due, at=services.due_at()))


def _scrub(services: Library, due: Due, _now: datetime) -> None:
    going_on = services.scrubs.get(user_of(due.session), due.task_id)
    if going_on is None or going_on.ended_at:
        services.due.remove(due)
        return
    services.erase_queue.send(EraseRequested(scope="scrub", session=due.session, scrub=due.task_id))
    services.due.move(due, replace(due, at=services.due_at()))


def _reindex(services: Library, due: Due, _now: datetime) -> None:
    owner = user_of(due.session)
    base = services.indexes.read(owner.index("memories"))
    there = {path: read_file(services, owner, path) for path in due.path.split("\n")}
    gone = [path for path, memory in there.items() if memory is None]
    linked = [end for path in gone for end in follow(services, owner, path)]
    linked += [end for path, memory in there.items() if memory for end in join(services, owner, path)]
    reindex(services, owner, [*there, *linked], base=base, known=_but(there, linked))
    watch(services, owner, there, None)
    happening = edit_seen(due, there.get(due.path))
    if happening is not None:
        for each in with_links(happening, [memory_uri(owner.user_id, path) for path in linked]):
            _tell(services, each)
    elif due.event is not None and not tell_what_is_known(services, Happening.read(due.event)):
        raise Unavailable(NOT_TAKEN)  # written down, then deleted
    services.due.remove(due)


def _but(there: Mapping[str, Memory | None], linked: Container[str]) -> dict[str, Memory | None]:
    """What is known of those that were not written since."""
    return {path: memory for path, memory in there.items() if path not in linked}


def _expire(services: Library, due: Due, now: datetime) -> str | None:
    owner = user_of(due.session)
    there = read_file(services, owner, due.path)
    if there is not None and expired(there.expires_at, stamp(now)):
        with suppress(FailedPrecondition, NotFound):  # renewed, or gone, a moment ago
            delete(services, owner, due.path, partial(_over, now=stamp(now)), deletion=BY_EXPIRY)
        there = read_file(services, owner, due.path)
    if there is not None and there.expires_at is not None:
        services.due.move(due, replace(due, at=there.expires_at))
        return "moved"
    services.due.remove(due)
    return None


def _learn(services: Library, due: Due, _now: datetime) -> str | None:
    """Its task has ended, or it is asked for again: what is learnt already is not learnt twice."""
    found = services.heads.read(head_key(due.session))
    head = found.value if found else None
    span = services.log.find(head, due.archive) if head and not head.buried_at else None
    if head is None or span is None or head.incarnation != due.session.incarnation:
        services.tasks.forget(user_of(due.session), due.task_id, of=due.session)
        services.due.remove(due)
        return None
    task = services.tasks.get(user_of(due.session), due.task_id)
    request = LearnRequested(
        session=due.session, archive=due.archive, first=span[0], last=span[1], task_id=due.task_id
    )
    if task is not None and task["status"] not in ("pending", "running"):
        if task["status"] == "failed":
            learning.report(services, request, task.get("ended_at") or task["updated_at"])
        services.due.remove(due)
        return None
    if due.rounds >= services.rules.heal_rounds:
        learning.failed(services, request, "no progress after repeated attempts")
        services.due.remove(due)
    else:
        services.learn_queue.send(request)
        services.due.move(due, replace(due, at=services.due_at(), rounds=due.rounds + 1))
    return "healed"


def _over(memory: Memory | None, *, now: str) -> None:
    """A guard that lets nothing be deleted but what has expired."""
    if memory is None or not expired(memory.expires_at, now):
        raise FailedPrecondition("the memory has been renewed")


def _announce(services: Library, due: Due, _now: datetime) -> None:
    if not services.erasures.closed(
        user_of(due.session)
    ):  # else the journal goes, and nothing is to begin it anew
        _tell(services, Happening.read(due.event or {}))
    services.due.remove(due)


def _tell(services: Library, happening: Happening) -> None:
    if not tell(services, happening, again=True):
        raise Unavailable(NOT_TAKEN)


_LOOKS: Mapping[str, Callable[[Library, Due, datetime], str | None]] = {
    "commit": look_at_request,
    "idle": look_at_session,
    "announce": _announce,
    "heal": heal,
    "bury": _bury,
    "reindex": _reindex,
    "erase": _erase,
    "scrub": _scrub,
    "expire": _expire,
    "learn": _learn,
}
