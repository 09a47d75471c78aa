"""Lets a rollout service anywhere read one snapshot.

The API stores it as a user of its own, whose experiences are nothing else. A key opens it that reads these memories,
does nothing else, and ends after two hours.
"""

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Lock

from strandline_sdk.client import Client
from strandline_sdk.errors import ApiError
from strandline_sdk.rollouts.clock import Clock, SystemClock, stamp
from strandline_sdk.rollouts.policies import PolicySet
from strandline_sdk.rollouts.scrub import Scrubber
from strandline_sdk.training.access import LIFE_SECONDS, Granted
from strandline_sdk.training.snapshots import PREFIX, MemorySnapshotter


@dataclass
class PublishedAccess:
    """`client` has an admin key of `account`, or a root key; `scrubber` learns every key."""

    client: Client
    account: str
    run: str
    scrubber: Scrubber = field(default_factory=Scrubber)
    clock: Clock = field(default_factory=SystemClock)

    def __post_init__(self) -> None:
        self._granted: dict[str, tuple[float, Granted]] = {}
        self._lock = Lock()

    def grant(self, policies: PolicySet) -> Granted:
        """A key that opens this snapshot for an hour at least. Raises ApiError."""
        identity = policies.snapshot_id
        with self._lock:
            ends, granted = self._granted.get(identity, (0.0, None))
            if granted is None or ends - self.clock.monotonic() < LIFE_SECONDS / 2:
                granted = self._opened(policies)
                self._granted[identity] = (self.clock.monotonic() + LIFE_SECONDS, granted)
        return granted

    def close(self) -> None:
        """Revokes all keys; the snapshots stay. A key that cannot be revoked ends by itself."""
        for identity in self._granted:
            with suppress(ApiError):
                self.client.remove_user(self.account, snapshot_user(self.run, identity))

    def _opened(self, policies: PolicySet) -> Granted:
        user = snapshot_user(self.run, policies.snapshot_id)
        try:
            self.scrubber.learn(self.client.register_user(self.account, user)["user_key"])
        except ApiError as error:
            if error.code != "ALREADY_EXISTS":
                raise
        MemorySnapshotter(self.client.acting_for(user)).restore(policies)
        ends = stamp(self.clock.now() + timedelta(seconds=LIFE_SECONDS))
        key = self.client.add_key(self.account, user, expires_at=ends, reads_only=True)["user_key"]
        self.scrubber.learn(key)
        base = self.client.url.rstrip("/")
        return Granted(f"{base}/api/v1/memories?prefix={PREFIX}&view=full", key)


def snapshot_user(run: str, snapshot_id: str) -> str:
    """Whose experiences are a snapshot, for one run alone: another may have the same."""
    return f"snapshot-{run}-{snapshot_id.removeprefix('snap_')}"
