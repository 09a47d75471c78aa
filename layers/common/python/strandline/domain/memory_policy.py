"""What a session may be remembered by: whose memories, of which types, and whether archives get a summary."""

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict, Field, field_validator

from strandline.domain.memory_types import REGISTRY, MemoryType

PLANNED = ("cases", "trajectories", "experiences")
KNOWN_TYPES = (*REGISTRY, *PLANNED)


class Switch(BaseModel):
    model_config = ConfigDict(extra="forbid")

    enabled: bool = True


class MemoryPolicy(BaseModel):
    """`memory_types` None means every enabled type; `experiences` brings `cases` and `trajectories` with it."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    own: Switch = Field(default_factory=Switch, alias="self")
    peer: Switch = Field(default_factory=Switch)
    memory_types: list[str] | None = None
    working_memory: Switch = Field(default_factory=Switch)

    @field_validator("memory_types")
    @classmethod
    def _known(cls, names: list[str] | None) -> list[str] | None:
        if names is None:
            return None
        unknown = sorted(set(names) - set(KNOWN_TYPES))
        if unknown:
            raise ValueError(f"unknown memory types {unknown}; known are {', '.join(KNOWN_TYPES)}")
        implied = ["cases", "trajectories"] if "experiences" in names else []
        return list(dict.fromkeys([*names, *implied]))

    def admits(self, kind: MemoryType, peer: str | None) -> bool:
        """Whether a memory of this type, of this peer (None: the user), may be written."""
        owner = self.own if peer is None else self.peer
        return owner.enabled and self.looks_for(kind)

    def looks_for(self, kind: MemoryType) -> bool:
        """Whether memories of this type are wanted of anybody."""
        return kind.enabled if self.memory_types is None else kind.name in self.memory_types

    def chosen(self, kinds: Iterable[MemoryType]) -> tuple[MemoryType, ...]:
        """Those of these types that are looked for in the session's archives."""
        return tuple(kind for kind in kinds if kind.extracted and self.looks_for(kind))
