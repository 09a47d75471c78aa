"""Expiry of memories: what is over is not shown at once."""

from dataclasses import replace

from strandline.domain.memory import Memory
from strandline.pipeline.library import Library
from strandline.storage.markdown import Edit


def lasting(services: Library, current: Memory | None, edit: Edit) -> Edit:
    """The edit with the time to live that it, the memory, or for a new one the deployment, has."""
    if edit.sets_expiry:
        return edit
    ttl = current.ttl_seconds if current else services.rules.memory_ttl_seconds
    return replace(edit, ttl_seconds=ttl, sets_expiry=ttl is not None)
