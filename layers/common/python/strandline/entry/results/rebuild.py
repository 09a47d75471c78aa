"""A rebuild, as it is shown."""

from typing import Literal

from typing_extensions import TypedDict


class RebuiltSessions(TypedDict):
    """How many sessions there are, and for how many the archives have been found."""

    total: int
    found: int


class RebuiltArchives(TypedDict):
    """How many archives have been found and merged so far, and how many could not be extracted again and keep their
    stored candidates."""

    total: int
    merged: int
    failed: int


class Rebuild(TypedDict):
    """How far a rebuild is. `finding`: it looks up the archives; `extracting`: they are extracted again; `merging`:
    they are merged beside the memories; `ready`: it can be compared or promoted."""

    rebuild_id: str
    status: Literal["finding", "extracting", "merging", "ready", "promoted"]
    again: bool
    session_id: str | None
    started_at: str
    promoted_at: str | None
    sessions: RebuiltSessions
    archives: RebuiltArchives
