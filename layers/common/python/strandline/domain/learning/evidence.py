"""What says in a trajectory how its run came out: the client's judgement, or a model's, with the words that show it."""

from collections.abc import Iterator

from strandline.domain.learning.task import Evaluation, Task
from strandline.domain.learning.verdict import Judgement
from strandline.domain.one_line import one_line

MAX_REMARKED = 20
"""Remarks of a judgement that stand in a trajectory."""

WITNESS_CHARS = 300
"""Of the words by which a model judged a run."""


def evidence(task: Task, judged: Judgement | None) -> Iterator[tuple[int, str]]:
    """Each with the seq of the message that it is from; nothing where nobody has judged the run."""
    if task.evaluation is not None and task.judged_at is not None:
        yield from ((task.judged_at, text) for text in _by_the_client(task.evaluation))
    if judged is not None:
        yield judged.witness.seq if judged.witness else task.last, _by_a_model(judged)


def _by_the_client(judged: Evaluation) -> Iterator[str]:
    score = "" if judged.score is None else f", score {judged.score:g}"
    yield f"Judged: {judged.verdict}{score}"
    yield from judged.remarks[:MAX_REMARKED]


def _by_a_model(judged: Judgement) -> str:
    verdict, witness = f"Judged by a model: {judged.outcome}", judged.witness
    if witness is None:
        return verdict
    return f"{verdict}, since the {witness.who} said: {one_line(witness.text, WITNESS_CHARS)}"
