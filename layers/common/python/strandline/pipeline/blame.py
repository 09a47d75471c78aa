"""blame: where each line of a memory comes from, with the words that were said, read again from their archive.

Of each archive that is cited: its session's head, one listing, its messages and its candidates. A quote counts when it
has the hash that stands behind the line.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from strandline.domain.candidates import Candidates
from strandline.domain.errors import ExtractionFailed
from strandline.domain.line import Closing
from strandline.domain.memory import Line, Memory, Source, extraction_id, read_lines
from strandline.domain.message import read_line
from strandline.domain.quotes import find_quote, read_quote
from strandline.domain.redaction import MARKER
from strandline.domain.session import Head
from strandline.domain.transcribing import text_of
from strandline.pipeline.extract import read_candidates
from strandline.pipeline.library import Library
from strandline.pipeline.memory import read
from strandline.storage.layout import Life, User
from strandline.storage.log import ref

MAX_ARCHIVES = 25
Status = Literal["verified", "not_found", "erased", "redacted"]


@dataclass(frozen=True)
class Quote:
    """What was said: `verified` when the archive has a quote of that hash, `not_found` when it has none, `erased` when
    the archive was deleted with its session, `redacted` when a secret was taken out of what was said."""

    status: Status
    text: str | None = None
    message: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Blamed:
    """A line of a memory's text, counted from 1. Without a source it is somebody's own. `closing` says until when it
    held, and what ended it."""

    number: int
    text: str
    source: Source | None = None
    quote: Quote | None = None
    closing: Closing | None = None


@dataclass(frozen=True)
class Blame:
    """A page of lines, and the number of the last, when there are more."""

    memory: Memory
    lines: Sequence[Blamed]
    next: int | None


@dataclass(frozen=True)
class _Archive:
    """An archive as far as quotes are concerned."""

    extraction: str
    messages: Mapping[int, dict[str, Any]]
    candidates: Candidates | None

    def quote(self, source: Source) -> Quote:
        cited = {seq: m for seq, m in self.messages.items() if source.seq_from <= seq <= source.seq_to}
        texts = {seq: text_of(message) for seq, message in cited.items()}
        seq, text = self._proposed(source, texts) or find_quote(source.quote, texts) or (0, None)
        if text:
            return Quote("verified", text, cited[seq])
        return Quote("redacted" if any(MARKER in each for each in texts.values()) else "not_found")

    def _proposed(self, source: Source, texts: Mapping[int, str]) -> tuple[int, str] | None:
        """The quote where the extraction has noted it."""
        files = self.candidates.files if self.candidates else ()
        for line in (line for file in files for line in file.lines if line.quote == source.quote):
            text = read_quote(line.quoted, source.quote, texts) if line.quoted else None
            if line.quoted and text:
                return line.quoted.seq, text
        return None


@dataclass
class _Archives:
    """The archives that have been read, None for those that are gone."""

    services: Library
    owner: User
    known: dict[tuple[str, int], _Archive | None] = field(default_factory=dict)

    def full(self, source: Source) -> bool:
        return len(self.known) >= MAX_ARCHIVES and (source.session_id, source.archive) not in self.known

    def quote(self, source: Source, memory: Memory) -> Quote:
        name = (source.session_id, source.archive)
        if name not in self.known:
            self.known[name] = self._read(*name)
        archive = self.known[name]
        found = archive.quote(source) if archive else Quote("erased")
        if archive and found.status == "not_found" and archive.extraction not in memory.applied:
            return Quote("erased")  # a successor of the session has an archive of that number, too
        return found

    def _read(self, session_id: str, number: int) -> _Archive | None:
        found = self.services.heads.read(self.owner.head(session_id))
        span = self.services.log.find(found.value, number) if found and not found.value.buried_at else None
        lines = self.services.log.archived(ref(found.value), number, *span) if found and span else None
        if found is None or lines is None:
            return None
        messages = {message["seq"]: message for message in map(read_line, lines)}
        return _Archive(
            extraction_id(found.value.incarnation, number), messages, self._candidates(found.value, number)
        )

    def _candidates(self, head: Head, number: int) -> Candidates | None:
        try:
            return read_candidates(self.services, Life(ref(head)), number)
        except ExtractionFailed:
            return None


def read_blame(services: Library, owner: User, path: str, *, after: int, limit: int) -> Blame:
    """The lines of a memory behind the one of that number. A page ends at `limit` lines, or where they cite more than
    `MAX_ARCHIVES` archives. Raises NotFound."""
    memory = read(services, owner, path)
    body = memory.body.split("\n")
    end = len(body) - (body[-1] == "")
    archives = _Archives(services, owner)
    lines = list(_blamed(archives, memory, body[after : min(end, after + limit)], after))
    last = after + len(lines)
    return Blame(memory, lines, last if lines and last < end else None)


def _blamed(archives: _Archives, memory: Memory, body: Sequence[str], after: int) -> Iterator[Blamed]:
    for number, text in enumerate(body, start=after + 1):
        line = _sourced(text)
        if line is None:
            yield Blamed(number, text)
            continue
        if archives.full(line.source):
            return
        yield Blamed(number, line.text, line.source, archives.quote(line.source, memory), line.closing)


def _sourced(text: str) -> Line | None:
    lines, _ = read_lines(text)
    return lines[0] if lines else None
