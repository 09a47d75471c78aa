"""What a trajectory would change in an experience, by rule.

The experience is that of the task's kind. Of a failed try, what its verifier says about each criterion becomes a point
of that name; of a success, the points that it had read are confirmed, and the calls that led there become one.

Confidence: 0.5, + 0.3 where a verifier has said what was wrong or right, + 0.1 for a success, - 0.1 for a try without
an end. It is a weight for votes, no probability.
"""

import re
from collections.abc import Iterator

from strandline_sdk.rollouts.model import Case, Evaluation
from strandline_sdk.rollouts.policies import PolicySet
from strandline_sdk.training.experience import SLOT_CHARS, parse, point
from strandline_sdk.training.values import Gradient, Point, Trajectory, slug

_WORDS = re.compile(r"\w+")
_LONGEST_NAME = 80
_MOST_STEPS = 12
_POINT_CHARS = 400


class FeedbackGradient:
    """From feedback, and from what worked."""

    def estimate(self, trajectory: Trajectory, policies: PolicySet) -> Gradient | None:
        """A patch with its evidence; None where there is nothing to be said."""
        target = experience_name(trajectory.case)
        passed = trajectory.evaluation["passed"]
        found = _confirmed(trajectory, target, policies) if passed else _lessons(trajectory.evaluation)
        points = tuple(dict.fromkeys(found))
        if not points:
            return None
        case = trajectory.case["name"]
        reflect = f"{_line(case)}: {trajectory.outcome}"
        confidence = confidence_of(trajectory)
        return Gradient(
            trajectory.rollout, target, situation_of(trajectory.case), points, reflect, confidence, case
        )


def experience_name(case: Case) -> str:
    """Cases of one kind share an experience; the service's own learning calls it by the same words."""
    words = "-".join(_WORDS.findall(case["task_signature"].lower()))
    return words if 0 < len(words) <= _LONGEST_NAME else slug(case["task_signature"])


def situation_of(case: Case) -> str:
    """When the experience applies: a line that begins no section."""
    return _line(case["task_signature"]).lstrip("#-* ")


def confidence_of(trajectory: Trajectory) -> float:
    """How much the trajectory's vote counts."""
    verified = 0.3 if trajectory.evaluation.get("criterion_results") else 0.0
    by_outcome = {"success": 0.1, "unfinished": -0.1}
    return round(0.5 + verified + by_outcome.get(trajectory.outcome, 0.0), 2)


def _lessons(evaluation: Evaluation) -> Iterator[Point]:
    for result in evaluation.get("criterion_results", ()):
        said = _line(result.get("feedback", ""))
        if not result["passed"] and said:
            name = _line(result["name"].replace(":", " "))[:SLOT_CHARS]
            yield point(f"{name}: {said}" if name else said)
    yield from (point(said) for text in evaluation.get("feedback", ()) if (said := _line(text)))


def _confirmed(trajectory: Trajectory, target: str, policies: PolicySet) -> Iterator[Point]:
    known = policies.policies.get(target)
    if known and target in trajectory.read:
        yield from parse(target, known.content).approach
    if trajectory.steps:
        yield Point("Calls that led there", " → ".join(trajectory.steps[:_MOST_STEPS]))


def _line(text: str) -> str:
    """On one line: a point is an item of a list, and what a verifier says cannot make it anything else."""
    return " ".join(text.replace("<!--", "").replace("-->", "").split())[:_POINT_CHARS]
