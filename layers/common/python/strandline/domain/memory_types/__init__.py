"""The registry of memory types. Adding a type is one file beside this one, one line in `REGISTRY`, and its cases in
`tests/cases/types`."""

from strandline.domain.memory_types.base import Field, MemoryType
from strandline.domain.memory_types.cases import CASES
from strandline.domain.memory_types.entities import ENTITIES
from strandline.domain.memory_types.events import EVENTS
from strandline.domain.memory_types.experiences import EXPERIENCES
from strandline.domain.memory_types.preferences import PREFERENCES
from strandline.domain.memory_types.profile import PROFILE
from strandline.domain.memory_types.skills import SKILLS
from strandline.domain.memory_types.tools import TOOLS
from strandline.domain.memory_types.topics import TOPICS
from strandline.domain.memory_types.trajectories import TRAJECTORIES

REGISTRY: dict[str, MemoryType] = {
    t.name: t
    for t in (
        PROFILE,
        PREFERENCES,
        ENTITIES,
        EVENTS,
        TOPICS,
        TOOLS,
        SKILLS,
        CASES,
        TRAJECTORIES,
        EXPERIENCES,
    )
}

LEARNED = ("cases", "trajectories", "experiences")
"""The types that belong to learning: an experience comes of trajectories, and those of cases."""

BY_DEFAULT = tuple(t for t in REGISTRY.values() if t.enabled and t.extracted and t.name not in LEARNED)
"""What is looked for in an archive unless its session's policy says otherwise."""

__all__ = ["BY_DEFAULT", "LEARNED", "REGISTRY", "Field", "MemoryType"]
