"""What memories were, as it is shown."""

from typing import Literal

from typing_extensions import TypedDict

from strandline.entry.results.memories import CitedArchive
from strandline.entry.results.search import Span


class Lines(TypedDict):
    """How many sourced lines a version brought and took, how many hold no more since it, and whether text without a
    source changed."""

    added: int
    removed: int
    ended: int
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


class QuotedMessage(TypedDict):
    """Who said it, in which message, and when."""

    message_id: str
    seq: int
    role: str
    peer_id: str | None
    created_at: str


class Quote(TypedDict):
    """The words that a line quotes, read again from the archive. `verified`: they have the hash that stands behind the
    line; `not_found`: nothing in the cited messages has it; `erased`: the archive was deleted with its session."""

    status: Literal["verified", "not_found", "erased", "redacted"]
    sha256: str
    text: str | None
    message: QuotedMessage | None


class BlamedLine(TypedDict):
    """A line of the memory's content, counted from 1. Without a source it is somebody's own text. What holds no more
    has `valid_until`, and `superseded_by`: the session, archive and messages of what ended it, or "-" for nothing."""

    line: int
    text: str
    source: Span | None
    quote: Quote | None
    valid_until: str | None
    superseded_by: str | None


class Blame(TypedDict):
    """The lines of a memory, each with where it comes from."""

    path: str
    uri: str
    version: int
    sha256: str
    lines: list[BlamedLine]
