"""docs/BENCHMARKS.md and docs/COSTS.md: tables between markers, everything else left as somebody wrote it."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.perf.counting import KINDS, Counts

DOCS = Path(__file__).parents[2] / "docs"
FILE = DOCS / "BENCHMARKS.md"
ELSEWHERE = {"million": DOCS / "COSTS.md", "model": DOCS / "COSTS.md"}


def write(section: str, body: str) -> None:
    """Puts `body` between the markers of `section`; what is outside stays. Raises LookupError without markers."""
    file = ELSEWHERE.get(section, FILE)
    text = file.read_text()
    begin, end = f"<!-- bench:{section} -->", "<!-- bench:end -->"
    pattern = re.compile(rf"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if not pattern.search(text):
        raise LookupError(f"{file} has no place for {section}: {begin} … {end}")
    file.write_text(pattern.sub(lambda _: f"{begin}\n{body.strip()}\n{end}", text, count=1))


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A markdown table; columns after the first are aligned right."""
    rule = ["---", *("---:" for _ in header[1:])]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in (header, rule, *rows))


def number(value: float) -> str:
    """`3`, `1.74`, `12,345`; nothing for zero."""
    if not value:
        return ""
    return f"{value:,.0f}" if value == int(value) or value >= 1000 else f"{value:.2f}"


def kibibytes(value: float) -> str:
    return f"{value / 1024:,.1f}" if value else ""


def requests(counts: Counts) -> list[str]:
    """The cells of one row: a number for every kind of request."""
    return [number(counts[kind]) for kind in KINDS]


def used(rows: Iterable[Counts]) -> list[str]:
    """The kinds of request that occur in any of these."""
    found = list(rows)
    return [kind for kind in KINDS if any(counts[kind] for counts in found)]
