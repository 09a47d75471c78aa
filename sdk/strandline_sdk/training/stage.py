"""Makes the rollouts of a stage, so many at a time, and hands them on in the order in which they were planned.

One that fails is counted and goes its way; see `trust` for when so many of them end the run. A run that goes on tries
again what failed in a stage that was not over.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

from strandline_sdk.errors import ApiError
from strandline_sdk.rollouts.model import Rollout
from strandline_sdk.rollouts.policies import PolicySet
from strandline_sdk.training.progress import Progress
from strandline_sdk.training.protocols import Recorder, RolloutEvaluator, RolloutExecutor
from strandline_sdk.training.results import RunDirectory
from strandline_sdk.training.trust import Trust
from strandline_sdk.training.values import Finished, Planned, RolloutFailed
from strandline_sdk.training.workers import Workers

_OWN_FAULT = frozenset({400, 409, 413})


@dataclass(frozen=True)
class Stage:
    """Who makes rollouts, who evaluates and keeps them, and where they are written; `halt` ends all waiting."""

    executor: RolloutExecutor
    evaluator: RolloutEvaluator
    recorder: Recorder | None
    directory: RunDirectory
    progress: Progress
    concurrency: int
    halt: Callable[[], None] = lambda: None
    trust: Trust = field(default_factory=Trust)

    def run(self, wanted: Iterable[Planned], policies: PolicySet, *, commit: bool) -> Iterator[Finished]:
        """The rollouts in order, each as soon as it and those before it are done; one that was finished before is read.
        Raises ApiError when the service stays away, ServiceBroken: what is finished stays."""
        plans = list(wanted)
        make = partial(self._make, policies, commit)
        with self.progress.stage(plans), Workers(make, plans, self.concurrency) as workers:
            try:
                yield from workers.results()
            except BaseException:
                self.halt()
                raise
        if plans and not self.directory.events("stage_ended", group=plans[0].group):
            self.directory.event("stage_ended", group=plans[0].group)

    def _make(self, policies: PolicySet, commit: bool, planned: Planned) -> Finished:
        self.progress.started()
        finished = self._finished(planned, policies)
        if commit and self.recorder and finished.rollout:
            finished = self._committed(self.recorder, planned, finished.rollout)
        self.progress.ended(finished)
        return finished

    def _finished(self, planned: Planned, policies: PolicySet) -> Finished:
        """Made, now or before, or failed. Raises ServiceBroken, ApiError."""
        if (reason := self.directory.given_up(planned)) is not None:
            return Finished(planned, error=reason)
        try:
            return Finished(planned, self.directory.finished(planned) or self._made(planned, policies))
        except RolloutFailed as error:
            reason = self.directory.fail(planned, error)
            self.trust.failed(error, reason)
            return Finished(planned, error=reason)

    def _made(self, planned: Planned, policies: PolicySet) -> Rollout:
        attempt = replace(planned, attempt=self.directory.attempts(planned))
        made = self.executor.execute(attempt, policies)
        judged = {**made, "evaluation": self.evaluator.evaluate(made)}
        self.trust.succeeded()
        return self.directory.keep(planned, cast(Rollout, judged))

    def _committed(self, recorder: Recorder, planned: Planned, rollout: Rollout) -> Finished:
        """Recorded, unless it was before."""
        told = self.directory.noted(planned, "commit_result.json")
        if told is None or (told["status"] == "failed" and not self._over(planned)):
            told = self._recorded(recorder, planned, rollout)
            self.directory.note(planned, "commit_result.json", told)
        return Finished(planned, rollout, committed=told)

    def _over(self, planned: Planned) -> bool:
        return bool(self.directory.events("stage_ended", group=planned.group))

    def _recorded(self, recorder: Recorder, planned: Planned, rollout: Rollout) -> dict[str, Any]:
        """What the commit came to. One that the API refuses for what is in it ends nothing but itself."""
        try:
            return dict(recorder.record(planned, rollout))
        except (ApiError, TimeoutError) as error:
            if isinstance(error, ApiError) and error.status not in _OWN_FAULT:
                raise
            reason = self.directory.scrubber.text(str(error))
            self.directory.event("commit_failed", group=planned.group, rollout=planned.name, error=reason)
            return {"session_id": None, "status": "failed", "error": reason}
