"""A request that says by its `Idempotency-Key` that it is the same as one sent before."""

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Repeat:
    """What such a request is known by. `seed` stands for its owner, route, key and body and is the same for ever;
    `at` is when it came first; `again` when an earlier attempt may have done its work without saying so."""

    seed: str
    at: str
    again: bool = False

    def derived(self, what: str) -> str:
        """32 hex digits, the same in every attempt and new when the key is used again a day later: for what must be
        made once, like a session."""
        return hashlib.sha256(f"{what}/{self.at}/{self.seed}".encode()).hexdigest()[:32]
