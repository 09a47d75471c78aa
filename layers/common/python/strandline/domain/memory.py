"""A memory: one markdown file whose lines say where they come from, and the pure merge into it.

The body is the truth. A line that was extracted ends in an HTML comment with its source, invisible when rendered:

    - Caroline went to a support group on 7 May 2023. <!-- conv-26/1#3 2023-05-08T13:56:00.000Z q:1f0c9a2b3c4d -->

that is `<session>/<archive>#<seq>[-<seq>] <time of the conversation> q:<hash of the quoted text>`. Everything else in
the body is somebody's own text and is kept as it is, above the lines. Lines are ordered by time of conversation and
source, never by time of processing, so the same extractions give the same file whatever their order.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal
from urllib.parse import quote, unquote

from strandline.domain.topic import Topic, flags

QUOTE_HASH_CHARS = 12
Author = Literal["owner", "tool", "merge", "rollback", "rebuild", "expiry"]
"""Who writes a version of a memory file."""


@dataclass(frozen=True, order=True)
class Source:
    """Where a line was said. `at` is the conversation's time (RFC 3339), `quote` the hash of the quoted text."""

    at: str
    session_id: str
    archive: int
    seq_from: int
    seq_to: int
    quote: str

    def __str__(self) -> str:
        seqs = f"{self.seq_from}" if self.seq_from == self.seq_to else f"{self.seq_from}-{self.seq_to}"
        session = quote(self.session_id, safe="")
        return f"{session}/{self.archive}#{seqs} {self.at} q:{self.quote}"


@dataclass(frozen=True, order=True)
class Line:
    """One memory line and its source."""

    source: Source
    text: str

    def __str__(self) -> str:
        return f"- {self.text} <!-- {self.source} -->"


_LINE = re.compile(
    r"- (?P<text>.*) <!-- (?P<session>[^\s/]+)/(?P<archive>\d{1,12})#(?P<first>\d{1,12})(?:-(?P<last>\d{1,12}))?"
    r" (?P<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) q:(?P<quote>[0-9a-f]{12}) -->",
    re.ASCII,
)


def quote_hash(text: str) -> str:
    """The first 12 hex digits of the SHA-256 of a quoted text."""
    return hashlib.sha256(text.encode()).hexdigest()[:QUOTE_HASH_CHARS]


def read_lines(body: str) -> tuple[list[Line], list[str]]:
    """The sourced lines of a body, and the other text lines, each in the order they stand."""
    lines: list[Line] = []
    others: list[str] = []
    for text in body.split("\n"):
        line = _line(_LINE.fullmatch(text))
        if line is None:
            others.append(text)
        else:
            lines.append(line)
    return lines, others


def _line(match: re.Match[str] | None) -> Line | None:
    if match is None or not _is_time(match["at"]):
        return None
    first = int(match["first"])
    source = Source(
        at=match["at"],
        session_id=unquote(match["session"]),
        archive=int(match["archive"]),
        seq_from=first,
        seq_to=int(match["last"] or first),
        quote=match["quote"],
    )
    return Line(source, match["text"])


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text) is not None
    except ValueError:
        return False


@dataclass(frozen=True)
class Memory:
    """One memory file. Times are those of the conversations (RFC 3339); `applied` are the extractions it has taken
    in, `edits` counts the writes by its owner: together they are its version. One that was begun anew after a deletion
    goes on counting; `follows` is the version of the gravestone then. With `ttl_seconds` it expires that long after
    each write; `topic` is what an agent's own topic says of itself.

    With `deleted_at` it is the gravestone of a deleted memory, empty but for what it has absorbed: nothing of that
    comes back when it is delivered again, while anything else may begin the memory anew.
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


@dataclass(frozen=True)
class Addition:
    """Lines of one extraction for one memory file: what the merge applies."""

    extraction: str
    path: str
    type: str
    title: str
    peer: str | None
    lines: tuple[Line, ...]


def absorb(memory: Memory | None, addition: Addition) -> Memory | None:
    """The memory with the addition taken in; the same memory where it was already, or where it adds nothing.

    Idempotent, and the order of additions makes no difference to the result.
    """
    if memory is not None and addition.extraction in memory.applied:
        return memory
    known = living(memory)
    lines, others = read_lines(known.body) if known else ([], [f"# {addition.title}"])
    fresh = sorted(set(addition.lines) - set(lines))
    if not fresh:
        return memory
    times = [line.source.at for line in fresh]
    known = known or after(memory, _begun(addition, at=min(times)))
    return replace(
        known,
        body=_render(others, sorted({*lines, *fresh})),
        created_at=min(known.created_at, *times),
        updated_at=max(known.updated_at, *times),
        applied=tuple(sorted((*known.applied, addition.extraction))),
    )


def living(memory: Memory | None) -> Memory | None:
    """The memory, unless it is the gravestone of one."""
    return None if memory is None or memory.deleted_at else memory


def bury(memory: Memory, now: str) -> Memory:
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
        deleted_at=now,
        follows=0,
    )


def after(grave: Memory | None, begun: Memory) -> Memory:
    """A memory that is begun where a gravestone (or nothing) is: it knows what the deleted one had absorbed."""
    if grave is None:
        return begun
    return replace(begun, applied=grave.applied, edits=grave.edits, follows=grave.version)


def revived(memory: Memory | None, now: str) -> Memory | None:
    """What there is to add to: an expired memory is an empty one, so that what has expired does not come back."""
    if memory is None or memory.expires_at is None or memory.expires_at > now:
        return memory  # a gravestone has no expiry
    return replace(memory, body=f"# {memory.title}\n", expires_at=None)


def without(memory: Memory, addition: Addition) -> Memory | None:
    """The memory as it would be had the addition not been absorbed; None when nothing would be left of it."""
    lines, others = read_lines(memory.body)
    rest = [line for line in lines if line not in addition.lines]
    if not rest and not any(text.strip() for text in others[1:]):
        return None
    return replace(memory, body=_render(others, rest))


def _begun(addition: Addition, *, at: str) -> Memory:
    return Memory(
        path=addition.path,
        type=addition.type,
        title=addition.title,
        peer=addition.peer,
        body="",
        created_at=at,
        updated_at=at,
    )


def _render(others: Sequence[str], lines: Iterable[Line]) -> str:
    own = "\n".join(others).strip("\n")
    return f"{own}\n\n" + "".join(f"{line}\n" for line in lines)


def extraction_id(incarnation: str, archive: int) -> str:
    """The id of an archive's extraction: the same for every attempt and every rebuild, for no other archive."""
    return hashlib.sha256(f"{incarnation}/{archive}".encode()).hexdigest()[:12]
