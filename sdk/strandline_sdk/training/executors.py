"""Who tries cases: a rollout service, or a callable of this process."""

from dataclasses import dataclass

from strandline_sdk.rollouts.client import RolloutClient
from strandline_sdk.rollouts.model import ExecuteRequest, Rollout
from strandline_sdk.rollouts.policies import Experiences, PolicySet
from strandline_sdk.rollouts.service import Attempt, Try
from strandline_sdk.training.access import Access, Granted
from strandline_sdk.training.values import Options, Planned, RolloutFailed


@dataclass(frozen=True)
class RemoteExecutor:
    """A rollout service. It is told where a snapshot is, and gets a token for that alone; without `access` the
    policies themselves are sent.

    Started again with the same run, a rollout that the service has not forgotten is found, not repeated.
    """

    client: RolloutClient
    run: str
    options: Options
    access: Access | None = None

    def execute(self, planned: Planned, policies: PolicySet) -> Rollout:
        """Tries the case there. Raises RolloutFailed, ApiError."""
        granted = self.access.grant(policies) if self.access else None
        key = "/".join((self.run, planned.group, planned.name, policies.snapshot_id))
        token = granted.token if granted else None
        try:
            started = self.client.execute(
                self._request(planned, policies, granted), key=key, policy_token=token
            )
            ended = self.client.wait(started["execution_id"])
        except TimeoutError as error:
            raise RolloutFailed(str(error)) from error
        rollout = ended.get("rollout")
        if ended["status"] != "completed" or rollout is None:
            raise RolloutFailed(ended["error"] or "the service says no reason")
        return rollout

    def _request(self, planned: Planned, policies: PolicySet, granted: Granted | None) -> ExecuteRequest:
        where = {"snapshot_url": granted.url} if granted else {}
        told = {"group": planned.group, "rollout": planned.name, "trial": planned.trial}
        return {
            "case": planned.case,
            "policy_set": policies.document(content=granted is None, **where),
            "execution_context": {"policy_snapshot_id": policies.snapshot_id, "metadata": told},
            "options": {**self.options, "seed": planned.seed},
        }


@dataclass(frozen=True)
class LocalExecutor:
    """A callable that tries a case, as a rollout service would call it."""

    attempt: Try
    options: Options
    failures: tuple[type[Exception], ...] = (Exception,)

    def execute(self, planned: Planned, policies: PolicySet) -> Rollout:
        """Tries the case here. Raises RolloutFailed for what the callable raises."""
        experiences = Experiences(policies)
        options = {**self.options, "seed": planned.seed}
        try:
            outcome = self.attempt(Attempt(planned.case, experiences, options))
        except self.failures as error:
            raise RolloutFailed(f"{type(error).__name__}: {error}") from error
        return {
            "case": planned.case,
            "messages": list(outcome.messages),
            "policy_snapshot_id": policies.snapshot_id,
            "evaluation": outcome.evaluation,
            "metadata": {"usage": outcome.usage, "memory": experiences.use()},
        }
