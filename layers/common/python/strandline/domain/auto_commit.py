"""The auto-commit policy of a session: one value object that clamps, fills and rejects."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

from strandline.domain.errors import InvalidArgument


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
