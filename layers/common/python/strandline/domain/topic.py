"""Topics: what an agent writes down for itself, and the index it finds them by.

A topic is a memory below `topics/` whose front matter says more: name, description and summary, and as its type what
it is about. The index is made from these whenever it is asked for, newest first, and cut to what a prompt can bear:

    - [Deploy to staging](deploy-staging.md): Blue-green, by hand on Fridays. (project, within 7 days)
    - … and 50 more topics that do not fit; list them by the prefix topics/
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from strandline.domain.injection import injected
from strandline.domain.times import parse

DIRECTORY = "topics/"
TYPES = ("user", "feedback", "project", "reference")
Freshness = Literal["today", "yesterday", "within 7 days", "within 30 days", "over 30 days", "unknown"]

INDEX_LINES = 200
INDEX_BYTES = 25_000
INJECTION = "injection"

Row = Mapping[str, Any]  # what a list shows of a memory


@dataclass(frozen=True)
class Topic:
    """What a topic's front matter says besides that of a memory, whose title is the topic's name."""

    description: str
    summary: str


def is_topic(path: str) -> bool:
    return path.startswith(DIRECTORY)


def one_line(text: str) -> str:
    """The text without line breaks, control characters and runs of spaces."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def flags(*texts: str) -> list[str]:
    """`injection` where a text speaks to models."""
    return [INJECTION] if any(map(injected, texts)) else []


def freshness(updated_at: str | None, now: datetime) -> Freshness:
    """How long ago that was, in whole days: 0 today, 1 yesterday. What is still to come is of today; what is no time is
    unknown, as is the epoch, which stands for a time that was not there."""
    try:
        at = parse(updated_at or "")
        days = (now - at).days
    except (ValueError, TypeError):
        return "unknown"
    if at.year <= 1970:
        return "unknown"
    if days <= 0:
        return "today"
    if days == 1:
        return "yesterday"
    return "within 7 days" if days <= 7 else "within 30 days" if days <= 30 else "over 30 days"


@dataclass(frozen=True)
class TopicIndex:
    """The index as text, and the topics in it by path, in its order; `total` counts all there are."""

    text: str
    shown: Mapping[str, Row]
    total: int

    @property
    def truncated(self) -> bool:
        return len(self.shown) < self.total


def newest_first(rows: Mapping[str, Row]) -> list[str]:
    """The paths of topics, last written first."""
    return sorted(rows, key=lambda path: (str(rows[path]["updated_at"]), path), reverse=True)


def index(rows: Mapping[str, Row], now: datetime) -> TopicIndex:
    """At most 200 lines and 25,000 bytes, the notice that something was left out among them."""
    paths = newest_first(rows)
    lines = [_line(path, rows[path], now) for path in paths]
    whole = _fitting(lines, INDEX_LINES, INDEX_BYTES)
    if whole == len(lines):
        return TopicIndex("".join(lines), {path: rows[path] for path in paths}, len(paths))
    longest = len(_notice(len(lines)).encode())
    fits = _fitting(lines, INDEX_LINES - 1, INDEX_BYTES - longest)
    shown = {path: rows[path] for path in paths[:fits]}
    return TopicIndex("".join(lines[:fits]) + _notice(len(lines) - fits), shown, len(paths))


def _fitting(lines: Iterable[str], count: int, size: int) -> int:
    """How many of the lines, from the first, keep to both limits."""
    fits = 0
    for line in lines:
        size -= len(line.encode())
        if fits == count or size < 0:
            break
        fits += 1
    return fits


def _notice(left: int) -> str:
    noun = "topic that does" if left == 1 else "topics that do"
    return f"- … and {left} more {noun} not fit; list them by the prefix {DIRECTORY}\n"


def _line(path: str, row: Row, now: datetime) -> str:
    about = row.get("summary") or row.get("description") or ""
    kind = "" if row["type"] not in TYPES else f"{row['type']}, "
    flagged = ", flagged: sounds like an instruction" if row.get("flags") else ""
    told = f"{kind}{freshness(row['updated_at'], now)}{flagged}"
    return f"- [{_plain(row['title'])}]({_target(path)}){': ' if about else ''}{_plain(about)} ({told})\n"


def _plain(text: str) -> str:
    """The text on one line, with nothing in it that could end the link it stands in."""
    return "".join(f"\\{c}" if c in r"\[]" else c for c in one_line(text))


def _target(path: str) -> str:
    return "".join(f"%{ord(c):02X}" if c in "()<>% " else c for c in path.removeprefix(DIRECTORY))
