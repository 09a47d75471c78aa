"""Memories as they are shown."""

from typing import NotRequired

from typing_extensions import TypedDict

from strandline.entry.results.usage import Used


class CitedArchive(TypedDict):
    """Messages that a memory cites: of one archive of a session, as `3, 7-9`. `at` is the time of the first line."""

    session: str
    archive: int
    at: str
    seq: str


class MemoryLink(TypedDict):
    """A link to another memory; `back`: it starts there and leads here."""

    type: str
    back: bool
    path: str
    uri: str


class Lineage(TypedDict):
    """What a trajectory belongs to (`belongs_to`), what learnt from it (`derived_from`), what it had read (`used`)."""

    type: str
    path: str


class MemoryRow(TypedDict):
    """A memory in a list. `lines` counts those that cite messages; `size` is in bytes, of the text without front matter
    (missing while an older index has not been rewritten); `flags` holds `injection` when it sounds like an instruction
    to a model; a topic has a description and a summary, a trajectory the
    case and the experiences that it belongs to (`lineage`)."""

    path: str
    uri: str
    type: str
    title: str
    peer: str | None
    version: int
    created_at: str
    updated_at: str
    expires_at: str | None
    sha256: str
    lines: int
    size: NotRequired[int]
    lineage: NotRequired[list[Lineage]]
    flags: NotRequired[list[str]]
    description: NotRequired[str | None]
    summary: NotRequired[str | None]
    ttl_seconds: NotRequired[int | None]
    id: NotRequired[str]
    content: NotRequired[str]
    sources: NotRequired[list[CitedArchive]]
    fields: NotRequired[dict[str, str | int]]
    links: NotRequired[list[MemoryLink]]
    used: NotRequired[Used]


class Memory(TypedDict):
    """A memory: its markdown and its sources. `sha256` is that of the content, and its ETag. `fields` are the values
    of its type's fields that hold no lines, where there are any. For a topic, `title` is the name, and there are a
    description and a summary."""

    path: str
    uri: str
    id: str
    type: str
    title: str
    peer: str | None
    content: str
    sha256: str
    version: int
    created_at: str
    updated_at: str
    expires_at: str | None
    ttl_seconds: int | None
    flags: list[str]
    description: str | None
    summary: str | None
    sources: list[CitedArchive]
    fields: dict[str, str | int]
    links: list[MemoryLink]
    used: Used


class DeletedMemory(TypedDict):
    """What a deleted memory was."""

    path: str
    uri: str
    sha256: str
