"""When to stop asking a rollout service.

A rollout that fails ends nothing but itself. Ten in a row that are answered outside the protocol, or of which the
service itself says that they have failed while none has succeeded yet, are no accident: the run ends, and says why.
"""

from dataclasses import dataclass, field
from threading import Lock

from strandline_sdk.training.values import OutsideProtocol, RolloutFailed, ServiceBroken

MOST_IN_A_ROW = 10


@dataclass
class Trust:
    """Told how rollouts end, by several threads."""

    most: int = MOST_IN_A_ROW
    _lock: Lock = field(default_factory=Lock, repr=False)

    def __post_init__(self) -> None:
        self._in_a_row = 0
        self._proven = False

    def succeeded(self) -> None:
        """A rollout has come to its end."""
        with self._lock:
            self._in_a_row, self._proven = 0, True

    def failed(self, error: RolloutFailed, reason: str) -> None:
        """A rollout has failed. Raises ServiceBroken."""
        with self._lock:
            alike = isinstance(error, OutsideProtocol) or not self._proven
            self._in_a_row = self._in_a_row + 1 if alike else 0
            if self._in_a_row >= self.most:
                alike_ones = f"the last {self._in_a_row} rollouts have all failed, this one: {reason}"
                raise ServiceBroken("UNAVAILABLE", f"see to the rollout service: {alike_ones}")
