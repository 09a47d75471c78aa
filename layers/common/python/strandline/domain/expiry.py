"""When a memory expires: a time to live counts from its own last write, and nothing but a write renews it.

A memory has its time to live from whoever wrote it first: the request, the policy of the session it was extracted
from, or the deployment. Where several sessions meet in one file, it lives as long as the longest of them wants; what
its owner has written keeps what the owner said.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from strandline.domain.memory import Memory, living
from strandline.domain.times import parse, stamp


def expired(expires_at: Any, now: str) -> bool:
    """Whether the time (RFC 3339, or None for never) is over."""
    return expires_at is not None and str(expires_at) <= now


def ends(now: str, ttl_seconds: int | None) -> str | None:
    """When a record ends that is written now and lives that long."""
    return stamp(parse(now) + timedelta(seconds=ttl_seconds)) if ttl_seconds else None


def alive(memory: Memory | None, now: str) -> Memory | None:
    """The memory, if it is there, neither deleted nor expired."""
    there = living(memory)
    return None if there is None or expired(there.expires_at, now) else there


def absorbed(memory: Memory, ttls: Iterable[int | None], now: str, *, new: bool) -> Memory:
    """A memory that archives have just been merged into, with its expiry as of now. `ttls` are what their sessions
    want (None: for ever)."""
    owners = not new and (memory.edits or (memory.expires_at and not memory.ttl_seconds))
    wanted = [memory.ttl_seconds] if owners else list(ttls) if new else [memory.ttl_seconds, *ttls]
    ttl = None if None in wanted else max(each or 0 for each in wanted) or None
    if ttl == memory.ttl_seconds is None:
        return memory
    return replace(memory, ttl_seconds=ttl, expires_at=ends(now, ttl))
