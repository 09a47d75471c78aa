"""What can go wrong at a call to the outside, and which of it does.

fails            no answer, and nothing has happened
lost             it has happened, but there is no answer
late             no answer; it happens some steps later, unless time jumps: then it may never
killed before    the function is gone; what it was about to do has not happened
killed after     the function is gone; what it did last has happened
doubled          it happens twice; the first answer counts
resent           it happens twice; the second answer counts
slow down        nothing has happened, and the store refuses the next calls too (503)
contended        refused for now (409)
delivered twice  a queue hands the same message to somebody else as well
"""

import random
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple, Protocol

_WRITE = ("fails", "lost", "late", "killed before", "killed after", "doubled", "resent", "slow down")
_READ = ("fails", "killed before", "slow down")

_WRITES = frozenset(
    {
        "objects.put",
        "objects.delete",
        "objects.erase",
        "items.put",
        "items.update",
        "items.delete",
        "bus.put",
    }
)
_OTHERS: Mapping[str, Sequence[str]] = {
    "objects.put": (*_WRITE, "contended"),
    "model.extract": ("fails", "killed before", "killed after"),
    "model.analyse": ("fails", "killed before", "killed after"),
    "clock.sleep": ("killed before",),
    "client.answer": ("lost",),
}
_OF_QUEUES: Mapping[str, Sequence[str]] = {
    "send": _WRITE,
    "delete": ("fails", "lost", "late"),
    "take": ("lost", "delivered twice"),
}


@cache
def kinds(site: str, *, by_function: bool) -> Sequence[str]:
    """What can go wrong at a call of this site; only a function can be killed."""
    operation = site.partition(".")[2]
    if site in _OTHERS:
        known = _OTHERS[site]
    elif site in _WRITES:
        known = _WRITE
    else:
        known = _OF_QUEUES.get(operation, _READ)
    return known if by_function else tuple(kind for kind in known if "killed" not in kind)


class Call(NamedTuple):
    """One call to the outside: its number in the run, when (seconds), who makes it, where, and on what."""

    number: int
    at: float
    actor: str
    site: str
    what: str
    by_function: bool

    @property
    def store(self) -> str:
        return self.site.partition(".")[0]

    @property
    def kinds(self) -> Sequence[str]:
        return kinds(self.site, by_function=self.by_function)


class Plan(Protocol):
    def kind(self, call: Call) -> str | None:
        """What goes wrong at this call."""


class Exactly:
    """These faults at these calls, by number."""

    def __init__(self, faults: Mapping[int, str]) -> None:
        self._faults = faults

    def kind(self, call: Call) -> str | None:
        kind = self._faults.get(call.number)
        return kind if kind in call.kinds else None


class Often:
    """Any fault, with this probability at each call."""

    def __init__(self, seed: int, rate: float) -> None:
        self._random = random.Random(f"faults {seed}")
        self.rate = rate

    def kind(self, call: Call) -> str | None:
        if self._random.random() >= self.rate:
            return None
        known = call.kinds
        return known[int(self._random.random() * len(known))] if known else None


class Broken:
    """Every call of one site goes wrong in the same way; with this probability any other does."""

    def __init__(self, seed: int, site: str, fault: str, rate: float) -> None:
        self._site = site
        self._fault = fault
        self._often = Often(seed, rate)

    def kind(self, call: Call) -> str | None:
        if call.site == self._site and self._fault in call.kinds:
            return self._fault
        return self._often.kind(call)


BREAKABLE: Sequence[tuple[str, str]] = (
    ("model.extract", "fails"),
    ("model.extract", "killed after"),
    ("model.analyse", "fails"),
    ("merge.send", "fails"),
    ("learn.send", "lost"),
    ("extract.send", "lost"),
    ("bus.put", "fails"),
    ("bus.put", "lost"),
    ("items.put", "lost"),
    ("items.update", "fails"),
    ("items.delete", "fails"),
    ("objects.list", "fails"),
    ("objects.erase", "killed after"),
    ("extract.delete", "fails"),
    ("merge.delete", "lost"),
    ("learn.delete", "fails"),
)
"""What may stay broken as long as trouble lasts."""
