"""What an agent writes down for itself, by its own tools; nothing is extracted into it."""

from strandline.domain.memory_types.base import CONTENT, Field, MemoryType

TOPICS = MemoryType(
    name="topics",
    mode="upsert",
    fields=(
        Field(name="filename", merge="immutable"),
        Field(name="name", merge="replace"),
        Field(name="description", merge="replace", description="when to read it"),
        Field(name="memory_type", merge="replace", description="user, feedback, project or reference"),
        Field(name="summary", merge="replace"),
        CONTENT,
    ),
    file="topics/{filename}.md",
    title="{filename}",
    instruction="What the agent wants to know next time: about the user, feedback, a project, where to look things up.",
    extracted=False,
)
