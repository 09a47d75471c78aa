"""Likes and dislikes by topic."""

from strandline.domain.memory_types.base import CONTENT, Field, MemoryType

PREFERENCES = MemoryType(
    name="preferences",
    mode="upsert",
    fields=(Field(name="topic", merge="immutable"), CONTENT),
    file="preferences/{topic}.md",
    title="Preferences: {topic}",
    instruction="What a person likes, dislikes, prefers, wants or avoids, grouped by topic.",
)
