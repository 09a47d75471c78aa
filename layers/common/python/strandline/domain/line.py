"""A memory line: one statement that says where it was made, and until when it held.

    - Caroline went to a support group on 7 May 2023. <!-- conv-26/1#3 2023-05-08T13:56:00.000Z q:1f0c9a2b3c4d -->
    - ~~Ana lives in Lisbon.~~ (until 6 March 2024) <!-- a/1#1 2023-… q:… =home:lisbon until:2024-… by:b/1#4 -->

that is `<session>/<archive>#<seq>[-<seq>] <time of the conversation> q:<hash of the quoted text>`, and after it, where
there is one: `@<field>` (the field of the memory type it belongs to, unless that is its content),
`=<attribute>:<value>` (what it says holds of its subject; another value later ends it) and `until:<time> by:<line>`
(what ended it, and when).
"""

import dataclasses
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import quote, unquote

QUOTE_HASH_CHARS = 12
CONTENT = "content"
"""The field of lines that name none."""

NO_QUOTE = "0" * QUOTE_HASH_CHARS
"""In place of the hash of what a line quoted before a secret was taken out of it: a hash lets anybody check a guess."""

DERIVED = "<!-- = -->"
"""Ends a text line of a body that follows from the front matter: it is written anew with each merge."""


@dataclass(frozen=True, order=True)
class Source:
    """Where a line was said. `at` is the conversation's time (RFC 3339), `quote` the hash of the quoted text."""

    at: str
    session_id: str
    archive: int
    seq_from: int
    seq_to: int
    quote: str

    @property
    def place(self) -> str:
        """Session, archive and messages as one word."""
        seqs = f"{self.seq_from}" if self.seq_from == self.seq_to else f"{self.seq_from}-{self.seq_to}"
        return f"{quote(self.session_id, safe='')}/{self.archive}#{seqs}"

    def __str__(self) -> str:
        return f"{self.place} {self.at} q:{self.quote}"


@dataclass(frozen=True, order=True)
class Closing:
    """The end of what a line said: when something newer was said, and the place of that; "-" when nothing took over."""

    at: str
    by: str

    def __str__(self) -> str:
        return f"until:{self.at} by:{self.by}"


@dataclass(frozen=True)
class Attribute:
    """What a line says holds of its subject: `home` is `oslo`. Both are slugs."""

    name: str
    value: str

    def __str__(self) -> str:
        return f"={self.name}:{self.value}"


@dataclass(frozen=True, order=True)
class Line:
    """One memory line and its source. Two with the same source and text are the same, whatever has become of them."""

    source: Source
    text: str
    field: str = CONTENT
    attribute: Attribute | None = dataclasses.field(default=None, compare=False)
    closing: Closing | None = dataclasses.field(default=None, compare=False)

    def __str__(self) -> str:
        notes = " ".join(str(note) for note in self._notes() if note)
        return f"- {self._shown()} <!-- {notes} -->"

    def _notes(self) -> Iterable[object]:
        marked = None if self.field == CONTENT else f"@{self.field}"
        return self.source, marked, self.attribute, self.closing

    def _shown(self) -> str:
        return f"~~{self.text}~~ (until {_day(self.closing.at)})" if self.closing else self.text

    def ended(self, closing: Closing | None) -> "Line":
        """The line with that end, or with the one it has: the earlier of two holds."""
        known = [each for each in (self.closing, closing) if each]
        return replace(self, closing=min(known) if known else None)


_PLACE = r"(?P<session>[^\s/]+)/(?P<archive>\d{1,12})#(?P<first>\d{1,12})(?:-(?P<last>\d{1,12}))?"
_TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
_SOURCE = re.compile(rf"{_PLACE} (?P<at>{_TIME}) q:(?P<quote>[0-9a-f]{{12}})", re.ASCII)
_LINE = re.compile(
    rf"- (?P<text>.*) <!-- (?P<source>{_SOURCE.pattern})(?: @(?P<field>[a-z][a-z0-9_]{{0,39}}))?"
    rf"(?: =(?P<name>[^\s:]+):(?P<value>[^\s:]+))?(?: until:(?P<until>{_TIME}) by:(?P<by>\S+))? -->",
    re.ASCII,
)
_ENDED = re.compile(r"~~(?P<text>.*)~~ \(until [^()]*\)")


def quote_hash(text: str) -> str:
    """The first 12 hex digits of the SHA-256 of a quoted text."""
    return hashlib.sha256(text.encode()).hexdigest()[:QUOTE_HASH_CHARS]


def read_lines(body: str) -> tuple[list[Line], list[str]]:
    """The sourced lines of a body, and the text lines that are somebody's own, each in the order they stand."""
    lines: list[Line] = []
    others: list[str] = []
    for text in body.split("\n"):
        line = read_line(text)
        if line is not None:
            lines.append(line)
        elif not text.endswith(DERIVED):
            others.append(text)
    return lines, others


def read_line(text: str) -> Line | None:
    """The line that a text is; None when it is none."""
    match = _LINE.fullmatch(text)
    source = read_source(match["source"]) if match else None
    if match is None or source is None:
        return None
    attribute = Attribute(match["name"], match["value"]) if match["name"] else None
    if match["until"] is None or not _is_time(match["until"]):
        return Line(source, match["text"], match["field"] or CONTENT, attribute)
    ended = _ENDED.fullmatch(match["text"])
    said = ended["text"] if ended else match["text"]
    return Line(source, said, match["field"] or CONTENT, attribute, Closing(match["until"], match["by"]))


def read_source(text: str) -> Source | None:
    """The source that a text spells; None when it is none."""
    match = _SOURCE.fullmatch(text)
    if match is None or not _is_time(match["at"]):
        return None
    first = int(match["first"])
    return Source(
        at=match["at"],
        session_id=unquote(match["session"]),
        archive=int(match["archive"]),
        seq_from=first,
        seq_to=int(match["last"] or first),
        quote=match["quote"],
    )


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text) is not None
    except ValueError:
        return False


def _day(at: str) -> str:
    day = datetime.fromisoformat(at)
    return f"{day.day} {day:%B %Y}"


def owned(body: str) -> str:
    """A memory's text as its owner's own: what is derived in it without its mark, and without the links at its end."""
    if DERIVED not in body:
        return body
    rows = body.partition(f"\n## Links {DERIVED}\n")[0].rstrip("\n").split("\n")
    return (
        "\n".join(row.removesuffix(DERIVED).rstrip() if row.endswith(DERIVED) else row for row in rows) + "\n"
    )
