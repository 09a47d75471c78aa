"""Who tries cases: a rollout service, or a callable of this process."""

from dataclasses import dataclass

from strandline_sdk.errors import ApiError
from strandline_sdk.rollouts.client import RolloutClient
from strandline_sdk.rollouts.model import ExecuteRequest, Execution, Rollout
from strandline_sdk.rollouts.policies import Experiences, PolicySet
from strandline_sdk.rollouts.service import Attempt, Try
from strandline_sdk.training.access import Access, Granted
from strandline_sdk.training.values import Options, OutsideProtocol, Planned, RolloutFailed, RolloutLate

_REASON_CHARS = 500


@dataclass(frozen=True)
class RemoteExecutor:
    """A rollout service. It is told where a snapshot is, and gets a token for that alone; without `access` the
    policies themselves are sent.

    Started again with the same run, a rollout that the service has not forgotten is found, not repeated; one that has
    failed is made anew.
    """

    client: RolloutClient
    run: str
    options: Options
    access: Access | None = None

    def execute(self, planned: Planned, policies: PolicySet) -> Rollout:
        """Tries the case there. Raises RolloutFailed; ApiError when nobody is there, or whoever asks is refused."""
        granted = self.access.grant(policies) if self.access else None
        request = self._request(planned, policies, granted)
        attempt = (str(planned.attempt),) if planned.attempt else ()
        key = "/".join((self.run, planned.group, planned.name, policies.snapshot_id, *attempt))
        try:
            ended = self._ended(request, key, granted.token if granted else None)
        except TimeoutError as error:
            raise RolloutLate(str(error)) from error
        except ApiError as error:
            self._alive_after(error)
            raise OutsideProtocol(error.message) from error
        return _rollout(ended, planned, policies)

    def _ended(self, request: ExecuteRequest, key: str, token: str | None) -> Execution:
        """The execution's end. One that the service has forgotten is started once more."""
        try:
            return self._once(request, key, token)
        except ApiError as error:
            if error.status != 404:
                raise
        return self._once(request, key, token)

    def _once(self, request: ExecuteRequest, key: str, token: str | None) -> Execution:
        started = self.client.execute(request, key=key, policy_token=token)
        return self.client.wait(started["execution_id"])

    def _alive_after(self, error: ApiError) -> None:
        """Whether it is this rollout's trouble alone. Raises ApiError when it is everybody's."""
        if error.status == 401:
            raise error
        if error.retryable:
            self.client.health()

    def _request(self, planned: Planned, policies: PolicySet, granted: Granted | None) -> ExecuteRequest:
        where = {"snapshot_url": granted.url} if granted else {}
        told = {"group": planned.group, "rollout": planned.name, "trial": planned.trial}
        return {
            "case": planned.case,
            "policy_set": policies.document(content=granted is None, **where),
            "execution_context": {"policy_snapshot_id": policies.snapshot_id, "metadata": told},
            "options": {**self.options, "seed": planned.seed},
        }


def _rollout(ended: Execution, planned: Planned, policies: PolicySet) -> Rollout:
    """What an execution came to, if it is of what was asked for. Raises RolloutFailed."""
    rollout = ended.get("rollout")
    if ended["status"] != "completed":
        raise RolloutFailed((ended["error"] or "the service says no reason")[:_REASON_CHARS])
    if rollout is None:
        raise OutsideProtocol("completed, but there is no rollout")
    names = {ended["case_name"], rollout["case"]["name"]}
    if wrong := names - {planned.case["name"]}:
        raise OutsideProtocol(f"not the case that was asked for, but {wrong.pop()[:_REASON_CHARS]!r}")
    if rollout["policy_snapshot_id"] != policies.snapshot_id:
        raise OutsideProtocol(f"tried with other policies: {rollout['policy_snapshot_id'][:_REASON_CHARS]!r}")
    return rollout


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
