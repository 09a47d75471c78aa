"""What is known of how to do a kind of task: when it applies, how to go about it, what went wrong.

Written by the learn stage. The body follows from the runs in the front matter (`domain/learning/experience.py`), so it
is the same in whatever order they were learnt.
"""

from strandline.domain.memory_types.base import Field, MemoryType

EXPERIENCES = MemoryType(
    name="experiences",
    mode="upsert",
    fields=(
        Field(name="name", merge="immutable", description="the kind of task"),
        Field(name="situation", merge="immutable", description="the request of its oldest case"),
    ),
    file="experiences/{name}.md",
    title="{name}",
    template="{situation}",
    instruction="How to do a kind of task, learnt from runs of it.",
    index="",
    extracted=False,
)
