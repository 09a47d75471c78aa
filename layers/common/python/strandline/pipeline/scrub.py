"""scrub: secrets are taken out of everything stored of a user, and the versions that held them are erased.

in             EraseRequested of the scope `scrub`: a scrub that was begun
out            markers in place of secrets in heads, segments, archives, tool outputs, memories, journal, kept answers
               and tasks; indexes and vectors without them; what was found, by kind, as its result
commit point   CAS PUT per object; of the scrub itself conditional put of its record after each page
on duplicate   what is clean stays as it is. Two workers at one scrub meet at its record, and one of them goes on
on crash       the message comes again, and the sweep sends another while the scrub is not over. What is to be changed
               is counted, and the count stored, before any of it is changed
twice          what was in flight may land later: a stale writer's segment, archive, candidates or memory. So everything
               is gone through a second time, `heal_seconds` after the first

It finds what the rules of this deployment find, whatever its `Redaction` is. A call does a bounded part and sends its
message again for the rest.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from strandline.domain import scrub
from strandline.domain.contracts import EraseRequested
from strandline.domain.errors import NotFound
from strandline.domain.scrub import Phase, Scrub
from strandline.domain.times import stamp
from strandline.pipeline.append import refuse_closed
from strandline.pipeline.library import Library
from strandline.pipeline.scrub_parts import (
    Part,
    clean_objects,
    compact,
    follow_memories,
    follow_messages,
    look,
    owner,
    purge,
    rows,
)
from strandline.storage.answered import answered
from strandline.storage.due import Due
from strandline.storage.layout import User, user_of, user_ref

STEPS = 40
BUSY = timedelta(seconds=12)
ROWS = ("replays", "tasks")


def begin(services: Library, whose: User, *, session_id: str = "", dry_run: bool = False) -> Scrub:
    """Begins a scrub of all that a user has, or of what quotes one session; a dry run only counts.

    Raises NotFound for a session that is not there, Conflict while the user is erased, Unavailable: repeating begins
    another, which does no harm.
    """
    refuse_closed(services, whose)
    if session_id and services.heads.read(whose.head(session_id)) is None:
        raise NotFound(f"there is no session {session_id!r}", type="session", resource=session_id)
    begun = Scrub(
        whose.account_id,
        whose.user_id,
        services.ids.new()[:16],
        stamp(services.clock.now()),
        session_id=session_id,
        dry_run=dry_run,
    )
    with answered():
        services.due.put(Due(services.due_at(), "scrub", user_ref(whose), task_id=begun.identity))
        services.scrubs.open(begun)
    with answered("the erase queue did not answer; the scrub begins when it does"):
        services.erase_queue.send(request_of(begun))
    return begun


def request_of(at: Scrub) -> EraseRequested:
    return EraseRequested(scope="scrub", session=user_ref(owner(at)), scrub=at.identity)


def look_at(services: Library, whose: User, identity: str) -> Scrub:
    """Raises NotFound, Unavailable."""
    with answered():
        found = services.scrubs.get(whose, identity)
    if found is None:
        raise NotFound(f"there is no scrub {identity!r}", type="scrub", resource=identity)
    return found


def go_on(services: Library, request: EraseRequested) -> bool:
    """Goes on as far as one call can; answers whether there is nothing to be done now. Raises ConditionFailed when
    somebody else goes on with it, Unavailable, Aborted."""
    started = services.clock.now()
    whose = user_of(request.session)
    at = services.scrubs.get(whose, request.scrub)
    if at is None or at.ended_at or at.wait_until > stamp(started) or services.erasures.closed(whose):
        return True
    for _ in range(STEPS):
        at = services.scrubs.save(at, _step(services, at))
        if at.phase in ("wait", "done"):
            return True
        if services.clock.now() - started > BUSY:
            break
    return False


def trouble(services: Library, request: EraseRequested, reason: str) -> None:
    """Says in the scrub that it does not get on. It is tried again all the same."""
    at = services.scrubs.get(user_of(request.session), request.scrub)
    if at is not None:
        services.scrubs.save(at, scrub.troubled(at, reason))


def _step(services: Library, at: Scrub) -> Scrub:
    """A page of the part at hand; behind its last one the next part, or phase."""
    parts = _PARTS.get(at.phase, ())
    counts, following = parts[at.part](services, at, at.after) if parts else ({}, None)
    at = scrub.counted(at, counts)
    if following is not None:
        return scrub.at_place(at, at.part, following)
    if at.part + 1 < len(parts):
        return scrub.at_place(at, at.part + 1, ())
    return scrub.ended_phase(at, now=stamp(services.clock.now()), due_at=services.due_at())


_PARTS: Mapping[Phase, Sequence[Part]] = {
    "look": (look, *(rows(kind, cleaning=False) for kind in ROWS)),
    "clean": (clean_objects, *(rows(kind, cleaning=True) for kind in ROWS)),
    "follow": (follow_messages, follow_memories),
    "purge": (compact, purge),
}
