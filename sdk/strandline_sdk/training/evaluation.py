"""What rollouts come to: accuracy and its deviation over trials, reward, use of memory, cost.

accuracy of a trial    cases passed / cases tried in it: one that failed to run has not passed, and its reward is 0
accuracy               mean over trials, ± sample deviation (n - 1; 0 for one trial)

The gate looks only at cases that ran on both sides: a simulator that broke down says nothing of a policy.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from strandline_sdk.rollouts.model import Evaluation, Rollout
from strandline_sdk.rollouts.policies import PolicySet
from strandline_sdk.training.values import Evaluated, Finished

_DIGITS = 6


class OwnEvaluation:
    """What the rollout says itself: who has the environment knows what came of it."""

    def evaluate(self, rollout: Rollout) -> Evaluation:
        return rollout["evaluation"]


@dataclass(frozen=True)
class Where:
    """Which rollouts they are."""

    group: str
    epoch: int
    split: str


def evaluated(where: Where, policies: PolicySet, finished: Sequence[Finished]) -> Evaluated:
    """The sum of these rollouts, which were made under these policies."""
    scores: dict[str, list[float]] = defaultdict(list)
    for one in finished:
        if one.evaluation:
            scores[one.planned.case["name"]].append(one.evaluation["score"])
    trials = len({one.planned.trial for one in finished})
    whole = {case: tuple(got) for case, got in scores.items() if len(got) == trials}
    wanted = len({one.planned.case["name"] for one in finished})
    return Evaluated(policies, summary(where, policies, finished), whole, wanted)


def summary(where: Where, policies: PolicySet, finished: Sequence[Finished]) -> dict[str, Any]:
    """The report's block about them. Nothing in it depends on when or how fast they were made."""
    trials = _trials(finished)
    rollouts = [one.rollout for one in finished if one.rollout]
    accuracies, rewards = ([trial[key] for trial in trials] for key in ("accuracy", "average_reward"))
    return {
        "group": where.group,
        "epoch": where.epoch,
        "split": where.split,
        "snapshot_id": policies.snapshot_id,
        "policies": len(policies.policies),
        "case_count": len({one.planned.case["name"] for one in finished}),
        "trial_count": len({one.planned.trial for one in finished}),
        "rollout_count": len(finished),
        "passed_count": sum(rollout["evaluation"]["passed"] for rollout in rollouts),
        "errors": len(finished) - len(rollouts),
        **_spread("accuracy", accuracies),
        **_spread("average_reward", rewards),
        "trials": trials,
        "memory_usage": memory_usage(rollouts),
        "cost": cost(rollouts),
        "cases": _cases(finished),
    }


def _trials(finished: Sequence[Finished]) -> list[dict[str, Any]]:
    by_trial: dict[int, list[Evaluation | None]] = defaultdict(list)
    for one in finished:
        by_trial[one.planned.trial].append(one.evaluation)
    return [_trial(number, found) for number, found in sorted(by_trial.items())]


def _trial(number: int, found: Sequence[Evaluation | None]) -> dict[str, Any]:
    ran = [one for one in found if one]
    passed = sum(one["passed"] for one in ran)
    reward = round(sum(one["score"] for one in ran) / len(found), _DIGITS)
    accuracy = round(passed / len(found), _DIGITS)
    failed = len(found) - len(ran)
    return {
        "trial": number,
        "accuracy": accuracy,
        "average_reward": reward,
        "passed_count": passed,
        "errors": failed,
    }


def _spread(name: str, values: Sequence[float]) -> dict[str, float]:
    mean = fmean(values) if values else 0.0
    deviation = stdev(values) if len(values) > 1 else 0.0
    return {f"{name}_mean": round(mean, _DIGITS), f"{name}_std": round(deviation, _DIGITS)}


def memory_usage(rollouts: Sequence[Rollout]) -> dict[str, Any]:
    """How many rollouts were given memory, and how many asked for it."""
    used = [rollout.get("metadata", {}).get("memory", {}) for rollout in rollouts]
    given, called = sum(bool(m.get("context")) for m in used), sum(bool(m.get("tool_calls")) for m in used)
    count = len(rollouts)
    return {
        "rollout_count": count,
        "memory_context_count": given,
        "memory_context_ratio": round(given / count, _DIGITS) if count else 0.0,
        "memory_tool_call_rollout_count": called,
        "memory_tool_call_ratio": round(called / count, _DIGITS) if count else 0.0,
        "memory_tool_call_total": sum(m.get("tool_calls", 0) for m in used),
    }


def cost(rollouts: Sequence[Rollout]) -> dict[str, float]:
    """What the rollouts say that they cost."""
    used: Sequence[Mapping[str, Any]] = [rollout.get("metadata", {}).get("usage", {}) for rollout in rollouts]
    names = ("prompt_tokens", "completion_tokens", "cost_usd")
    return {name: round(sum(usage.get(name, 0) for usage in used), _DIGITS) for name in names}


def _cases(finished: Sequence[Finished]) -> list[dict[str, Any]]:
    """Each case with its trials, in their order; a trial that failed to run has an error instead of a score."""
    by_case: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for one in finished:
        by_case[one.planned.case["name"]].append(_result(one))
    return [{"case": case, "results": results} for case, results in by_case.items()]


def _result(one: Finished) -> dict[str, Any]:
    if one.evaluation is None:
        return {"trial": one.planned.trial, "error": one.error, "path": one.planned.place}
    told = {"passed": one.evaluation["passed"], "score": one.evaluation["score"]}
    wrong = [r for r in one.evaluation.get("criterion_results", ()) if not r["passed"]]
    feedback = [f"{r['name']}: {r.get('feedback', '')}" for r in wrong] + one.evaluation.get("feedback", [])
    memory = one.rollout.get("metadata", {}).get("memory", {}) if one.rollout else {}
    read = list(memory.get("read", ()))
    return {"trial": one.planned.trial, **told, "feedback": feedback, "read": read, "path": one.planned.place}
