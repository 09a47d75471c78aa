"""The parts of training, each replaceable; the module in brackets has the default.

CaseLoader          which cases there are                              [cases]
RolloutExecutor     tries a case under a snapshot                      [executors: a service, or a callable]
RolloutEvaluator    what came of a rollout                             [evaluation: what the rollout says itself]
RolloutAnalyzer     what was done                                      [analysis: by rule]
GradientEstimator   what a trajectory would change in an experience    [gradient: from feedback, by rule]
PolicyOptimizer     what a batch of them comes to                      [optimizer: by votes]
Learner             rollouts in, a draft out                           [learner: the three above; or the service's]
Recorder            keeps a rollout as a committed session             [recorder]
PolicySnapshotter   the policies that are served, as they are now      [snapshots]
PolicyUpdater       writes a promoted set                              [updater: apply, or a dry run]
Hooks               hears what happens; may end the run                [hooks: nothing]
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from datetime import datetime
from typing import Any, Protocol

from strandline_sdk.rollouts.model import Case, Evaluation, Rollout
from strandline_sdk.rollouts.policies import PolicySet
from strandline_sdk.training.values import Finished, Gradient, Plan, Planned, Share, Trajectory


class CaseLoader(Protocol):
    def load(self, split: str) -> Sequence[Case]:
        """All cases of a split, always in the same order."""


class RolloutExecutor(Protocol):
    def execute(self, planned: Planned, policies: PolicySet) -> Rollout:
        """Tries the case. Raises RolloutFailed; ApiError when the service cannot be asked."""


class RolloutEvaluator(Protocol):
    def evaluate(self, rollout: Rollout) -> Evaluation:
        """What came of it."""


class RolloutAnalyzer(Protocol):
    def analyse(self, rollout: str, found: Rollout) -> Trajectory:
        """What was done in the rollout of this name."""


class GradientEstimator(Protocol):
    def estimate(self, trajectory: Trajectory, policies: PolicySet) -> Gradient | None:
        """What it would change in an experience; None: nothing."""


class PolicyOptimizer(Protocol):
    def plan(self, gradients: Sequence[Gradient], policies: PolicySet) -> Plan:
        """What the gradients come to together. The same in, the same out."""


class Learner(Protocol):
    def begin(self, policies: PolicySet, *, fresh: bool, at: datetime) -> None:
        """Learning goes on from these: from its own last draft, or `fresh` from others. `at`: when the epoch began, the
        same for a run that is resumed."""

    def submit(self, finished: Finished) -> Future[Share]:
        """Takes a rollout in. Its share, once its batch is done, is its submitter's alone."""

    def end(self) -> PolicySet:
        """The draft, all that was submitted learnt."""


class Recorder(Protocol):
    def record(self, planned: Planned, rollout: Rollout) -> Mapping[str, Any]:
        """Appends and commits a rollout; what came of it. Repeating it stores nothing twice."""


class PolicySnapshotter(Protocol):
    def take(self) -> PolicySet:
        """The policies as they are."""

    def restore(self, policies: PolicySet) -> None:
        """Makes the policies what they were."""


class PolicyUpdater(Protocol):
    def publish(self, current: PolicySet, promoted: PolicySet) -> Sequence[Mapping[str, Any]]:
        """Makes what is served the promoted set, where it still is the current one; a line for each policy."""


class Hooks(Protocol):
    def epoch_started(self, epoch: int) -> None: ...

    def rollout_ended(self, finished: Finished) -> None: ...

    def evaluated(self, epoch: int, summary: Mapping[str, Any]) -> None: ...

    def epoch_ended(self, epoch: int, report: Mapping[str, Any]) -> bool:
        """Whether to go on."""

    def run_ended(self, report: Mapping[str, Any]) -> None: ...
