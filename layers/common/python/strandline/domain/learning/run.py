"""One run of a task as an experience remembers it: how it came out, what was called, what went wrong."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from strandline.domain.field_value import FieldValue
from strandline.domain.memory_types.outcomes import OUTCOMES

if TYPE_CHECKING:  # a function loads what it uses
    from strandline.domain.learning.task import Outcome

RULES = "rules/1"
FIELD = "run_"
KEPT = 10
"""Runs that an experience remembers of those that succeeded, and as many of the others: the newest."""


@dataclass(frozen=True)
class Call:
    """A tool that was called, with the names of its arguments; its error when it failed."""

    tool: str
    arguments: tuple[str, ...] = ()
    error: str | None = None


@dataclass(frozen=True)
class Run:
    """`by` names who analysed it: the rules, or a model, which may also say how to go about it and what to mind;
    `asked` is what was asked in it; `judged_by` the model that said how it came out, where nobody else did."""

    outcome: "Outcome"
    confidence: float
    calls: tuple[Call, ...] = ()
    remarks: tuple[str, ...] = ()
    by: str = RULES
    approach: tuple[str, ...] = ()
    reflect: tuple[str, ...] = ()
    asked: str = ""
    judged_by: str = ""

    @property
    def succeeded(self) -> bool:
        return self.outcome == "success"

    @property
    def tools(self) -> set[str]:
        """Those that were called with success."""
        return {call.tool for call in self.calls if call.error is None}

    def encoded(self) -> str:
        """One line of JSON."""
        row = {
            "outcome": self.outcome,
            "confidence": self.confidence,
            "calls": [[call.tool, list(call.arguments), call.error] for call in self.calls],
            "remarks": self.remarks,
            "by": self.by,
            "approach": self.approach,
            "reflect": self.reflect,
            "asked": self.asked,
            "judged_by": self.judged_by,
        }
        return json.dumps({name: value for name, value in row.items() if value}, ensure_ascii=False)


def decoded(text: str) -> Run | None:
    """The run that a line spells; None when it is none."""
    try:
        row = json.loads(text)
        calls = tuple(Call(tool, tuple(names), error) for tool, names, error in row.get("calls", ()))
        if row["outcome"] not in OUTCOMES:
            return None
        return Run(
            row["outcome"],
            float(row["confidence"]),
            calls,
            remarks=tuple(map(str, row.get("remarks", ()))),
            by=str(row.get("by", RULES)),
            approach=tuple(map(str, row.get("approach", ()))),
            reflect=tuple(map(str, row.get("reflect", ()))),
            asked=str(row.get("asked", "")),
            judged_by=str(row.get("judged_by", "")),
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def is_run(value: FieldValue) -> bool:
    return value.field.startswith(FIELD)


def runs(values: Iterable[FieldValue]) -> list[Run]:
    """The runs among the values, oldest first."""
    found = sorted((value for value in values if is_run(value)), key=lambda value: value.rank)
    return [run for value in found if (run := decoded(str(value.value))) is not None]


def bounded(values: Iterable[FieldValue]) -> tuple[FieldValue, ...]:
    """The values with the newest runs alone, whichever were there first."""
    kept: list[FieldValue] = []
    count = {True: 0, False: 0}
    for value in sorted(values, key=lambda value: value.rank, reverse=True):
        run = decoded(str(value.value)) if is_run(value) else None
        if run is not None:
            count[run.succeeded] += 1
        if run is None or count[run.succeeded] <= KEPT:
            kept.append(value)
    return tuple(sorted(kept, key=lambda value: value.field))
