"""A scrub, as it is shown."""

from typing import Literal

from typing_extensions import TypedDict


class Scrub(TypedDict):
    """How far a scrub is, and what it has found. `waiting`: what was in flight may still land, so it goes over
    everything once more after a while. By area of what a user has: `objects` and `items` that were looked at, those
    `changed` (of a dry run: that would be), old `versions` that are erased with them, `names` that look like a secret
    and stay, and what is `unreadable`. `findings`: in how many of them a secret of each kind was."""

    scrub_id: str
    status: Literal["running", "waiting", "completed"]
    stage: str
    session_id: str | None
    dry_run: bool
    begun_at: str
    ended_at: str | None
    error: str | None
    objects: dict[str, int]
    items: dict[str, int]
    changed: dict[str, int]
    versions: dict[str, int]
    findings: dict[str, int]
    names: dict[str, int]
    unreadable: dict[str, int]
