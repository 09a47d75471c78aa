"""How far a scrub has come: a value that is stored after each step, and what it shows.

    look ──▶ clean ──▶ follow ──▶ purge ──┐   round 1 ──▶ wait ──▶ look, round 2
      │        ▲                          │   round 2 ──▶ the end
      │      wait ◀───────────────────────┘
      └──▶ the end, of a dry run

Everything is looked at and counted before any of it is changed, and each count is stored together with the place it has
come to: so a worker that dies counts nothing twice and leaves nothing out. Pure.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Phase = Literal["look", "clean", "follow", "purge", "wait", "done"]
Counts = Mapping[str, int]

ROUNDS = 2
FOLLOWING: Mapping[Phase, Phase] = {"look": "clean", "clean": "follow", "follow": "purge", "wait": "look"}
CHANGED = "changed/"


@dataclass(frozen=True)
class Scrub:
    """`part` and `after` are where its phase has come to in what the user has. `counts` by `<what>/<kind>`: objects and
    items looked at, changed, versions to be erased, findings."""

    account_id: str
    user_id: str
    identity: str
    begun_at: str
    session_id: str = ""
    dry_run: bool = False
    step: int = 0
    round: int = 1
    phase: Phase = "look"
    part: int = 0
    after: tuple[str, ...] = ()
    wait_until: str = ""
    ended_at: str = ""
    error: str = ""
    counts: Counts = field(default_factory=dict)

    @property
    def status(self) -> Literal["running", "waiting", "completed"]:
        if self.phase == "done":
            return "completed"
        return "waiting" if self.phase == "wait" else "running"

    def changes(self, area: str) -> bool:
        """Whether anything of that area was found to be changed."""
        return self.counts.get(CHANGED + area, 0) > 0


def counted(scrub: Scrub, found: Counts) -> Scrub:
    """These were found. What was looked at counts in the first round only, which sees all of it."""
    again = scrub.round > 1
    fresh = {name: n for name, n in found.items() if not (again and name.startswith(("objects/", "items/")))}
    return replace(scrub, counts=dict(Counter(scrub.counts) + Counter(fresh)))


def at_place(scrub: Scrub, part: int, after: tuple[str, ...]) -> Scrub:
    """It goes on there."""
    return replace(scrub, part=part, after=after, error="")


def troubled(scrub: Scrub, reason: str) -> Scrub:
    """It does not get on, for that reason."""
    return replace(scrub, error=reason)


def ended_phase(scrub: Scrub, *, now: str, due_at: str) -> Scrub:
    """The next phase begins, or it has to wait until what was in flight has landed, or is over."""
    fresh = replace(scrub, part=0, after=(), error="")
    if (scrub.dry_run and scrub.phase == "look") or (scrub.phase == "purge" and scrub.round == ROUNDS):
        return replace(fresh, phase="done", ended_at=now)
    if scrub.phase == "purge":
        return replace(fresh, phase="wait", wait_until=due_at)
    rounds = scrub.round + (scrub.phase == "wait")
    return replace(fresh, phase=FOLLOWING[scrub.phase], round=rounds, wait_until="")


def shown(scrub: Scrub) -> dict[str, Any]:
    """What its owner sees of it: counts, and never a secret."""
    counts: dict[str, dict[str, int]] = {
        name: {} for name in ("objects", "items", "changed", "versions", "findings", "names", "unreadable")
    }
    for name, count in sorted(scrub.counts.items()):
        what, _, kind = name.partition("/")
        counts[what][kind] = count
    return {
        "scrub_id": scrub.identity,
        "status": scrub.status,
        "stage": scrub.phase if scrub.phase == "done" else f"{scrub.phase} {scrub.round}/{ROUNDS}",
        "session_id": scrub.session_id or None,
        "dry_run": scrub.dry_run,
        "begun_at": scrub.begun_at,
        "ended_at": scrub.ended_at or None,
        "error": scrub.error or None,
        **counts,
    }
