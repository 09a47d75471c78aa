"""How often each tool was called and failed, and what is said of how to use it."""

from strandline.domain.memory_types.base import CONTENT, Field, MemoryType

TOOLS = MemoryType(
    name="tools",
    mode="upsert",
    fields=(
        Field(name="tool_name", merge="immutable"),
        Field(name="calls", merge="sum"),
        Field(name="errors", merge="sum"),
        CONTENT,
    ),
    file="tools/{tool_name}.md",
    title="{tool_name}",
    template="Called: {calls}\nFailed: {errors}\n\n{content}",
    instruction="What was learnt of how a tool works: when to use it, with what input, and how it fails.",
    enabled=False,
)
