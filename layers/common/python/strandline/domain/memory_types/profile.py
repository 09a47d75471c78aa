"""Who somebody is."""

from strandline.domain.memory_types.base import CONTENT, MemoryType

PROFILE = MemoryType(
    name="profile",
    mode="upsert",
    fields=(CONTENT,),
    file="profile.md",
    title="Profile",
    instruction="Lasting facts a person states about themselves: name, work, family, home, studies, health, identity.",
)
