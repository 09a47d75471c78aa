"""What stands beside the messages of a context: the summary of those that are covered, and memories.

The newest user message comes first; of what it leaves of the room each of the two takes its share at most
(`domain/compaction/room.py`). Without a window nothing is cut. The same for the same messages, summary and memories: it
does not depend on what else is shown.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from strandline.domain.block import Block
from strandline.domain.compaction.room import shares
from strandline.domain.failure import kind_of
from strandline.domain.session import Head
from strandline.domain.times import stamp
from strandline.domain.working_memory.frame import framed
from strandline.pipeline import block
from strandline.pipeline.library import Library
from strandline.storage.layout import Life, User
from strandline.storage.log import ref
from strandline.storage.once import fetch

log = logging.getLogger(__name__)

EMPTY = Block("", 0, (), 0)


@dataclass(frozen=True)
class WantedMemories:
    """How many tokens of memories, of which types (None: all), and of a type with a quota."""

    max_tokens: int = block.MAX_TOKENS
    types: frozenset[str] | None = None
    quotas: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class About:
    """What memories are to be about, as of when (None: now), and whose they may be."""

    query: str
    acting_peer: str | None = None
    as_of: datetime | None = None


@dataclass(frozen=True)
class Beside:
    """The summary in its frame ("" when nothing is covered, or its text is gone) and the memories, with their
    tokens."""

    summary: str
    summary_tokens: int
    memories: Block

    @property
    def tokens(self) -> int:
        return self.summary_tokens + self.memories.tokens

    @property
    def chars(self) -> int:
        return len(self.summary) + len(self.memories.text)


def summary_of(services: Library, head: Head, archives: int) -> str:
    """The working memory as of the last of that many archives."""
    if not archives:
        return ""
    body = fetch(services.immutable, Life(ref(head)).archive_file(archives, "overview.md"))
    return (body or b"").decode()


def fitted(summary: str, left: int | None, count: Callable[[str], int]) -> str:
    """The summary in its frame, or what of it there is room for where the newest user message leaves so many tokens
    (None: any number)."""
    return framed(summary, None if left is None else shares(left).summary, count)


def memories_for(
    services: Library, owner: User, wanted: WantedMemories | None, about: About, left: int | None
) -> Block:
    """The memories for that query where the newest user message leaves so many tokens (None: no other limit than
    theirs); none where they cannot be chosen."""
    if wanted is None:
        return EMPTY
    tokens = wanted.max_tokens if left is None else min(wanted.max_tokens, shares(left).memories)
    if tokens <= 0 or not about.query.strip():
        return EMPTY
    as_of = stamp(about.as_of) if about.as_of else None
    asked = block.Wanted(about.query, tokens, wanted.types, wanted.quotas, about.acting_peer, as_of)
    try:
        return block.memory_block(services, owner, asked)
    except Exception as error:  # noqa: BLE001 - a context without memories is better than none
        log.error("memories could not be chosen: %s", kind_of(error))
        return EMPTY
