"""What going back changes, as it is shown."""

from typing import Literal

from typing_extensions import TypedDict


class ChangedMemory(TypedDict):
    """A memory that was changed, or would be by a dry run, with the unified diff of its content (null where the
    answer has no room for it). `version` and `sha256` are those of the result, null for a deleted memory."""

    path: str
    uri: str
    change: Literal["added", "updated", "deleted"] | None
    version: int | None
    sha256: str | None
    diff: str | None


class RolledBackMemory(ChangedMemory):
    """`change` is null when the memory was already like that."""

    to_version: int
    dry_run: bool


class KeptBack(TypedDict):
    """What was left as it is. `edited`: somebody has edited the line since; `adopted`: the owner has made it their
    own text; `superseded`: somebody has set the value again; `deleted`: its memory was deleted; `not_kept`: the
    bucket no longer has the earlier state."""

    path: str
    uri: str
    reason: Literal["edited", "adopted", "superseded", "deleted", "not_kept"]
    text: str | None


class RolledBack(TypedDict):
    """What was changed, or would be by a dry run, and what was left. `archives` are those that were undone."""

    dry_run: bool
    archives: list[str]
    changed: list[ChangedMemory]
    conflicts: list[KeptBack]
