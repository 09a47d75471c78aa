"""How often memories were used: what one session reported, and the user's totals.

    use      one report of a session: which memories it counted, at which seq of the session
    session  the uses of one life of a session, numbered from 1, and how often each memory was counted in it
    totals   how often each memory was counted in all sessions, and how far each session's uses are in it

A memory counts once a turn: a second report with no message in between adds nothing, so a report that is sent again
counts once. The totals take uses in by their number, so nothing is added twice, and a use that a crash has kept out of
them is taken in with the session's next one.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

KEPT_USES = 256


@dataclass(frozen=True)
class Tally:
    """How often, and when last (RFC 3339)."""

    count: int = 0
    last_used_at: str | None = None

    def one_more(self, at: str) -> "Tally":
        return Tally(self.count + 1, max(self.last_used_at or at, at))


UNUSED = Tally()


@dataclass(frozen=True)
class Use:
    """One report. `key` is what it is known by when it comes again later, or ""; `succeeded` is what the session said
    of the skill, if it said anything."""

    number: int
    at: str
    seq: int
    key: str
    memories: tuple[str, ...]
    skill: str | None = None
    succeeded: bool | None = None


@dataclass(frozen=True)
class Reported:
    """What a session reports: memory paths; the one of the skill is among them."""

    at: str
    seq: int
    memories: tuple[str, ...]
    key: str = ""
    skill: str | None = None
    succeeded: bool | None = None


@dataclass(frozen=True)
class SessionUsage:
    """`uses` are the newest, and in any case those that the totals have not taken in."""

    last: int = 0
    tallies: Mapping[str, Tally] = field(default_factory=dict)
    uses: tuple[Use, ...] = ()


@dataclass(frozen=True)
class Totals:
    """`taken` says of each life of a session how many of its uses are in the tallies. It names a life by a hash: what
    was counted stays when the session is erased, and nothing in it tells of which it was."""

    tallies: Mapping[str, Tally] = field(default_factory=dict)
    taken: Mapping[str, int] = field(default_factory=dict)


def life_of(incarnation: str) -> str:
    """By what the totals know a life of a session."""
    return hashlib.sha256(incarnation.encode()).hexdigest()[:16]


def report(usage: SessionUsage, said: Reported, *, taken: int) -> SessionUsage:
    """The session's usage with this report in it; the same when there is nothing new in it. Of older uses only those
    stay that are not among the `taken` first."""
    if said.key and any(use.key == said.key for use in usage.uses):
        return usage
    counted = {path for use in usage.uses if use.seq == said.seq for path in use.memories}
    fresh = tuple(path for path in dict.fromkeys(said.memories) if path not in counted)
    if not fresh and not said.key:
        return usage
    number = usage.last + 1
    use = Use(number, said.at, said.seq, said.key, fresh, said.skill, said.succeeded)
    kept = (u for u in usage.uses if u.number > min(taken, number - KEPT_USES) or u.seq == said.seq)
    return SessionUsage(number, _tallied(usage.tallies, [use]), (*kept, use))


def _tallied(tallies: Mapping[str, Tally], uses: Iterable[Use]) -> dict[str, Tally]:
    found = dict(tallies)
    for use in uses:
        for path in use.memories:
            found[path] = found.get(path, UNUSED).one_more(use.at)
    return found


def take(totals: Totals, life: str, usage: SessionUsage) -> Totals:
    """The totals with all uses of this life of a session; the same when they are in it."""
    before = totals.taken.get(life, 0)
    if usage.last <= before:
        return totals
    new = [use for use in usage.uses if use.number > before]
    return Totals(_tallied(totals.tallies, new), {**totals.taken, life: usage.last})
