"""What going back changes, as it is shown."""

from typing import Literal

from typing_extensions import TypedDict


class ChangedMemory(TypedDict):
    """A memory that was changed, or in a dry run would be: with the unified diff of its content, None where an answer
    has no room for it. `version` and `sha256` are of what it has become, None for a deleted one."""

    path: str
    uri: str
    change: Literal["added", "updated", "deleted"] | None
    version: int | None
    sha256: str | None
    diff: str | None


class RolledBackMemory(ChangedMemory):
    """`change` is None when the memory is so already."""

    to_version: int
    dry_run: bool


class KeptBack(TypedDict):
    """What was left as it is. `edited`: somebody has changed the line since; `adopted`: the owner has made it text of
    their own; `superseded`: another has set the value anew; `deleted`: its memory was deleted; `not_kept`: the bucket
    does not know what it was."""

    path: str
    uri: str
    reason: Literal["edited", "adopted", "superseded", "deleted", "not_kept"]
    text: str | None


class RolledBack(TypedDict):
    """What was changed, or in a dry run would be, and what was left. `archives` are those that were undone."""

    dry_run: bool
    archives: list[str]
    changed: list[ChangedMemory]
    conflicts: list[KeptBack]
