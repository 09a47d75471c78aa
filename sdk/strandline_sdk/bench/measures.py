"""What can be counted without a model.

    evidence recall@k    share of a question's evidence turns among what its first k hits cite
    answer tokens        share of the answer's words (without articles and the like) in the text of the hits
    answer contained     1 where the answer stands there word for word

All are means over questions, in percent; containment is no accuracy of answers: nobody has answered anything.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from strandline_sdk.bench.questions import Question

KS = (1, 5, 10, 20)
_WORD = re.compile(r"\w+")
_EMPTY = frozenset("a an the of in on at to and or is was it by for with".split())


@dataclass(frozen=True)
class Asked:
    """A question with what was found: the turns of each hit, and the text of all. `correct`: what a judge says."""

    question: Question
    ranked: Sequence[Sequence[str]]
    text: str
    answer: str | None = None
    correct: bool | None = None
    error: str | None = None

    def row(self) -> dict[str, Any]:
        """As JSON."""
        q = self.question
        named = {
            "conversation": q.conversation,
            "number": q.number,
            "category": q.category,
            "question": q.text,
        }
        counted = {"recall": {str(k): recall(self, k) for k in KS}, **containment(self)}
        judged = {"answer": self.answer, "correct": self.correct, "error": self.error}
        return {
            **named,
            "gold": q.answer,
            "evidence": sorted(q.evidence),
            "ranked": self.ranked,
            **counted,
            **judged,
        }


def recall(asked: Asked, k: int) -> float | None:
    """None where the data set names no evidence."""
    wanted = asked.question.evidence
    found = {turn for cited in asked.ranked[:k] for turn in cited}
    return len(wanted & found) / len(wanted) if wanted else None


def containment(asked: Asked) -> dict[str, float | None]:
    """Of the answer in what was found; None where there is no answer."""
    said, wanted = _words(asked.text), [w for w in _words(asked.question.answer) if w not in _EMPTY]
    if not wanted:
        return {"answer_tokens": None, "answer_contained": None}
    there = set(said)
    whole = f" {' '.join(_words(asked.question.answer))} " in f" {' '.join(said)} "
    return {"answer_tokens": sum(w in there for w in wanted) / len(wanted), "answer_contained": float(whole)}


def table(asked: Sequence[Asked]) -> dict[str, dict[str, Any]]:
    """Percent by category, and of all."""
    rows = [one.row() for one in asked]
    groups = {str(c): [r for r in rows if r["category"] == c] for c in sorted({r["category"] for r in rows})}
    return {name: _means(group) for name, group in {"all": rows, **groups}.items()}


def _means(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    found = {f"recall@{k}": _percent([row["recall"][str(k)] for row in rows]) for k in KS}
    contained = {
        name: _percent([row[name] for row in rows]) for name in ("answer_tokens", "answer_contained")
    }
    judged = _percent([None if row["correct"] is None else float(row["correct"]) for row in rows])
    return {"questions": len(rows), **found, **contained, "judged_correct": judged}


def _percent(values: Sequence[float | None]) -> float | None:
    counted = [value for value in values if value is not None]
    return round(100 * fmean(counted), 2) if counted else None


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
