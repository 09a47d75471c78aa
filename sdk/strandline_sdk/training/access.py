"""Lets a rollout service read one snapshot: at an address of the trainer's, on loopback, with a token that ends.

    GET /v1/policy-snapshots/{id}   Strandline-Policy-Token: …   -> {policy_snapshot_id, policy_set}

A token opens the snapshot that it was made for, for two hours; it stands in no payload and no file.
"""

import hmac
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Protocol

from strandline_sdk.rollouts.clock import Clock, SystemClock
from strandline_sdk.rollouts.model import POLICY_TOKEN
from strandline_sdk.rollouts.policies import PolicySet
from strandline_sdk.rollouts.scrub import Scrubber
from strandline_sdk.rollouts.server import Answer, Asked, listening, refusal

LIFE_SECONDS = 7_200.0
_PLACE = re.compile(r"/v1/policy-snapshots/(snap_[0-9a-f]+)")


@dataclass(frozen=True)
class Granted:
    """Where a snapshot is, and what opens it."""

    url: str
    token: str = field(repr=False)


class Access(Protocol):
    def grant(self, policies: PolicySet) -> Granted:
        """Opens a snapshot for a while."""


@dataclass
class _Door:
    policies: PolicySet
    token: str = field(repr=False)
    ends: float


@dataclass
class SnapshotAccess:
    """Snapshots that were granted; `scrubber` learns every token."""

    scrubber: Scrubber = field(default_factory=Scrubber)
    clock: Clock = field(default_factory=SystemClock)
    url: str = ""

    def __post_init__(self) -> None:
        self._doors: dict[str, _Door] = {}
        self._lock = Lock()

    def grant(self, policies: PolicySet) -> Granted:
        """A token that opens this snapshot for an hour at least."""
        identity = policies.snapshot_id
        with self._lock:
            door = self._doors.get(identity)
            if door is None or door.ends - self.clock.monotonic() < LIFE_SECONDS / 2:
                door = self._opened(policies)
                self._doors[identity] = door
        return Granted(f"{self.url}/v1/policy-snapshots/{identity}", door.token)

    def answer(self, asked: Asked) -> Answer:
        """The snapshot, for who has its token."""
        found = _PLACE.fullmatch(asked.path)
        door = self._doors.get(found[1]) if found else None
        given = asked.headers.get(POLICY_TOKEN.lower(), "")
        fits = door is not None and hmac.compare_digest(given.encode(), door.token.encode())
        if door is None or not fits or self.clock.monotonic() >= door.ends:
            return refusal(403, "PERMISSION_DENIED", "no snapshot is open here for this token")
        document = door.policies.document(content=True)
        return Answer(200, {"policy_snapshot_id": door.policies.snapshot_id, "policy_set": document})

    def _opened(self, policies: PolicySet) -> _Door:
        token = secrets.token_urlsafe(32)
        self.scrubber.learn(token)
        return _Door(policies, token, self.clock.monotonic() + LIFE_SECONDS)


@contextmanager
def opened(scrubber: Scrubber) -> Iterator[SnapshotAccess]:
    """Snapshots on a free port of loopback, until the end of `with`."""
    access = SnapshotAccess(scrubber)
    with listening(access.answer) as server:
        access.url = server.url
        yield access
