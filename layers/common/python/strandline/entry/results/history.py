"""What memories were, as it is shown."""

from typing import Literal

from typing_extensions import TypedDict

from strandline.entry.results.memories import CitedArchive


class Lines(TypedDict):
    """How many sourced lines a version brought and took, and whether text without a source changed."""

    added: int
    removed: int
    own_text: bool


class Revision(TypedDict):
    """A version of a memory. `at` is when it was written, not when it was said; `by` says by whom, None where nobody
    wrote that down, and `why` what for, where there is more to say. `sources` are those of the lines that it brought.
    `lines` and `sources` are None where the version before it is not kept any more. A `version` of None is a delete
    marker of the bucket's own."""

    version: int | None
    at: str
    by: str | None
    why: str | None
    change: Literal["created", "updated", "deleted"]
    current: bool
    title: str | None
    sha256: str | None
    lines: Lines | None
    sources: list[CitedArchive] | None


class History(TypedDict):
    """The versions of a memory, newest first. `not_kept`: versions up to this number are gone, None while all are there
    (or on a page that is not the last)."""

    path: str
    uri: str
    versions: list[Revision]
    not_kept: int | None
