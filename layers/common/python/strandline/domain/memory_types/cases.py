"""Tasks that agents were given: what was asked, what a good answer is, and how often it came out how.

A case is named by whoever sets the task, or by its first request; what it asks is what its oldest conversation says.
"""

from strandline.domain.memory_types.base import Field, MemoryType
from strandline.domain.memory_types.outcomes import COUNTED, TALLY

CASES = MemoryType(
    name="cases",
    mode="upsert",
    fields=(
        Field(name="name", merge="immutable"),
        Field(name="task_signature", merge="immutable", description="the kind of task"),
        Field(name="input", merge="immutable", description="the request, as it was made first"),
        Field(name="rubric", merge="immutable", description="what a good answer is"),
        *COUNTED,
        Field(name="evidence", description="each conversation in which it was asked"),
    ),
    file="cases/{name}.md",
    title="{name}",
    template=f"Kind of task: {{task_signature}}\nRequest: {{input}}\nRubric: {{rubric}}\n{TALLY}\n\n"
    "## Asked\n{evidence}",
    instruction="A task that an agent was given, as whoever evaluates it describes it.",
    index="{task_signature}",
)
