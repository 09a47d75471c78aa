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
    """A memory line. `category` is the memory's type; a line of somebody's own has no sources. Every hit is a detail
    (level 2), and there is no overview of it. `content` is the whole memory's, when it was asked for. `valid_until` is
    when a newer fact ended it, `superseded_by` the place of that (`<session>/<archive>#<seq>`, "-" for none)."""

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
    """The hits, best first. Nothing is kept under resources and skills; they are there for clients that look. With
    `as_of`, `not_kept` counts memories of which it is not known any more what they were then."""

    memories: list[MemoryHit | MessageHit]
    resources: list[Any]
    skills: list[Any]
    total: int
    not_kept: NotRequired[int]


class BlockMemory(TypedDict):
    """A memory of which lines are in a block: how many, the tokens they add, the best of them and its score, of which
    `explain` says what it is made of. `cut`: a topic that did not fit whole. `flags` holds `injection` when it sounds
    like an instruction to a model."""

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
