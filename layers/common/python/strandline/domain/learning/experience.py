"""The text of an experience: situation, approach, reflection. It follows from the runs that it remembers.

Approach   the calls of the run that counts most, each with how many runs that succeeded made it, too; or what a model
           said of that run
Reflect    what tells the runs that did not succeed from those that did, calls that failed, and what was remarked

Every line ends in the mark of what is derived: it is written anew with each merge, and an owner's own text stays.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from strandline.domain.field_value import FieldValue
from strandline.domain.learning.run import Run, runs
from strandline.domain.line import DERIVED
from strandline.domain.memory_types.outcomes import OUTCOMES

if TYPE_CHECKING:  # a memory is laid out by this
    from strandline.domain.memory import Memory

MAX_POINTS = 8
BAD = ("failure", "partial")
NOTHING_WRONG = "Nothing has gone wrong so far."


def laid_out(values: Sequence[FieldValue]) -> list[str]:
    """The blocks of the body; none where there is no run to tell of, as of one that somebody has written."""
    remembered = runs(values)
    if not remembered and not situation(values):
        return []
    blocks = [[_confidence(remembered)], _section("Situation", [situation(values)])]
    if remembered:
        blocks += [_section("Approach", approach(remembered)), _section("Reflect", reflect(remembered))]
    return ["\n".join(f"{row} {DERIVED}" for row in block) for block in blocks]


def told(memory: "Memory") -> str:
    """Its text without the marks of what is derived."""
    return "\n".join(row.removesuffix(DERIVED).rstrip() for row in memory.body.split("\n"))


def situation(values: Iterable[FieldValue]) -> str:
    """When it applies: what its oldest case asks, or, where that was taken back, its oldest run's."""
    there = list(values)
    said = next((str(value.value) for value in there if value.field == "situation"), "")
    return said or next((run.asked for run in runs(there) if run.asked), "")


def confidence(remembered: Sequence[Run]) -> float:
    """The mean of the runs', 0 to 1; a half where there is none."""
    if not remembered:
        return 0.5
    return round(sum(run.confidence for run in remembered) / len(remembered), 2)


def _confidence(remembered: Sequence[Run]) -> str:
    counts: Counter[str] = Counter(run.outcome for run in remembered)
    told = ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome])
    by_model = sum(bool(run.judged_by) for run in remembered)
    judged = f"; {by_model} judged by a model" if by_model else ""
    return f"Confidence: {confidence(remembered):.2f} (runs remembered: {told or 'none'}{judged})"


def _section(name: str, points: Iterable[str]) -> list[str]:
    return [f"## {name}", *(f"- {point}" for point in points if point)]


def approach(remembered: Sequence[Run]) -> list[str]:
    """At most eight points, in the order in which to go about them."""
    best = max(enumerate(remembered), key=lambda each: (each[1].confidence, each[0]))[1]
    told = _best_told(remembered)
    if told:
        return list(told.approach[:MAX_POINTS])
    if not best.succeeded:
        return ["No run has succeeded yet."]
    successes = [run for run in remembered if run.succeeded]
    support = Counter(tool for run in successes for tool in run.tools)
    tools = list(dict.fromkeys(call.tool for call in best.calls if call.error is None))
    if not tools:
        return ["Answer without calling a tool."]
    chosen = sorted(tools, key=lambda tool: (-support[tool], tools.index(tool)))[:MAX_POINTS]
    return [_point(best, tool, support[tool], len(successes)) for tool in tools if tool in chosen]


def _best_told(remembered: Sequence[Run]) -> Run | None:
    """The run that counts most among those of which a model has said how to go about it."""
    told = [(run.confidence, n, run) for n, run in enumerate(remembered) if run.approach and run.succeeded]
    return max(told, key=lambda each: each[:2])[2] if told else None


def _point(best: Run, tool: str, support: int, successes: int) -> str:
    calls = [call for call in best.calls if call.tool == tool and call.error is None]
    names = ", ".join(dict.fromkeys(name for call in calls for name in call.arguments))
    often = f" {len(calls)} times" if len(calls) > 1 else ""
    shared = f"; {support} of {successes} runs that succeeded did" if successes > 1 else ""
    return f"Call `{tool}`{f' ({names})' if names else ''}{often}{shared}."


def reflect(remembered: Sequence[Run]) -> list[str]:
    """At most eight points on what to mind, what tells most first."""
    told = [point for run in reversed(remembered) for point in run.reflect]
    seen = (*_differences(remembered), *_remarked(remembered), *_failed(remembered))
    points = list(dict.fromkeys([*told, *seen]))
    if points:
        return points[:MAX_POINTS]
    bad = sum(run.outcome in BAD for run in remembered)
    return [f"{bad} of {len(remembered)} runs did not succeed, by the same calls." if bad else NOTHING_WRONG]


def _differences(remembered: Sequence[Run]) -> Iterator[str]:
    """What all runs that succeeded did and no other, and the other way round."""
    good = [run.tools for run in remembered if run.succeeded]
    bad = [run.tools for run in remembered if run.outcome in BAD]
    if not good or not bad:
        return
    tried: set[str] = set().union(*bad)
    missed = set.intersection(*good) - tried
    strayed = tried - set().union(*good)
    yield from (f"Runs that did not succeed have no call of `{tool}` that worked." for tool in sorted(missed))
    yield from (f"Only runs that did not succeed called `{tool}`." for tool in sorted(strayed))


def _remarked(remembered: Sequence[Run]) -> Iterator[str]:
    """What was remarked of runs that did not succeed, newest first."""
    for run in reversed(remembered):
        if not run.succeeded:
            yield from (f"Remarked of a run that ended in {run.outcome}: {text}" for text in run.remarks)


def _failed(remembered: Sequence[Run]) -> Iterator[str]:
    """Calls that failed, in most runs first."""
    count = Counter(
        each for run in remembered for each in {(c.tool, c.error) for c in run.calls if c.error is not None}
    )
    for (tool, error), often in sorted(count.items(), key=lambda each: (-each[1], each[0])):
        yield f"`{tool}` failed in {often} of {len(remembered)} runs: {error}"
