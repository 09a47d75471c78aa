"""Changes of lines that are there: SEARCH/REPLACE and DELETE of whole lines, and newer facts that end older ones.

Nothing that was said is deleted. A line that is replaced, or that a newer one contradicts, stays in the file with its
end and what ended it. Whatever order extractions are merged in, lines and patches give the same result: patches are
applied in order of conversation, each to the lines said before it as the patches before it have left them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from strandline.domain.line import CONTENT, Closing, Line, Source

NOBODY = "-"
"""What ended a line that nothing took the place of."""


@dataclass(frozen=True, order=True)
class Patch:
    """Lines of one field to be found, word by word and one after the other, and the lines that take their place: none
    ends them. `source` is where the change was said."""

    source: Source
    search: tuple[str, ...]
    lines: tuple[Line, ...] = ()
    field: str = CONTENT

    @property
    def closing(self) -> Closing:
        return Closing(self.source.at, self.lines[0].source.place if self.lines else NOBODY)


@dataclass(frozen=True)
class Skipped:
    """A patch that could not be applied, and why."""

    patch: Patch
    reason: str


def settle(lines: Iterable[Line], patches: Iterable[Patch]) -> tuple[list[Line], list[Skipped]]:
    """All lines in order with their ends, and the patches that found no place, or more than one.

    `lines` are those of the body. What a patch of these has done to them before is done anew.
    """
    ordered = sorted(set(patches))
    current = _contradicted(_fresh(lines, ordered))
    skipped: list[Skipped] = []
    for patch in ordered:
        places = _places(patch, current)
        if len(places) == 1:
            current = _applied(patch, places[0], current)
        else:
            skipped.append(Skipped(patch, _reason(len(places))))
    return current, skipped


def _reason(found: int) -> str:
    return f"its search text stands in {found} places" if found else "its search text is not there"


def reopened(lines: Iterable[Line], patches: Iterable[Patch]) -> list[Line]:
    """The lines without the ends that these patches gave them; where another has ended them too, settling does again.
    An end that nothing took the place of names nobody, so nothing else would take it away."""
    gone = {patch.closing for patch in patches}
    return [_open(line) if line.closing in gone else line for line in lines]


def _fresh(lines: Iterable[Line], patches: Sequence[Patch]) -> list[Line]:
    """The lines as they were before these patches, and without ends whose cause is no longer there."""
    made = {line for patch in patches for line in patch.lines}
    done = {patch.closing for patch in patches}
    kept = {line: line for line in lines if line not in made}
    places = {line.source.place for line in kept} | {NOBODY}
    return sorted(
        line
        if line.closing is None or (line.closing not in done and line.closing.by in places)
        else _open(line)
        for line in kept.values()
    )


def _open(line: Line) -> Line:
    return Line(line.source, line.text, line.field, line.attribute)


def _contradicted(lines: Sequence[Line]) -> list[Line]:
    """Each line ended by the first line of a later message that says another value of the same attribute."""
    by_name: dict[str, list[Line]] = {}
    for line in lines:
        if line.attribute:
            by_name.setdefault(line.attribute.name, []).append(line)
    ends = {line: end for same in by_name.values() for line, end in _ends(same)}
    return [line.ended(ends.get(line)) for line in lines]


def _ends(lines: Sequence[Line]) -> Iterator[tuple[Line, Closing]]:
    """The ends of lines of one attribute, in order. What one message says of it twice is not told apart."""
    turns = [len(lines)] * len(lines)  # the place of the next line that says another value
    for n in range(len(lines) - 2, -1, -1):
        turns[n] = turns[n + 1] if lines[n].attribute == lines[n + 1].attribute else n + 1
    for n, line in enumerate(lines):
        at = turns[n]
        while at < len(lines) and _same(line, lines[at]):
            at = at + 1 if _same_message(line, lines[at]) else turns[at]
        if at < len(lines):
            yield line, Closing(lines[at].source.at, lines[at].source.place)


def _same(line: Line, other: Line) -> bool:
    return line.attribute == other.attribute or _same_message(line, other)


def _same_message(line: Line, other: Line) -> bool:
    one, two = line.source, other.source
    return (one.at, one.session_id, one.archive, one.seq_to) == (
        two.at,
        two.session_id,
        two.archive,
        two.seq_to,
    )


def _places(patch: Patch, lines: Sequence[Line]) -> list[Sequence[Line]]:
    """The runs of lines that the patch looks for, among those said before it that hold when it is said."""
    at = patch.source
    seen = [line for line in lines if line.field == patch.field and line.source < at and _holds(line, at)]
    size = len(patch.search)
    runs = (seen[n : n + size] for n in range(len(seen) - size + 1)) if size else iter(())
    return [run for run in runs if tuple(line.text for line in run) == patch.search]


def _holds(line: Line, at: Source) -> bool:
    return line.closing is None or line.closing.at > at.at


def _applied(patch: Patch, found: Sequence[Line], lines: Iterable[Line]) -> list[Line]:
    ended = set(found)
    return _contradicted(
        sorted({*patch.lines, *(line.ended(patch.closing) if line in ended else line for line in lines)})
    )


def taken_over(lines: Sequence[Line], ends: Iterable[tuple[str, str]]) -> list[Line]:
    """The lines, each that `ends` names first in a pair ended by the other of it, where both are there."""
    known = {spelled(line): line for line in lines}
    newer = {old: known[new] for old, new in ends if old in known and new in known}
    return [
        line.ended(Closing(newer[name].source.at, newer[name].source.place)) if name in newer else line
        for name, line in ((spelled(line), line) for line in lines)
    ]


def spelled(line: Line) -> str:
    """What tells a line from all others."""
    return f"{line.source} {line.text}"
