"""Learns from rollouts as they come: analysis, gradient, and batches of gradients that are merged into the draft.

Batches are filled in the order of submission, not in that of ending, so the same rollouts give the same draft.
"""

from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime

from strandline_sdk.rollouts.policies import Policy, PolicySet
from strandline_sdk.training.analysis import RuleAnalyzer
from strandline_sdk.training.gradient import FeedbackGradient
from strandline_sdk.training.optimizer import VotingOptimizer
from strandline_sdk.training.protocols import GradientEstimator, PolicyOptimizer, RolloutAnalyzer
from strandline_sdk.training.values import Change, Finished, Gradient, Share


@dataclass
class BatchLearner:
    """Analyzer, estimator and optimizer, with so many gradients to a batch. Used by one thread."""

    batch: int = 16
    analyzer: RolloutAnalyzer = field(default_factory=RuleAnalyzer)
    estimator: GradientEstimator = field(default_factory=FeedbackGradient)
    optimizer: PolicyOptimizer = field(default_factory=VotingOptimizer)

    def __post_init__(self) -> None:
        self._start(PolicySet(""))

    def begin(self, policies: PolicySet, *, fresh: bool, at: datetime) -> None:  # noqa: ARG002 - nothing is dated here
        """Goes on from these."""
        self._start(policies)

    def _start(self, policies: PolicySet) -> None:
        self._tried = self._draft = policies
        self._gradients: list[Gradient] = []
        self._waiting: dict[str, Future[Share]] = {}

    def submit(self, finished: Finished) -> Future[Share]:
        """Takes a rollout in; its share comes with its batch."""
        name = finished.planned.name
        told: Future[Share] = Future()
        gradient = self._gradient(finished)
        if gradient is None:
            told.set_result(Share(name))
            return told
        self._gradients.append(gradient)
        self._waiting[name] = told
        if len(self._gradients) >= self.batch:
            self._flush()
        return told

    def end(self) -> PolicySet:
        """The draft, with the last batch."""
        self._flush()
        return self._draft

    def _gradient(self, finished: Finished) -> Gradient | None:
        if finished.rollout is None:
            return None
        trajectory = self.analyzer.analyse(finished.planned.name, finished.rollout)
        return self.estimator.estimate(trajectory, self._tried)

    def _flush(self) -> None:
        plan = self.optimizer.plan(self._gradients, self._draft)
        self._draft = applied(self._draft, plan.changes)
        for name, told in self._waiting.items():
            told.set_result(plan.shares[name])
        self._gradients, self._waiting = [], {}


def applied(policies: PolicySet, changes: tuple[Change, ...]) -> PolicySet:
    """The set with the changes, as a draft."""
    written = [_written(policies, change) for change in changes]
    return PolicySet.of(policies.root_uri, [*policies.policies.values(), *written])


def _written(policies: PolicySet, change: Change) -> Policy:
    old = policies.policies.get(change.name)
    uri = old.uri if old else f"{policies.root_uri}/{change.name}.md"
    rollouts = [*(old.metadata.get("rollouts", ()) if old else ()), *change.rollouts]
    kept = {**(old.metadata if old else {}), "rollouts": rollouts}
    return Policy(change.name, uri, change.after, old.version + 1 if old else 1, "draft", kept)
