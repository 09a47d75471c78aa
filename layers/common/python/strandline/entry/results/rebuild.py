"""A rebuild, as it is shown."""

from typing import Literal

from typing_extensions import TypedDict


class RebuiltSessions(TypedDict):
    """How many sessions there are, and of how many the archives are known."""

    total: int
    found: int


class RebuiltArchives(TypedDict):
    """How many archives are known so far, how many are merged, and how many could not be extracted again and stay as
    they were."""

    total: int
    merged: int
    failed: int


class Rebuild(TypedDict):
    """How far a rebuild is. `finding`: its archives are looked up; `extracting`: they are extracted again; `merging`:
    they are merged beside the memories; `ready`: compare it, or promote it."""

    rebuild_id: str
    status: Literal["finding", "extracting", "merging", "ready", "promoted"]
    again: bool
    session_id: str | None
    started_at: str
    promoted_at: str | None
    sessions: RebuiltSessions
    archives: RebuiltArchives
