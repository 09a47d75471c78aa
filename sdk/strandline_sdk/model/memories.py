"""Memories, topics, and the index of topics."""

from typing import Any, Required, TypedDict


class Memory(TypedDict, total=False):
    path: Required[str]
    uri: Required[str]
    type: str
    content: str
    sha256: str
    version: int
    created_at: str
    updated_at: str
    sources: list[dict[str, Any]]


class Lifetime(TypedDict, total=False):
    """A memory expires `ttl_seconds` after each write, or at `expires_at`; None takes an expiry away. With neither it
    keeps the one it has."""

    ttl_seconds: int | None
    expires_at: str | None


class TopicFields(TypedDict, total=False):
    """What a topic says besides its text. `memory_type` is user, feedback, project or reference; it expires
    `ttl_seconds` after each write, or at `expires_at`."""

    name: str
    description: str
    memory_type: str
    summary: str
    ttl_seconds: int | None
    expires_at: str | None


class Topic(TypedDict, total=False):
    filename: Required[str]
    path: Required[str]
    uri: Required[str]
    name: Required[str]
    description: str
    type: str
    summary: str
    updated_at: str
    expires_at: str | None
    freshness: str
    flags: list[str]


class MemoryBlock(TypedDict):
    """Memories for a prompt: `text` has `tokens`; `memories` are those in it, `left_out` how many lines and topics had
    no room."""

    text: str
    tokens: int
    memories: list[dict[str, Any]]
    left_out: int


class ShownIndex(TypedDict, total=False):
    index: Required[str]
    total: int
    shown: int
    truncated: bool
    topics: list[Topic]
    block: MemoryBlock


class ToolOutput(TypedDict):
    output: str
    is_error: bool
