"""What memories were, as it is shown."""

from typing import Literal

from typing_extensions import TypedDict

from strandline.entry.results.memories import CitedArchive
from strandline.entry.results.search import Span


class Lines(TypedDict):
    """How many lines with a source a version added and removed, how many ceased to hold, and whether text without a
    source changed."""

    added: int
    removed: int
    ended: int
    own_text: bool


class Revision(TypedDict):
    """A version of a memory. `at` is when it was written, not when its words were said; `by` says by whom (null
    where nothing was recorded), `why` for what, where there is more to say. `sources` are those of the lines that it
    added. `lines` and `sources` are null where the version before it is no longer kept. A `version` of null is a
    delete marker of the bucket."""

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
    """The words that a line quotes, read again from the archive. `verified`: they have the hash behind the line;
    `not_found`: no cited message has words with that hash; `erased`: the archive was deleted with its session."""

    status: Literal["verified", "not_found", "erased", "redacted"]
    sha256: str
    text: str | None
    message: QuotedMessage | None


class BlamedLine(TypedDict):
    """A line of the memory's content, counted from 1. A line without a source was written by the owner. A line that
    no longer holds has `valid_until`, and `superseded_by`: the session, archive and messages that ended it, or "-"
    for none."""

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
