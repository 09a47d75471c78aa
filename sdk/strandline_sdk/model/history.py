"""How memories change: their versions, the sources of their lines, the diff of an archive, and rollbacks."""

from typing import Any, Required, TypedDict


class Revision(TypedDict, total=False):
    """A version of a memory: when it was written, by whom, and from which messages came what it brought."""

    version: Required[int | None]
    at: Required[str]
    change: Required[str]
    by: str | None
    why: str | None
    current: bool
    title: str | None
    sha256: str | None
    lines: dict[str, Any] | None
    sources: list[dict[str, Any]] | None


class BlamedLine(TypedDict, total=False):
    """A line of a memory with where it comes from; without a source it is somebody's own."""

    line: Required[int]
    text: Required[str]
    source: dict[str, Any] | None
    quote: dict[str, Any] | None
    valid_until: str | None
    superseded_by: str | None


class ChangedMemory(TypedDict, total=False):
    """A memory that a rollback or rebuild has changed, or would change."""

    path: Required[str]
    change: Required[str | None]
    uri: str
    version: int | None
    sha256: str | None
    diff: str | None


class RolledBack(TypedDict):
    """What was changed, and what was left as it is, with the reason."""

    changed: list[ChangedMemory]
    conflicts: list[dict[str, Any]]


class MemoryDiff(TypedDict, total=False):
    """What an archive, or the lesson learnt from it, changed in the memories: `operations` by `adds`, `updates` and
    `deletes`, each with its `uri`, `memory_type`, and the text `before` and `after`; what was rejected or skipped, and
    why; counts in `summary`."""

    archive_uri: Required[str]
    extraction: Required[str]
    operations: Required[dict[str, list[dict[str, Any]]]]
    summary: Required[dict[str, Any]]
    extractor: str
    types: dict[str, str]
    rejected: list[dict[str, Any]]
    skipped: list[dict[str, Any]]
    settled: list[dict[str, Any]]
    rolled_back_at: str
