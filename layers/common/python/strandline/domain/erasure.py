"""How far the erasure of a user or of an account has come: a value that is stored after each step, and its receipt.

    revoke ──▶ find ──▶ count ──▶ erase ──┐      find has nobody left: letters ──▶ round 1: wait, revoke, round 2
       ▲        ▲                         │                                        round 2: done, with a receipt
      wait      └──── the next user ──────┘

What is there is counted before any of it is removed, and each count is stored together with the place it has come to:
so a worker that dies counts nothing twice and leaves nothing out.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Scope = Literal["user", "account"]
Phase = Literal["revoke", "find", "count", "erase", "letters", "wait", "done"]
Counts = Mapping[str, int]

ROUNDS = 2


@dataclass(frozen=True)
class Erasure:
    """`current` is the user at hand, `part` and `after` where the count has come to in what it has. `counts` by
    `<store>/<kind>`. `letters` are the ids of dead letters that are counted and may be there yet. The task belongs to
    whoever asked."""

    scope: Scope
    account_id: str
    user_id: str
    task_id: str
    asked_by: tuple[str, str]
    opened_at: str
    step: int = 0
    round: int = 1
    phase: Phase = "revoke"
    current: str = ""
    part: int = 0
    after: tuple[str, ...] = ()
    wait_until: str = ""
    letters: tuple[str, ...] = ()
    counts: Counts = field(default_factory=dict)

    @property
    def task_type(self) -> str:
        return f"{self.scope}_erasure"

    @property
    def target(self) -> str:
        """The id of what is erased."""
        return self.user_id if self.scope == "user" else self.account_id

    @property
    def stage(self) -> str:
        """What its task says: the phase and the round."""
        return f"{self.phase} {self.round}/{ROUNDS}"


def counted(erasure: Erasure, found: Counts, **place: Any) -> Erasure:
    """These were found; the count goes on at `place` (`current`, `part`, `after`, `phase`)."""
    return replace(erasure, counts=dict(Counter(erasure.counts) + Counter(found)), **place)


def revoked(erasure: Erasure) -> Erasure:
    """Every key is revoked: now what its owners have stored."""
    return replace(erasure, phase="find", current="", part=0, after=())


def found(erasure: Erasure, user_id: str) -> Erasure:
    """The next user whose data is to be counted. A user is counted as one, in whichever round."""
    first = {"users": 1} if erasure.scope == "user" and erasure.round == 1 else {}
    return counted(erasure, first, phase="count", current=user_id, part=0, after=())


def emptied(erasure: Erasure) -> Erasure:
    """Nothing is left of the user at hand. Of an account every user that had something counts."""
    gone = {"users": 1} if erasure.scope == "account" and erasure.round == 1 else {}
    return counted(erasure, gone, phase="find", part=0, after=())


def lettered(erasure: Erasure, ids: Sequence[str]) -> Erasure:
    """These dead letters were found. One that is found again, as its removal was not answered, is counted once."""
    fresh = [each for each in ids if each not in erasure.letters]
    return counted(erasure, {"dead_letters/removed": len(fresh)}, letters=(*erasure.letters, *fresh))


def gone_through(erasure: Erasure, until: str) -> Erasure:
    """No dead letter of it is left: of the first round what remains is to wait."""
    return replace(erasure, phase="done") if erasure.round == ROUNDS else rested(erasure, until)


def rested(erasure: Erasure, until: str) -> Erasure:
    """The first round is over; the second begins when what was in flight has landed."""
    return replace(erasure, phase="wait", current="", wait_until=until)


def resumed(erasure: Erasure) -> Erasure:
    """The second round begins."""
    return replace(erasure, round=ROUNDS, phase="revoke", current="", wait_until="")


def receipt(erasure: Erasure) -> dict[str, Any]:
    """What was erased, per store: current objects and all versions by area of the bucket, items by kind, dead letters;
    `unreadable` of these are left, as nobody can say whose they are."""
    stores: dict[str, dict[str, int]] = {"objects": {}, "versions": {}, "items": {}}
    stores["dead_letters"] = {"removed": 0, "unreadable": 0}
    for name, count in sorted(erasure.counts.items()):
        store, _, kind = name.partition("/")
        if kind:
            stores[store][kind] = count
    of = {"account_id": erasure.account_id} | ({"user_id": erasure.user_id} if erasure.user_id else {})
    return {**of, "users": erasure.counts.get("users", 0), "keys": stores["items"].pop("keys", 0), **stores}
