"""What happened or is planned, by day."""

from strandline.domain.memory_types.base import CONTENT, Field, MemoryType

EVENTS = MemoryType(
    name="events",
    mode="add_only",
    fields=(Field(name="name", merge="immutable"), CONTENT),
    file="events/{year}/{month}/{day}/{name}-{extraction}.md",
    title="{date}: {name}",
    instruction="What happened or is planned, with its date, and what else was said in the conversation that day.",
    index="",
)
