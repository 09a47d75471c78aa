"""breaker: the failures of automatic compactions are recorded in the session's context.

in             a commit, an extraction or a merge that has failed, or had nothing to do
out            `context.json` with the failure counted; whether the breaker is now open, so that the caller stops trying
commit point   CAS PUT of `context.json`
on duplicate   each attempt that fails counts; while no compaction is running nothing is written
on crash       the attempt is not counted, so one more is made. A compaction of which nothing is heard counts as lost
               when its time is over
cost           nothing for a success: the boundary that has moved shows it
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial

from strandline.domain.compaction import breaker
from strandline.domain.compaction.state import ContextState
from strandline.domain.contracts import ExtractRequested, MergeRequested, SessionRef
from strandline.domain.errors import StrandlineError
from strandline.domain.redaction import scrub
from strandline.domain.session import CANCELLED
from strandline.pipeline.services import Services
from strandline.ports import StoreError
from strandline.storage.document import Change
from strandline.storage.layout import Life

Request = ExtractRequested | MergeRequested


def attempt_failed(services: Services, request: Request, reason: str, *, over: bool) -> bool:
    """Counts an attempt at an archive of the compaction under way; `over`: no other follows by itself. Answers whether
    none should: the breaker is open."""
    if isinstance(request, ExtractRequested) and request.rebuild:
        return False

    def note(state: ContextState) -> ContextState:
        if state.compaction is None or request.first > state.compaction.through:
            return state
        if reason == CANCELLED:
            return breaker.called_off(state, state.compaction.task_id)
        return breaker.failed(state, scrub(reason), services.clock.now(), over=over)

    after = _note(services, request.session, note)
    return after is not None and breaker.is_open(after, services.clock.now())


def request_failed(services: Services, whose: SessionRef, task_id: str, reason: str) -> None:
    """Counts a commit for a compaction that was given up before there was an archive."""

    def note(state: ContextState) -> ContextState:
        if state.compaction is None or state.compaction.task_id != task_id:
            return state
        return breaker.failed(state, scrub(reason), services.clock.now(), over=True)

    _note(services, whose, note)


def nothing_to_do(services: Services, whose: SessionRef, task_id: str) -> None:
    """The commit for a compaction has found nothing to archive."""
    _note(services, whose, partial(breaker.called_off, task_id=task_id))


def wanted_through(services: Services, whose: SessionRef, task_id: str) -> int | None:
    """Up to which seq the compaction with that task is to go; None when none is under way by that name."""
    found = services.contexts.read(Life(whose).context)
    compaction = found.value.compaction if found else None
    return compaction.through if compaction and compaction.task_id == task_id else None


def _note(
    services: Services, whose: SessionRef, note: Callable[[ContextState], ContextState]
) -> ContextState | None:
    """The state as it is now, noted or not; None when there is none, or the store did not answer."""

    def change(state: ContextState | None) -> Change[ContextState, ContextState | None]:
        after = state and note(state)
        return Change(None if after == state else after, after)

    with suppress(StoreError, StrandlineError):
        return services.contexts.update(Life(whose).context, change)
    return None
