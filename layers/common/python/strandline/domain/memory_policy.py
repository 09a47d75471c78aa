"""What a session may be remembered by: whose memories, of which types, and whether archives get a summary."""

import re
from collections.abc import Iterable
from typing import Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
)

from strandline.domain.expiry import MAX_TTL_SECONDS
from strandline.domain.memory_types import LEARNED, REGISTRY, MemoryType
from strandline.domain.scalars import Switched, Whole

KNOWN_TYPES = tuple(REGISTRY)


MAX_TYPES = 100
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


class Switch(BaseModel):
    model_config = ConfigDict(extra="forbid")

    enabled: Switched = True


class MemoryPolicy(BaseModel):
    """`memory_types` None means every enabled type; `experiences` brings `cases` and `trajectories` with it, which
    without it are dropped. Others than the service's own are to be declared by the user."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    own: Switch = Field(default_factory=Switch, alias="self")
    peer: Switch = Field(default_factory=Switch)
    memory_types: list[str] | None = None
    working_memory: Switch = Field(default_factory=Switch)
    ttl_seconds: Whole | None = Field(default=None, ge=1, le=MAX_TTL_SECONDS)

    @model_serializer(mode="wrap")
    def _as_sent(self, usual: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A policy without a time to live is shown without one."""
        shown: dict[str, Any] = usual(self)
        return {name: value for name, value in shown.items() if name != "ttl_seconds" or value is not None}

    @field_validator("memory_types")
    @classmethod
    def _implied(cls, names: list[str] | None) -> list[str] | None:
        if names is None:
            return None
        if len(names) > MAX_TYPES or not all(map(_NAME.fullmatch, names)):
            raise ValueError(f"at most {MAX_TYPES} names of memory types; known are {', '.join(KNOWN_TYPES)}")
        if "experiences" in names:
            return list(dict.fromkeys([*names, *LEARNED]))
        return [name for name in dict.fromkeys(names) if name not in LEARNED]

    @property
    def custom(self) -> list[str]:
        """The types it names that are not the service's own."""
        return [name for name in self.memory_types or () if name not in KNOWN_TYPES]

    def admits(self, kind: MemoryType, peer: str | None) -> bool:
        """Whether a memory of this type, of this peer (None: the user), may be written."""
        owner = self.own if peer is None else self.peer
        return owner.enabled and self.looks_for(kind)

    def looks_for(self, kind: MemoryType) -> bool:
        """Whether memories of this type are wanted of anybody."""
        return kind.enabled if self.memory_types is None else kind.name in self.memory_types

    def chosen(self, kinds: Iterable[MemoryType]) -> tuple[MemoryType, ...]:
        """Those of these types that are looked for in what is said in the session's archives."""
        wanted = (kind for kind in kinds if kind.extracted and kind.name not in LEARNED)
        return tuple(kind for kind in wanted if self.looks_for(kind))
