"""What a session may be remembered by: whose memories, of which types, and whether archives get a summary."""

from pydantic import BaseModel, ConfigDict, Field, field_validator

KNOWN_TYPES = (
    "profile",
    "preferences",
    "entities",
    "events",
    "cases",
    "trajectories",
    "experiences",
    "tools",
    "skills",
)


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

    def admits(self, memory_type: str, peer: str | None) -> bool:
        """Whether a memory of this type, of this peer (None: the user), may be written."""
        owner = self.own if peer is None else self.peer
        return owner.enabled and (self.memory_types is None or memory_type in self.memory_types)
