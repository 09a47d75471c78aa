"""What search finds, as it is shown."""

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict


class Span(TypedDict):
    """The messages that a memory line cites, and when they were said."""

    session_id: str
    archive: str
    seq_from: int
    seq_to: int
    at: str


class MemoryHit(TypedDict):
    """A memory line. `category` is the memory's type; a line of the owner's own has no sources. Every hit is a
    detail (level 2) and has no overview. `content` is the whole memory, where it was asked for. `valid_until` is
    when a newer fact ended the line, `superseded_by` where that stands (`<session>/<archive>#<seq>`, "-" for none;
    of an experience the path of the other)."""

    context_type: Literal["memory"]
    level: Literal[2]
    score: float
    abstract: str
    overview: None
    content: NotRequired[str]
    uri: str
    category: str
    title: str
    peer: str | None
    sources: list[Span]
    valid_until: NotRequired[str]
    superseded_by: NotRequired[str]
    explain: NotRequired[dict[str, Any]]


class MessageHit(TypedDict):
    """A raw message."""

    context_type: Literal["message"]
    level: Literal[2]
    score: float
    abstract: str
    overview: None
    uri: str
    category: Literal["message"]
    session_id: str
    message_id: str
    seq: int
    role: str
    peer_id: str | None
    created_at: str
    explain: NotRequired[dict[str, Any]]


class Found(TypedDict):
    """The hits, best first. `resources` and `skills` are always empty; they are there for clients that expect them.
    With `as_of`, `not_kept` counts memories whose state then is no longer known."""

    memories: list[MemoryHit | MessageHit]
    resources: list[Any]
    skills: list[Any]
    total: int
    not_kept: NotRequired[int]


class BlockMemory(TypedDict):
    """A memory with lines in a block: how many, the tokens they add, the best line and its score. `explain` says how
    the score is made up. `cut`: a topic that did not fit whole. `flags` holds `injection` when it sounds like an
    instruction to a model."""

    uri: str
    category: str
    score: float
    lines: int
    tokens: int
    best: str
    cut: bool
    flags: list[str]
    explain: NotRequired[dict[str, Any]]


class ShownBlock(TypedDict):
    """Memories as text for a prompt, "" for none; `left_out` counts lines and topics that had no room."""

    text: str
    tokens: int
    memories: list[BlockMemory]
    left_out: int
