"""The registry of memory types. Adding a type is one file beside this one and one line in `REGISTRY`."""

from strandline.domain.memory_types.base import MemoryType
from strandline.domain.memory_types.entities import ENTITIES
from strandline.domain.memory_types.events import EVENTS
from strandline.domain.memory_types.preferences import PREFERENCES
from strandline.domain.memory_types.profile import PROFILE

REGISTRY: dict[str, MemoryType] = {t.name: t for t in (PROFILE, PREFERENCES, ENTITIES, EVENTS)}

__all__ = ["REGISTRY", "MemoryType"]
