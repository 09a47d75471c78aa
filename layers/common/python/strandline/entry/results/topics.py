"""Topics and their index, as they are shown."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from strandline.entry.results.search import ShownBlock

Freshness = Literal["today", "yesterday", "within 7 days", "within 30 days", "over 30 days", "unknown"]


class IndexedTopic(TypedDict):
    """A topic that the index shows. `type` is one of user, feedback, project, reference; `flags` holds `injection` when
    it sounds like an instruction to a model. A file below `topics/` without front matter has its file's name, and no
    description."""

    filename: str
    path: str
    uri: str
    name: str
    description: str
    type: str
    summary: str
    updated_at: str
    expires_at: str | None
    freshness: Freshness
    flags: list[str]


class SavedTopic(IndexedTopic):
    """A topic as it is now."""

    sha256: str
    version: int
    ttl_seconds: int | None


class ShownIndex(TypedDict):
    """The index for a prompt: `index` has at most 200 lines and 25,000 bytes. Where topics were left out for that,
    `truncated` and its last line say so. `topics` are those in it, in its order; `total` counts all there are.
    `block` is there when a query was sent."""

    index: str
    lines: int
    bytes: int
    total: int
    shown: int
    truncated: bool
    topics: list[IndexedTopic]
    block: NotRequired[ShownBlock]
