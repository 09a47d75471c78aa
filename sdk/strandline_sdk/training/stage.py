"""Makes the rollouts of a stage, so many at a time, and hands them on in the order in which they were planned."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from strandline_sdk.errors import ApiError
from strandline_sdk.rollouts.model import Rollout
from strandline_sdk.rollouts.policies import PolicySet
from strandline_sdk.training.progress import Progress
from strandline_sdk.training.protocols import Recorder, RolloutEvaluator, RolloutExecutor
from strandline_sdk.training.results import RunDirectory
from strandline_sdk.training.values import Finished, Planned, RolloutFailed

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

    def run(self, wanted: Iterable[Planned], policies: PolicySet, *, commit: bool) -> Iterator[Finished]:
        """The rollouts in order, each as soon as it and those before it are done; one that was finished before is read.
        Raises ApiError when the service stays away: what is finished stays."""
        plans = list(wanted)
        with ThreadPoolExecutor(self.concurrency) as pool, self.progress.stage(plans) as told:
            running = [pool.submit(self._make, planned, policies, commit) for planned in plans]
            try:
                for future in running:
                    finished = future.result()
                    told.ended(finished)
                    yield finished
            except BaseException:
                self.halt()
                _call_off(running)
                raise

    def _make(self, planned: Planned, policies: PolicySet, commit: bool) -> Finished:
        self.progress.started()
        rollout = self.directory.finished(planned)
        try:
            if rollout is None:
                made = self.executor.execute(planned, policies)
                judged = {**made, "evaluation": self.evaluator.evaluate(made)}
                rollout = self.directory.keep(planned, judged)  # type: ignore[arg-type]
        except RolloutFailed as error:
            reason = self.directory.scrubber.text(str(error))
            self.directory.event("rollout_failed", group=planned.group, rollout=planned.name, error=reason)
            return Finished(planned, error=reason)
        if commit and self.recorder:
            return self._committed(self.recorder, planned, rollout)
        return Finished(planned, rollout)

    def _committed(self, recorder: Recorder, planned: Planned, rollout: Rollout) -> Finished:
        """Recorded, unless it was before."""
        told = self.directory.noted(planned, "commit_result.json")
        if told is None:
            told = self._recorded(recorder, planned, rollout)
            self.directory.note(planned, "commit_result.json", told)
        return Finished(planned, rollout, committed=told)

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


def _call_off(running: list[Future[Finished]]) -> None:
    for future in running:
        future.cancel()
