"""The gate: what is proven, what may be chance, and what is no comparison.  # B-E8"""

from collections.abc import Sequence

import pytest

from strandline_sdk.rollouts.policies import Policy, PolicySet
from strandline_sdk.training.gate import bootstrap, judge
from strandline_sdk.training.values import Evaluated

OLD, NEW = (PolicySet.of("x", [Policy("p", "u", text)]) for text in ("old", "new"))


def scores(policies: PolicySet, *values: float, wanted: int | None = None) -> Evaluated:
    """One trial of each case; a negative value: it could not be evaluated."""
    by_case = {f"c{n}": (value,) for n, value in enumerate(values) if value >= 0}
    return Evaluated(policies, {}, by_case, wanted or len(values))


@pytest.mark.parametrize(
    ("old", "new", "promoted", "reason"),
    [
        ([0] * 10, [1] * 4 + [0] * 6, True, "better on held-out cases by +0.4000"),
        ([0] * 10, [1] * 2 + [0] * 8, False, "may be chance"),
        ([0] * 10, [0] * 10, False, "not better on held-out cases: +0.0000"),
        ([1] * 10, [1] * 9 + [0], False, "not better on held-out cases: -0.1000"),
        ([0] * 4, [1] * 4, False, "only 4 of 4 cases"),
        ([0] * 10, [1] * 8 + [-1] * 2, False, "only 8 of 10 cases"),
        ([0] * 10, [1] * 9 + [-1], True, "better on held-out cases by +1.0000"),
    ],
)
def test_verdicts(old: Sequence[float], new: Sequence[float], promoted: bool, reason: str) -> None:
    verdict = judge(scores(OLD, *old), scores(NEW, *new), seed=1)
    assert (verdict.promoted, reason in verdict.reason) == (promoted, True), verdict.reason
    assert judge(scores(OLD, *old), scores(NEW, *new), seed=1) == verdict


def test_p_is_the_share_of_draws_without_a_gain() -> None:
    """Of ten cases two gain: no gain is drawn with probability 0.8 ** 10 = 0.1074."""
    verdict = judge(scores(OLD, *[0] * 10), scores(NEW, *[1] * 2, *[0] * 8), seed=3)
    assert verdict.p == pytest.approx(0.1074, abs=0.01)
    assert (verdict.better, verdict.worse, verdict.cases, verdict.delta) == (2, 0, 10, 0.2)
    assert verdict.low == 0.0


def test_a_gain_that_is_paid_for_elsewhere_is_none() -> None:
    verdict = judge(scores(OLD, *[1] * 3, *[0] * 7), scores(NEW, *[0] * 3, *[1] * 5, 0, 0), seed=0)
    assert (verdict.promoted, verdict.better, verdict.worse) == (False, 5, 3)


def test_the_same_set_is_no_draft() -> None:
    verdict = judge(scores(OLD, *[0] * 9), scores(OLD, *[1] * 9), seed=0)
    assert verdict.reason == "what was learnt changes no text: the draft is what is served"


def test_draws_follow_from_the_seed() -> None:
    assert bootstrap([0.0, 1.0, 1.0], 7, draws=50) == bootstrap([0.0, 1.0, 1.0], 7, draws=50)
    assert bootstrap([0.0, 1.0, 1.0], 7, draws=50) != bootstrap([0.0, 1.0, 1.0], 8, draws=50)
