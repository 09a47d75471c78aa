"""People, places and things by name."""

from strandline.domain.memory_types.base import CONTENT, Field, MemoryType

ENTITIES = MemoryType(
    name="entities",
    mode="upsert",
    fields=(Field(name="category", merge="immutable"), Field(name="name", merge="immutable"), CONTENT),
    file="entities/{category}/{name}.md",
    title="{name}",
    instruction="People, places, organisations, works, pets and things that are named, and what is said of them.",
)
