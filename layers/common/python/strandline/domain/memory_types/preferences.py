"""Likes and dislikes by topic."""

from strandline.domain.memory_types.base import MemoryType

PREFERENCES = MemoryType(
    name="preferences",
    mode="upsert",
    identity=("topic",),
    file="preferences/{topic}.md",
    title="Preferences: {topic}",
    instruction="What a person likes, dislikes, prefers, wants or avoids, grouped by topic.",
)
