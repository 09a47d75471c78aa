"""When a session is committed by itself: its policy, and the decision on a head.

The decision is a pure function of the head, the time and the deployment's settings. Whoever asks decides by it: the
writer on the head it has just written, the sweep on what is due, and the commit function again on a fresh head.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime, timedelta
from typing import Any, ClassVar, Literal

from strandline.domain.errors import InvalidArgument
from strandline.domain.session import Head
from strandline.domain.times import parse


@dataclass(frozen=True)
class AutoCommitPolicy:
    """When a session is committed by itself. Tokens, messages and seconds; 0 switches a trigger off."""

    pending_token_threshold: int = 10_000
    message_count_threshold: int = 50
    idle_timeout_seconds: int = 86_400
    keep_recent_count: int = 2
    min_commit_interval_seconds: int = 0

    MAXIMA: ClassVar[Mapping[str, int]] = {
        "pending_token_threshold": 50_000,
        "message_count_threshold": 500,
        "idle_timeout_seconds": 604_800,
        "keep_recent_count": 500,
        "min_commit_interval_seconds": 604_800,
    }

    @classmethod
    def from_dict(cls, given: Any) -> "AutoCommitPolicy":
        """The policy a client asked for, clamped into [0, maximum] and filled with defaults.

        Raises InvalidArgument for anything but an object, an unknown field, a null or a non-number, and for a keep
        window that would commit on every write.
        """
        if not isinstance(given, Mapping):
            raise InvalidArgument("auto_commit_policy must be an object or null")
        unknown = sorted(set(given) - {f.name for f in fields(cls)})
        if unknown:
            allowed = ", ".join(f.name for f in fields(cls))
            raise InvalidArgument(f"auto_commit_policy has unknown fields {unknown}; allowed are {allowed}")
        policy = cls(**{name: _clamped(name, value, cls.MAXIMA[name]) for name, value in given.items()})
        if 0 < policy.message_count_threshold <= policy.keep_recent_count:
            raise InvalidArgument(
                "keep_recent_count must be smaller than message_count_threshold, or every write would commit"
            )
        return policy

    def to_dict(self) -> dict[str, int]:
        return asdict(self)


def _clamped(name: str, value: Any, maximum: int) -> int:
    if value is None:
        raise InvalidArgument(f"{name} is null; to switch automatic commits off send auto_commit_policy=null")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidArgument(f"{name} must be a number")
    if isinstance(value, float) and math.isnan(value):
        raise InvalidArgument(f"{name} must be a number")
    return int(min(max(value, 0), maximum))


Reason = Literal["threshold", "idle", "age"]


@dataclass(frozen=True)
class Triggers:
    """A deployment's settings: whether idle sessions are committed, and how many seconds a message may wait at most
    for its commit, whatever the session's policy (0: for ever)."""

    idle: bool = False
    max_age_seconds: int = 604_800


@dataclass(frozen=True)
class AutoCommit:
    """That a session is to be committed now, why, and how many of its newest messages stay live."""

    reason: Reason
    keep_recent_count: int = 0


def policy_of(head: Head) -> AutoCommitPolicy | None:
    """The policy the session was created with; None when it is never committed by itself. Fields of another version of
    the service are left out, and what that version did not know has its default."""
    stored = head.auto_commit_policy
    if stored is None:
        return None
    return AutoCommitPolicy(**{f.name: stored[f.name] for f in fields(AutoCommitPolicy) if f.name in stored})


def decide(head: Head, now: datetime, triggers: Triggers) -> AutoCommit | None:
    """Whether the session is to be committed now. What is idle or has waited too long is archived whole; thresholds
    leave the keep window, and wait while there is nothing beyond it."""
    policy = policy_of(head)
    if policy is None or head.live_count == 0 or now < _pause_ends(head, policy, now):
        return None
    for reason, due in _waits(head, policy, triggers).items():
        if due <= now:
            return AutoCommit(reason)
    if head.live_count > policy.keep_recent_count and _over(head, policy):
        return AutoCommit("threshold", policy.keep_recent_count)
    return None


def next_look(head: Head, now: datetime, triggers: Triggers) -> datetime | None:
    """When the passing of time alone can make a commit due, should nothing else happen; None: never."""
    policy = policy_of(head) if head.live_count else None
    waits = _waits(head, policy, triggers) if policy else {}
    return max(min(waits.values()), _pause_ends(head, policy, now)) if policy and waits else None


def _over(head: Head, policy: AutoCommitPolicy) -> bool:
    many = 0 < policy.message_count_threshold < head.live_count
    return many or 0 < policy.pending_token_threshold < head.pending_tokens


def _waits(head: Head, policy: AutoCommitPolicy, triggers: Triggers) -> dict[Reason, datetime]:
    """From when on the session is idle, and its oldest message has waited too long."""
    waits: dict[Reason, datetime] = {}
    if triggers.idle and policy.idle_timeout_seconds:
        last = parse(head.last_message_at or head.updated_at)
        waits["idle"] = last + timedelta(seconds=policy.idle_timeout_seconds)
    if triggers.max_age_seconds:
        oldest = parse(head.live_since or head.last_commit_at or head.created_at)
        waits["age"] = oldest + timedelta(seconds=triggers.max_age_seconds)
    return waits


def _pause_ends(head: Head, policy: AutoCommitPolicy, now: datetime) -> datetime:
    """When the next automatic commit may be; manual ones do not count."""
    if head.last_auto_commit_at is None or not policy.min_commit_interval_seconds:
        return now
    return parse(head.last_auto_commit_at) + timedelta(seconds=policy.min_commit_interval_seconds)


def wants_marker(head: Head, now: datetime, triggers: Triggers) -> datetime | None:
    """When the sweep is to look at a session first that has no due marker and needs one."""
    if head.auto_commit_policy is None or head.mark:
        return None
    return next_look(head, now, triggers)


def committed(head: Head, now: str) -> Head:
    """What is recorded of an automatic commit. An empty session needs no marker."""
    return replace(
        head,
        last_auto_commit_at=now,
        auto_commit_last_error=None,
        auto_commit_last_error_at=None,
        mark=head.mark if head.live_count else None,
    )


def stumbled(head: Head, reason: str, now: str) -> Head:
    """Why the last automatic commit came to nothing."""
    return replace(head, auto_commit_last_error=reason, auto_commit_last_error_at=now)


def unmarked(head: Head, mark: str, now: datetime, triggers: Triggers) -> Head | None:
    """The session without that marker; None when it still needs it."""
    if head.mark != mark:
        return head
    return None if next_look(head, now, triggers) else replace(head, mark=None)
