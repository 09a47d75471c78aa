"""A scrub, as it is shown."""

from typing import Literal

from typing_extensions import TypedDict


class Scrub(TypedDict):
    """How far a scrub is, and what it has found. `waiting`: writes that were under way may still arrive, so it goes
    over everything once more after a while. Counted by area of the user's data: `objects` and `items` looked at,
    those `changed` (by a dry run: that would be), old `versions` erased with them, `names` that look like a secret
    and stay, and what is `unreadable`. `findings` counts by kind of secret in how many of them one was found."""

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
