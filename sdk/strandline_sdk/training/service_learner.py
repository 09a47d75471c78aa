"""Leaves learning to the service: rollouts are committed by a user of the run's own, whose experiences are the draft.

Nobody is served what that user has. A draft that was dropped is left behind with its user; the next begins with a new
one.
"""

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from strandline_sdk.client import Client
from strandline_sdk.rollouts.model import Rollout
from strandline_sdk.rollouts.policies import PolicySet
from strandline_sdk.training.recorder import LEARNING, SessionRecorder
from strandline_sdk.training.snapshots import MemorySnapshotter
from strandline_sdk.training.values import Finished, Planned, Share


@dataclass
class ServiceLearner:
    """Learner and recorder in one. `client` has an admin or root key: it acts for the users `train-<run>-<n>`.
    `timeout`: seconds for a rollout to be committed and learnt."""

    client: Client
    run: str
    timeout: float = 600.0

    def __post_init__(self) -> None:
        self._drafts = 0
        self._acting = self.client
        self._began: datetime | None = None

    def begin(self, policies: PolicySet, *, fresh: bool, at: datetime) -> None:
        """A new user for a fresh draft, who is given the policies before anything is learnt."""
        self._began = at
        if not fresh:
            return
        self._drafts += 1
        self._acting = self.client.acting_for(draft_user(self.run, self._drafts))
        if next(self._acting.sessions(page_size=1), None) is None:
            MemorySnapshotter(self._acting).restore(policies)

    def record(self, planned: Planned, rollout: Rollout) -> Mapping[str, Any]:
        """Appends and commits a rollout, and waits until it is learnt."""
        recorder = SessionRecorder(self._acting, self.run, LEARNING, self._began, self.timeout)
        return recorder.record(planned, rollout)

    def submit(self, finished: Finished) -> Future[Share]:
        """What the service says that it has learnt of it, counted, and what that changed."""
        told: Future[Share] = Future()
        learnt = finished.committed.get("learn", {})
        learned = learnt.get("learned") or {}
        taken = tuple(f"{kind}: {count}" for kind, count in sorted(learned.items()) if count)
        shown = taken if learned.get("experiences") else ()
        told.set_result(Share(finished.planned.name, taken=shown, diff=learnt.get("diff")))
        return told

    def end(self) -> PolicySet:
        """The draft as it stands there."""
        return MemorySnapshotter(self._acting).take()


def draft_user(run: str, number: int) -> str:
    """Whose experiences are the run's draft of this number, from 1."""
    return f"train-{run}-{number}"
