"""How often each skill was used and failed, and what is said of how to use it."""

from strandline.domain.memory_types.base import CONTENT, Field, MemoryType

SKILLS = MemoryType(
    name="skills",
    mode="upsert",
    fields=(
        Field(name="skill_name", merge="immutable"),
        Field(name="uses", merge="sum"),
        Field(name="errors", merge="sum"),
        CONTENT,
    ),
    file="skills/{skill_name}.md",
    title="{skill_name}",
    template="Used: {uses}\nFailed: {errors}\n\n{content}",
    instruction="What was learnt of how a skill works: what it is best for, what it needs, and how it fails.",
    enabled=False,
)
