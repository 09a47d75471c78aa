"""Memories as a directory tree, made from what the catalogue says of each file. Nothing is stored for a directory: it
is there while a memory is below it, and its abstract and overview are counted from the same rows, so they are the same
for the same memories.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

OVERVIEW_CHARS = 4000

Row = Mapping[str, Any]  # what a list shows of a memory
Rows = Mapping[str, Row]  # by path


@dataclass(frozen=True)
class Node:
    """A file or directory. `path` is relative to the directory that was asked for; `size` in bytes and the time of the
    last change (RFC 3339) are None where they are not known without reading; `rows` are a directory's memories."""

    path: str
    is_dir: bool
    size: int | None = None
    at: str | None = None
    rows: Rows = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[-1]

    @property
    def depth(self) -> int:
        return self.path.count("/") + 1

    def below(self, directory: str) -> "Node":
        """The node by its path in a directory that it lies in ("" is the root)."""
        return replace(self, path=self.path[len(directory) + 1 :] if directory else self.path)


def under(rows: Rows, directory: str) -> dict[str, Row]:
    """The rows below a directory ("" is the root), by their path in it."""
    prefix = f"{directory}/" if directory else ""
    return {path[len(prefix) :]: row for path, row in rows.items() if path.startswith(prefix)}


def nodes(rows: Rows, always: Iterable[str] = ()) -> list[Node]:
    """Every directory and file in path order, a directory before what is in it; those of `always` also when empty."""
    found = {
        path: directory(path, below)
        for path, below in {**{path: {} for path in always}, **_grouped(rows)}.items()
    }
    found |= {
        path: Node(path, is_dir=False, size=row.get("size"), at=row["updated_at"])
        for path, row in rows.items()
    }
    return sorted(found.values(), key=lambda node: node.path.split("/"))


def _grouped(rows: Rows) -> dict[str, dict[str, Row]]:
    """For every directory the rows below it, by their path in it."""
    found: dict[str, dict[str, Row]] = defaultdict(dict)
    for path, row in rows.items():
        parts = path.split("/")
        for n in range(1, len(parts)):
            found["/".join(parts[:n])]["/".join(parts[n:])] = row
    return found


def directory(path: str, rows: Rows) -> Node:
    """The directory that holds these memories."""
    size = sum(row.get("size") or 0 for row in rows.values())
    newest = max((str(row["updated_at"]) for row in rows.values()), default=None)
    return Node(path, is_dir=True, size=size, at=newest, rows=rows)


def abstract(rows: Rows) -> str:
    """How many memories of which types, and of which day the newest is."""
    if not rows:
        return "No memories."
    kinds = Counter(str(row["type"]) for row in rows.values())
    counted = ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items(), key=lambda kv: (-kv[1], kv[0])))
    newest = max(str(row["updated_at"]) for row in rows.values())[:10]
    noun = "memory" if len(rows) == 1 else "memories"
    return f"{len(rows)} {noun}: {counted}. The newest is of {newest}."


def overview(rows: Rows, title: str, limit: int = OVERVIEW_CHARS) -> str:
    """Markdown: the abstract, then a line for each memory with path, title, lines and day, cut at a whole line."""
    head = f"# {title}\n\n{abstract(rows)}\n"
    return head + _within([_line(path, rows[path]) for path in sorted(rows)], limit - len(head))


def _line(path: str, row: Mapping[str, Any]) -> str:
    lines = row.get("lines") or 0
    counted = f"{lines} line{'' if lines == 1 else 's'}, " if lines else ""
    return f"- {path}: {row['title']} ({counted}{str(row['updated_at'])[:10]})\n"


def _within(lines: Iterable[str], room: int) -> str:
    lines = list(lines)
    taken = "\n" if lines else ""
    for n, line in enumerate(lines):
        rest = f"- … and {len(lines) - n} more\n"
        last = n == len(lines) - 1
        if len(taken) + len(line) + (0 if last else len(rest)) > room:
            return taken + rest
        taken += line
    return taken
