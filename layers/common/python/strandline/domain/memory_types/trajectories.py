"""What an agent did in one conversation to do a task, and how it came out. Written once, by the learn stage."""

from strandline.domain.memory_types.base import Field, MemoryType

TRAJECTORIES = MemoryType(
    name="trajectories",
    mode="add_only",
    fields=(
        Field(name="name", merge="immutable", description="that of the case"),
        Field(name="session", merge="immutable"),
        Field(name="outcome", merge="immutable"),
        Field(
            name="judged_by", merge="immutable", description="the model that says so, where nobody else did"
        ),
        Field(name="score", merge="immutable"),
        Field(name="confidence", merge="immutable", description="0 to 1: how much its lessons count"),
        Field(name="task", merge="immutable", description="what was asked in this conversation"),
        Field(name="steps", description="what was done, in order"),
        Field(name="evidence", description="what says how it came out"),
    ),
    file="trajectories/{name}-{session}-{extraction}.md",
    title="{name}: {session}",
    template="Outcome: {outcome}\nJudged by: {judged_by}\nScore: {score}\nConfidence: {confidence}\nTask: {task}\n\n"
    "## Steps\n{steps}\n\n## Evidence\n{evidence}",
    instruction="What an agent did to do a task, step by step.",
    index="",
    extracted=False,
)
