"""How a run of a task came out, and how much its lessons count."""

from collections.abc import Sequence

from strandline.domain.learning.run import Call, Run
from strandline.domain.learning.steps import Step
from strandline.domain.learning.task import Evaluation, Outcome, Task

MAX_CALLS = 30
MAX_REMARKS = 4


def outcome_of(task: Task, steps: Sequence[Step]) -> Outcome:
    """How it came out: as it was judged, or by how the conversation ends."""
    if task.evaluation is not None:
        return task.evaluation.verdict
    is_open = any(step.open for step in steps) or task.messages[-1]["role"] == "user"
    return "unfinished" if is_open else "unknown"


def confidence(outcome: Outcome, evaluation: Evaluation | None) -> float:
    """How much the lessons of a run count, 0 to 1."""
    hundredths = 50
    hundredths += 20 if evaluation and evaluation.has_passed else 0
    hundredths += {"success": 20, "failure": -20, "partial": -20, "unfinished": -10, "unknown": 0}[outcome]
    return hundredths / 100


def run_of(task: Task, steps: Sequence[Step]) -> Run:
    """The run of a task, by the rules."""
    outcome = outcome_of(task, steps)
    remarks = task.evaluation.remarks[:MAX_REMARKS] if task.evaluation else []
    return Run(
        outcome,
        confidence(outcome, task.evaluation),
        calls=tuple(Call(step.tool, step.arguments, step.error) for step in steps[:MAX_CALLS]),
        remarks=tuple(remarks),
        asked=task.asked,
    )
