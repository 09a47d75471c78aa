"""How a growing thing is kept in several objects: the newest of it in a head, the rest in layers that never change.

    head      the newest changes; written at each change, and small
    layers    oldest first, immutable; where two say something of the same thing, the newer one is right

A head that has grown too heavy becomes a layer. When it would be the fourth of about its weight, the four become one:
the layers grow in steps of four, as in a size-tiered LSM tree (O'Neil et al. 1996, "The Log-Structured Merge-Tree";
Cassandra, "SizeTieredCompactionStrategy"). So what is written over all updates is a small multiple of what changed, and
the layers are few. None grows beyond `LAYER_WEIGHT`, which bounds the time that any one update can take.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

P = TypeVar("P")

HEAD_WEIGHT = 384 * 1024
"""Bytes before compression that a head holds; about a quarter of that is written."""

FANOUT = 4
HEADS_A_LAYER = 24
"""The heaviest layer is of sixteen heads that became layers, and has room for half as much again."""


@dataclass(frozen=True)
class Layer(Generic[P]):
    """One layer, and what it is stored as: None while it is not."""

    part: P
    name: str | None = None


def too_heavy(weight: int) -> bool:
    """Whether a head of this weight is to become a layer."""
    return weight > HEAD_WEIGHT


def heaviest() -> int:
    """What no layer weighs more than by merging."""
    return HEAD_WEIGHT * HEADS_A_LAYER


def merged_from(weights: Sequence[int], new: int) -> int:
    """The place in `weights`, those of the layers, from which on they are merged with a new one of weight `new`;
    `len(weights)` when none is."""
    start = len(weights)
    while True:
        run = _run(weights[:start], _step(new))
        whole = new + sum(weights[start - run : start])
        if run < FANOUT - 1 or whole > heaviest():
            return start
        start, new = start - run, whole


def _run(weights: Sequence[int], step: int) -> int:
    """How many of the last layers are of this step, or a lower one."""
    run = 0
    while run < len(weights) and _step(weights[-1 - run]) <= step:
        run += 1
    return run


def _step(weight: int) -> int:
    step, beyond = 0, HEAD_WEIGHT * FANOUT
    while weight >= beyond:
        step, beyond = step + 1, beyond * FANOUT
    return step
