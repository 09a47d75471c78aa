"""When an auto compaction may be asked for, and what becomes of the session's context when one fails or succeeds.

    closed ──max_failures in a row──▶ open ──cool_down_seconds──▶ half-open: one trial
      ▲                                ▲                             │
      └──────── the boundary moves ────┼──────── fails ──────────────┘

All of it is in the session's `ContextState`, so it outlives every function. Pure.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Literal

from strandline.domain.compaction.state import Compaction, ContextState, covered
from strandline.domain.session import Archive, Head, archived_by, find_archive
from strandline.domain.times import parse, stamp

Status = Literal["none", "scheduled", "running", "open"]
ERROR_CHARS = 500
REVIVED_WITHIN = timedelta(seconds=120)  # as long as the lease of a commit


def moved(state: ContextState, head: Head) -> ContextState:
    """The state as the head has it: a boundary that has moved on is a compaction that has succeeded."""
    through = head.covered_through
    if through <= state.covered_through:
        return state
    asked_for = state.compaction
    return replace(
        covered(state, through),
        compaction=asked_for if asked_for and target(head, asked_for) > through else None,
        failures=0,
        last_error=None,
        retry_at=None,
    )


def target(head: Head, compaction: Compaction) -> int:
    """The seq that the compaction covers when it is done: that of its archive, once there is one."""
    made = archived_by(head, compaction.task_id)
    return made.last if made else compaction.through


def under_way(state: ContextState, head: Head, now: datetime, heal_seconds: int) -> bool:
    """Whether the compaction that was asked for may still come to something: one that has died is not waited for."""
    asked = state.compaction
    if asked is None:
        return False
    if any(archive.first <= asked.through for archive in head.pending):
        return True
    failed = find_archive(head.failed, head.covered_archives + 1)
    wait = REVIVED_WITHIN if failed else REVIVED_WITHIN + timedelta(seconds=heal_seconds)
    return now - parse(asked.at) < wait


def is_open(state: ContextState, now: datetime) -> bool:
    """Whether no compaction may be asked for, so many have failed."""
    return state.retry_at is not None and now < parse(state.retry_at)


def asked(state: ContextState, compaction: Compaction, now: datetime) -> ContextState:
    """The state with that compaction under way. Where it is a trial, the next one is as far off as if it had failed."""
    later = stamp(now + timedelta(seconds=compaction.cool_down_seconds))
    return replace(state, compaction=compaction, retry_at=later if state.retry_at else None)


def failed(state: ContextState, reason: str, now: datetime, *, over: bool) -> ContextState:
    """The state when an attempt at the compaction under way has failed; `over`: no other one follows."""
    compaction = state.compaction
    if compaction is None:
        return state
    failures = state.failures + 1
    opened = failures >= compaction.max_failures
    later = stamp(now + timedelta(seconds=compaction.cool_down_seconds))
    return replace(
        state,
        failures=failures,
        last_error=reason[:ERROR_CHARS],
        retry_at=later if opened else None,
        compaction=None if over or opened else compaction,
    )


def called_off(state: ContextState, task_id: str) -> ContextState:
    """The state when there was nothing to do for that compaction after all."""
    ours = state.compaction is not None and state.compaction.task_id == task_id
    return replace(state, compaction=None) if ours else state


def in_the_way(head: Head) -> Archive | None:
    """The archive that keeps the boundary where it is, if one does."""
    number = head.covered_archives + 1
    return find_archive((*head.pending, *head.failed), number)


def status(state: ContextState, head: Head, now: datetime, heal_seconds: int) -> Status:
    """How it stands with auto compaction."""
    if under_way(state, head, now, heal_seconds):
        return "running" if head.pending else "scheduled"
    return "open" if is_open(state, now) else "none"
