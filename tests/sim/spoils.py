"""What can be spoilt in a healthy world, and which invariant must say so. Here: the registry."""

from collections.abc import Callable

from tests.sim.healthy import Healthy
from tests.sim.history import Acked

Spoil = Callable[[Healthy], object]
SPOILT: dict[str, list[Spoil]] = {}


def spoils(invariant: str) -> Callable[[Spoil], Spoil]:
    """Notes that after this, exactly that invariant is violated."""

    def note(spoil: Spoil) -> Spoil:
        SPOILT.setdefault(invariant, []).append(spoil)
        return spoil

    return note


def replaced(it: Healthy, identity: str, change: Callable[[Acked], object]) -> None:
    """The acknowledgement of this message says something else."""
    it.history.records = [
        change(r) if isinstance(r, Acked) and identity in r.batch_ids else r for r in it.history.records
    ]
