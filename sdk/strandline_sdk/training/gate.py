"""Whether a draft does better than what is served, on cases that it was not trained on.

For every held-out case i with a whole set of trials on both sides, d_i is the mean score under the draft less that
under the current policies (trials of both have the same seeds). A paired bootstrap draws n of the n differences with
replacement, 10,000 times, with a generator seeded by the run's seed:

    p = (1 + number of draws whose mean is <= 0) / (1 + 10,000)

The draft is promoted when mean(d) > 0 and p <= 0.05. At least five cases are needed, and nine of ten of the cases must
have been evaluated on both sides: a draft must not win by the cases at which it broke down.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from strandline_sdk.training.values import Evaluated

DRAWS = 10_000
LEVEL = 0.05
FEWEST_CASES = 5
_SHARE_EVALUATED = 0.9


@dataclass(frozen=True)
class Verdict:
    """The decision and its reason; `low` and `high` hold the middle 95 % of the means that were drawn."""

    promoted: bool
    reason: str
    cases: int = 0
    delta: float = 0.0
    low: float = 0.0
    high: float = 0.0
    p: float = 1.0
    better: int = 0
    worse: int = 0

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def judge(current: Evaluated, draft: Evaluated, seed: int) -> Verdict:
    """Compares a draft with the current policies by their scores on the same cases."""
    if current.policies.snapshot_id == draft.policies.snapshot_id:
        return Verdict(False, "what was learnt changes no text: the draft is what is served")
    pairs = _pairs(current.scores, draft.scores)
    if len(pairs) < max(FEWEST_CASES, _SHARE_EVALUATED * draft.wanted):
        needed = f"at least {FEWEST_CASES} and {_SHARE_EVALUATED:.0%} are needed"
        return Verdict(
            False, f"only {len(pairs)} of {draft.wanted} cases were evaluated on both sides: {needed}"
        )
    return _compared(pairs, seed)


def _pairs(
    current: Mapping[str, Sequence[float]], draft: Mapping[str, Sequence[float]]
) -> list[tuple[float, float]]:
    """Mean scores by case, of those with as many trials on either side."""
    both = [case for case in current if current[case] and len(current[case]) == len(draft.get(case, ()))]
    return [(_mean(current[case]), _mean(draft[case])) for case in both]


def _compared(pairs: Sequence[tuple[float, float]], seed: int) -> Verdict:
    differences = [new - old for old, new in pairs]
    delta = _mean(differences)
    drawn = bootstrap(differences, seed)
    p = (1 + sum(mean <= 1e-12 for mean in drawn)) / (1 + len(drawn))
    low, high = drawn[round(0.025 * (len(drawn) - 1))], drawn[round(0.975 * (len(drawn) - 1))]
    promoted = delta > 0 and p <= LEVEL
    better, worse = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    numbers = {"delta": delta, "low": low, "high": high, "p": p}
    rounded = {name: round(number, 6) for name, number in numbers.items()}
    return Verdict(promoted, _reason(delta, p), len(pairs), better=better, worse=worse, **rounded)


def bootstrap(differences: Sequence[float], seed: int, draws: int = DRAWS) -> list[float]:
    """Means of as many differences as there are, drawn with replacement; sorted."""
    source = random.Random(seed)  # noqa: S311 - draws that can be repeated
    count = len(differences)
    return sorted(_mean(source.choices(differences, k=count)) for _ in range(draws))


def _reason(delta: float, p: float) -> str:
    if delta <= 0:
        return f"not better on held-out cases: {delta:+.4f}"
    if p > LEVEL:
        return f"better by {delta:+.4f}, but that may be chance: p = {p:.4f} > {LEVEL}"
    return f"better on held-out cases by {delta:+.4f}, p = {p:.4f} <= {LEVEL}"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
