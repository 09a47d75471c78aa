"""Expiry of memories: an expired memory is hidden at once, and removed by the sweep.

in             a memory that was written with a time to live; later its due marker
out            the marker, at the first time it may expire; later the memory deleted, with an event like any deletion
commit point   CAS PUT of the gravestone, over nothing but an expired memory
on duplicate   a memory that is gone, or has been written since, is left alone
on crash       the marker of the write, or the repeated merge, puts this one

The marker is lazy: writes that renew a memory leave it where it is, the sweep then finds the memory alive and moves it.
"""

from collections.abc import Mapping
from dataclasses import replace

from strandline.domain.memory import Memory
from strandline.pipeline.library import Library
from strandline.storage.answered import answered
from strandline.storage.document import Versioned
from strandline.storage.due import Due
from strandline.storage.index import Catalogue
from strandline.storage.layout import User, user_ref
from strandline.storage.markdown import Edit


def lasting(services: Library, current: Memory | None, edit: Edit) -> Edit:
    """The edit with the time to live that it, the memory, or for a new one the deployment, has."""
    if edit.sets_expiry:
        return edit
    ttl = current.ttl_seconds if current else services.rules.memory_ttl_seconds
    return replace(edit, ttl_seconds=ttl, sets_expiry=ttl is not None)


def watch(
    services: Library, owner: User, files: Mapping[str, Memory | None], base: Versioned[Catalogue] | None
) -> None:
    """Makes the sweep look at memories when they expire, unless by `base`, the index before the write, it will look at
    them earlier. Raises Unavailable."""
    for path, memory in files.items():
        until = memory.expires_at if memory else None
        if until is None:
            continue
        known = base.value.index.documents(path)[:1] if base else []
        looked_at = known[0].attributes.get("expires_at") if known else None
        if looked_at is None or str(looked_at) > until:
            with answered("the table did not answer; the memory is written, repeat the request"):
                services.due.put(Due(until, "expire", user_ref(owner), path=path))
