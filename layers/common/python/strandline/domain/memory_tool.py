"""The memory tool's view of a memory: its text with line numbers, and edits of that text by a model.

A model sees a line without the comment that says where it comes from, and edits what it sees. A line that it leaves
alone keeps its source; one that it changes is its own from then on, since what was quoted no longer says it. The
wording of outcomes is what models of the published memory tool know.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from strandline.domain.graphemes import beginning
from strandline.domain.memory import read_lines
from strandline.domain.tree import Row

ROOT = "/memories"
MAX_LINES = 999_999
VIEW_CHARS = 50_000
SNIPPET_LINES = 3
ECHO_CHARS = 1_000
LISTED = 1_000
LEVELS = 2


class Refusal(Exception):
    """A command that cannot be done; the text says to the model why, and what it can do."""


@dataclass(frozen=True)
class Edited:
    """A text after an edit. `line` is the first one changed, from 1; `count` how many lines stand there now."""

    text: str
    line: int
    count: int


def seen(body: str) -> str:
    """A memory's body as a model sees it, line for line."""
    return "\n".join(map(_seen, body.split("\n")))


def _seen(line: str) -> str:
    lines, _ = read_lines(line)
    return f"- {lines[0].text}" if lines else line


def unseen(body: str, text: str) -> str:
    """A body whose seen text is now this one: the lines before and behind the change are as they were."""
    old, kept, new = seen(body).split("\n"), body.split("\n"), text.split("\n")
    shorter = min(len(old), len(new))
    first = next((n for n in range(shorter) if old[n] != new[n]), shorter)
    last = next((n for n in range(shorter - first) if old[-1 - n] != new[-1 - n]), shorter - first)
    return "\n".join([*kept[:first], *new[first : len(new) - last], *kept[len(old) - last :]])


def _lines(text: str) -> list[str]:
    """The lines of a text; a line break at its end begins no further one."""
    return text.removesuffix("\n").split("\n") if text else []


def _numbered(lines: Sequence[str], first: int) -> Iterator[str]:
    return (f"{n:6}\t{line}" for n, line in enumerate(lines, first))


def view(path: str, text: str, span: tuple[int, int] | None) -> str:
    """A file with line numbers, or those of its lines (from 1, both inclusive; -1 is the last). What is too long for an
    answer is cut at a line, and says how to go on. Raises Refusal."""
    lines = _lines(text)
    if len(lines) > MAX_LINES:
        raise Refusal(f"File {path} exceeds maximum line limit of {MAX_LINES:,} lines.")
    first, last = _span(span, len(lines)) if span else (1, len(lines))
    shown, room = [f"Here's the content of {path} with line numbers:"], VIEW_CHARS
    for n, line in enumerate(_numbered(lines[first - 1 : last], first), first):
        room -= len(line) + 1
        if room < 0 and n > first:
            return "\n".join([*shown, _further(n, len(lines))])
        shown.append(beginning(line, VIEW_CHARS))
        if room < 0:
            return "\n".join(
                [*shown, f"(line {n} is cut at {VIEW_CHARS:,} characters)", _further(n + 1, len(lines))]
            )
    return "\n".join(shown)


def _further(line: int, total: int) -> str:
    return f"(the file has {total} lines; to see the rest, view it with view_range [{line}, -1])"


def _span(span: tuple[int, int], total: int) -> tuple[int, int]:
    first, last = span
    last = total if last == -1 else last
    if not 1 <= first <= total or last < first:
        raise Refusal(
            f"Error: Invalid `view_range` parameter: {list(span)}. Its first line should be within [1, {total}],"
            " and its last line not before the first, or -1 for the end of the file."
        )
    return first, min(last, total)


def replace_once(path: str, text: str, old: str, new: str) -> Edited:
    """The text with its only `old` replaced. Raises Refusal, which says in which lines there are several."""
    if not old:
        raise Refusal("No replacement was performed, old_str is empty. Use insert to add text.")
    if old == new:
        raise Refusal("No replacement was performed, old_str and new_str are the same.")
    at = [match.start() for match in re.finditer(f"(?={re.escape(old)})", text)]
    if not at:
        raise Refusal(
            f"No replacement was performed, old_str `{_echo(old)}` did not appear verbatim in {path}."
        )
    starts = [text.count("\n", 0, start) + 1 for start in at[:ECHO_CHARS]]
    if len(at) > 1:
        raise Refusal(
            f"No replacement was performed. Multiple occurrences of old_str `{_echo(old)}` in lines:"
            f" {', '.join(map(str, dict.fromkeys(starts)))}. Please ensure it is unique"
        )
    changed = text[: at[0]] + new + text[at[0] + len(old) :]
    return Edited(changed, starts[0], new.count("\n") + 1)


def _echo(text: str) -> str:
    return text if len(text) <= ECHO_CHARS else f"{beginning(text, ECHO_CHARS)}…"


def insert_at(text: str, line: int, added: str) -> Edited:
    """The text with lines added behind that line (0: before the first). Raises Refusal."""
    lines = _lines(text)
    if not 0 <= line <= len(lines):
        raise Refusal(
            f"Error: Invalid `insert_line` parameter: {line}."
            f" It should be within the range of lines of the file: [0, {len(lines)}]"
        )
    new = added.removesuffix("\n").split("\n")
    ends = text.endswith("\n") or (line == len(lines) and added.endswith("\n"))
    changed = "\n".join([*lines[:line], *new, *lines[line:]]) + ("\n" if ends else "")
    return Edited(changed, line + 1, len(new))


def snippet(edited: Edited) -> str:
    """The lines around a change, numbered."""
    lines = _lines(edited.text)
    first = max(edited.line - SNIPPET_LINES, 1)
    shown = lines[first - 1 : edited.line + edited.count - 1 + SNIPPET_LINES]
    cut = "\n".join(_numbered(shown, first))
    return cut if len(cut) <= VIEW_CHARS else f"{beginning(cut, VIEW_CHARS)}\n(cut)"


# ---- directories


def listing(path: str, rows: Mapping[str, Row]) -> str:
    """A directory two levels deep, by the rows below it by their path in it, with sizes; hidden files are left out.
    Long ones are cut and say so."""
    sizes: dict[str, int] = {}
    total = 0
    for name, row in rows.items():
        parts = name.split("/")
        if any(part.startswith(".") for part in parts):
            continue
        size = row.get("size") or 0
        total += size
        for depth in range(1, min(len(parts), LEVELS) + 1):
            node = "/".join(parts[:depth])
            sizes[node] = sizes.get(node, 0) + size
    nodes = sorted(sizes, key=lambda node: node.split("/"))
    shown = [f"{_size(total)}\t{path}", *(f"{_size(sizes[node])}\t{path}/{node}" for node in nodes[:LISTED])]
    if len(nodes) > LISTED:
        shown.append(f"(… and {len(nodes) - LISTED} more; view a directory to see what is in it)")
    head = (
        f"Here're the files and directories up to {LEVELS} levels deep in {path}, excluding hidden items and"
        " node_modules:"
    )
    return "\n".join([head, *shown])


def _size(size: int) -> str:
    if size < 1024:
        return f"{size}B" if size else "0"
    return f"{size / 1024:.1f}K" if size < 1024 * 1024 else f"{size / 1024 / 1024:.1f}M"
