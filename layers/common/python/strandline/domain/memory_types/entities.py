"""People, places and things by name."""

from strandline.domain.memory_types.base import MemoryType

ENTITIES = MemoryType(
    name="entities",
    mode="upsert",
    identity=("category", "name"),
    file="entities/{category}/{name}.md",
    title="{name}",
    instruction="People, places, organisations, works, pets and things that are named, and what is said of them.",
)
