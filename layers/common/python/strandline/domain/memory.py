"""A memory: one markdown file whose lines say where they come from.

The body is the truth. A line that was extracted ends in an HTML comment with its source, invisible when rendered
(`domain/line.py`). Everything else in the body is somebody's own text and is kept as it is, above the lines. Lines are
ordered by time of conversation and source, never by time of processing (`domain/merging.py` merges).
"""

import hashlib
from dataclasses import dataclass, replace
from typing import Literal

from strandline.domain.field_value import FieldValue
from strandline.domain.line import Line, Source, read_lines
from strandline.domain.line import quote_hash as quote_hash
from strandline.domain.link import Link
from strandline.domain.patch import Patch
from strandline.domain.topic import Topic, flags

Author = Literal["owner", "tool", "merge", "rollback", "rebuild", "expiry", "scrub"]
"""Who writes a version of a memory file."""

__all__ = ["Line", "Memory", "Source", "extraction_id", "quote_hash", "read_lines", "revived"]


@dataclass(frozen=True)
class Memory:
    """One memory file. Times are those of the conversations (RFC 3339); `applied` are the extractions it has taken
    in, `edits` counts the writes by its owner: together they are its version. One that was begun anew after a deletion
    goes on counting; `follows` is the version of the gravestone then. With `ttl_seconds` it expires that long after
    each write; `topic` is what an agent's own topic says of itself. `values` are of the fields without lines, `patches`
    what extractions have asked to be changed in its lines since its owner last wrote it. `undone` are those of
    `applied` whose numbers are in none of its sums (any more).

    With `deleted_at` it is the gravestone of a deleted memory, empty but for what it has absorbed: nothing of that
    comes back when it is delivered again, while anything else may begin the memory anew. It keeps its links, and what
    it was replaced by, until their other ends have followed.
    """

    path: str
    type: str
    title: str
    peer: str | None
    body: str
    created_at: str
    updated_at: str
    applied: tuple[str, ...] = ()
    edits: int = 0
    expires_at: str | None = None
    deleted_at: str | None = None
    follows: int = 0
    ttl_seconds: int | None = None
    topic: Topic | None = None
    values: tuple[FieldValue, ...] = ()
    patches: tuple[Patch, ...] = ()
    links: tuple[Link, ...] = ()
    replaced_by: str | None = None
    undone: tuple[str, ...] = ()

    @property
    def flags(self) -> list[str]:
        """What whoever shows it to a model should know: `injection`, when it sounds like an instruction to one."""
        said = (self.topic.description, self.topic.summary) if self.topic else ()
        return flags(self.title, *said, self.body)

    @property
    def id(self) -> str:
        return f"mem_{hashlib.sha256(self.path.encode()).hexdigest()[:16]}"

    @property
    def version(self) -> int:
        return len(self.applied) + self.edits

    @property
    def is_new(self) -> bool:
        """Whether this is the first there is of it."""
        return self.version == self.follows + 1

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.body.encode()).hexdigest()

    @property
    def lines(self) -> list[Line]:
        return read_lines(self.body)[0]


def living(memory: Memory | None) -> Memory | None:
    """The memory, unless it is the gravestone of one."""
    return None if memory is None or memory.deleted_at else memory


def bury(memory: Memory, now: str, replaced_by: str | None = None) -> Memory:
    """The gravestone of a memory. Nothing of what the memory said is left in it, its title included."""
    return replace(
        memory,
        title="",
        body="",
        created_at=now,
        updated_at=now,
        edits=memory.edits + 1,
        expires_at=None,
        ttl_seconds=None,
        topic=None,
        values=(),
        patches=(),
        undone=(),
        replaced_by=replaced_by,
        deleted_at=now,
        follows=0,
    )


def after(grave: Memory | None, begun: Memory) -> Memory:
    """A memory that is begun where a gravestone (or nothing) is: it knows what the deleted one had absorbed."""
    if grave is None:
        return begun
    return replace(
        begun, applied=grave.applied, undone=grave.applied, edits=grave.edits, follows=grave.version
    )


def revived(memory: Memory | None, now: str) -> Memory | None:
    """What there is to add to: an expired memory is an empty one, so that what has expired does not come back."""
    if memory is None or memory.expires_at is None or memory.expires_at > now:
        return memory  # a gravestone has no expiry
    empty = f"# {memory.title}\n"
    return replace(
        memory, body=empty, expires_at=None, values=(), patches=(), links=(), undone=memory.applied
    )


def extraction_id(incarnation: str, archive: int) -> str:
    """The id of an archive's extraction: the same for every attempt and every rebuild, for no other archive."""
    return hashlib.sha256(f"{incarnation}/{archive}".encode()).hexdigest()[:12]
