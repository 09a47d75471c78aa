"""When a memory expires: a time to live counts from its own last write, and nothing but a write renews it.

A memory has its time to live from whoever wrote it first: the request, the policy of the session it was extracted
from, or the deployment. Where several sessions meet in one file, it lives as long as the longest of them wants; what
its owner has written keeps what the owner said.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from strandline.domain.memory import Memory, living
from strandline.domain.times import parse, stamp

MAX_TTL_SECONDS = 3_660 * 86_400


def expired(expires_at: Any, now: str) -> bool:
    """Whether the time (RFC 3339, or None for never) has passed."""
    return expires_at is not None and str(expires_at) <= now


def ends(now: str, ttl_seconds: int | None) -> str | None:
    """When a record ends that is written now and lives that long."""
    return stamp(parse(now) + timedelta(seconds=ttl_seconds)) if ttl_seconds else None


def alive(memory: Memory | None, now: str) -> Memory | None:
    """The memory, if it is there, neither deleted nor expired."""
    there = living(memory)
    return None if there is None or expired(there.expires_at, now) else there


def renewed(
    before: Memory | None, merged: Memory | None, ttls: Mapping[str, int | None], now: str
) -> Memory | None:
    """A memory as archives have made it of the one before, with its expiry as of now. `ttls` are what the sessions of
    these extractions want (None: for ever); those that it has not taken in have no say."""
    if merged is None:
        return None
    new = alive(before, now) is None
    owners = not new and (merged.edits or (merged.expires_at and not merged.ttl_seconds))
    wanted = [ttl for extraction, ttl in ttls.items() if extraction in merged.applied]
    if owners or not wanted:
        wanted = [merged.ttl_seconds]
    elif not new:
        wanted.append(merged.ttl_seconds)
    ttl = None if None in wanted else max(each or 0 for each in wanted) or None
    if ttl == merged.ttl_seconds is None:
        return merged
    return replace(merged, ttl_seconds=ttl, expires_at=ends(now, ttl))
