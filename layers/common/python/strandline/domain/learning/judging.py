"""How a run of a task came out, and how much its lessons count.

An experience says how an agent is to act, so what is worded to take a model over does not get into one.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from strandline.domain.injection import INSTRUCTION, injected
from strandline.domain.learning.run import Call, Run
from strandline.domain.learning.steps import Step
from strandline.domain.learning.task import Evaluation, Outcome, Task
from strandline.domain.learning.verdict import Judgement

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


def as_judged(run: Run, judged: Judgement | None) -> Run:
    """The run as a model has judged it, if it has. Nobody has verified that."""
    if judged is None:
        return run
    counts = confidence(judged.outcome, None)
    return replace(run, outcome=judged.outcome, confidence=counts, judged_by=judged.by)


def _call(step: Step) -> Call:
    names = tuple(name for name in step.arguments if not injected(name))
    return Call(step.tool, names, INSTRUCTION if injected(step.error or "") else step.error)


def run_of(task: Task, steps: Sequence[Step]) -> Run:
    """The run of a task, by the rules."""
    outcome = outcome_of(task, steps)
    said = task.evaluation.remarks if task.evaluation else []
    remarks = islice((text for text in said if not injected(text)), MAX_REMARKS)
    calls = islice((step for step in steps if not injected(step.tool)), MAX_CALLS)
    return Run(
        outcome,
        confidence(outcome, task.evaluation),
        calls=tuple(map(_call, calls)),
        remarks=tuple(remarks),
        asked=task.asked,
    )
