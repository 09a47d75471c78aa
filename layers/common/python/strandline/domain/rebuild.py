"""A rebuilt memory takes the place of the present one: three of them meet.

`base` is what the archives' extractions said when the memory was merged, `rebuilt` what they say now. What differs
between these two is done to the memory that is there; everything else in it, its owner's edits and deletions above all,
stays.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from strandline.domain.field_value import FieldValue
from strandline.domain.memory import Memory, bury, living
from strandline.domain.merging import made_of
from strandline.domain.patch import reopened
from strandline.domain.rollback import Kept

T = TypeVar("T")


def promoted(
    current: Memory | None, base: Memory | None, rebuilt: Memory | None, now: str, *, whole: bool
) -> Memory | None:
    """The memory with what the rebuild has changed; the same where it has changed nothing. `whole`: of all archives, so
    that a memory that nobody has written to is just what was rebuilt."""
    there = living(current)
    if there is None:
        unknown = current is None and (base is None or whole)
        return rebuilt if unknown else current  # what was deleted stays deleted
    made = rebuilt or base
    if whole and made and there.edits == 0 and set(there.applied) <= set(made.applied):
        wanted = rebuilt and _like(there, rebuilt)
    else:
        wanted = _moved(there, base, rebuilt)
    if wanted is None:
        return bury(there, now)
    if _said(wanted) == _said(there):
        return current
    return replace(
        wanted,
        applied=tuple(sorted({*there.applied, *(rebuilt.applied if rebuilt else ())})),
        edits=there.edits + 1,
        updated_at=max(there.updated_at, wanted.updated_at),
    )


def _like(there: Memory, rebuilt: Memory) -> Memory:
    return replace(
        there,
        title=rebuilt.title,
        body=rebuilt.body,
        values=rebuilt.values,
        patches=rebuilt.patches,
        links=rebuilt.links,
        created_at=rebuilt.created_at,
        updated_at=rebuilt.updated_at,
    )


def _said(memory: Memory) -> tuple[object, ...]:
    return memory.title, memory.body, memory.values, memory.patches, memory.links


def _moved(there: Memory, base: Memory | None, rebuilt: Memory | None) -> Memory | None:
    """The memory with the difference between the other two; None when nothing is left of it."""
    gone = set(base.patches if base else ()) - set(rebuilt.patches if rebuilt else ())
    lines = _shifted(
        reopened(there.lines, gone), base.lines if base else (), rebuilt.lines if rebuilt else ()
    )
    values = _values(there, base, rebuilt)
    moved = replace(
        there,
        values=values,
        patches=tuple(
            sorted(_shifted(there.patches, base.patches if base else (), rebuilt.patches if rebuilt else ()))
        ),
        links=tuple(
            sorted(_shifted(there.links, base.links if base else (), rebuilt.links if rebuilt else ()))
        ),
    )
    unchanged = (moved.values, moved.patches, moved.links) == (there.values, there.patches, there.links)
    if unchanged and set(lines) == set(there.lines):
        return there
    return made_of(moved, lines)


def _shifted(there: Iterable[T], base: Iterable[T], rebuilt: Iterable[T]) -> list[T]:
    """What is there, without what only the base had, with what only the rebuilt has."""
    before, after = set(base), set(rebuilt)
    kept = [each for each in there if each not in before or each in after]
    return [*kept, *(each for each in after - before if each not in kept)]


def _values(there: Memory, base: Memory | None, rebuilt: Memory | None) -> tuple[FieldValue, ...]:
    old = {value.field: value for value in base.values} if base else {}
    new = {value.field: value for value in rebuilt.values} if rebuilt else {}
    found = {value.field: value for value in there.values}
    for field in old.keys() | new.keys():
        if old.get(field) != new.get(field) and found.get(field) == old.get(field):
            found.pop(field, None)
            found |= {field: new[field]} if field in new else {}
    return tuple(found[field] for field in sorted(found))


def left(current: Memory | None, base: Memory | None, rebuilt: Memory | None) -> list[Kept]:
    """What the rebuild would change, had nobody changed it since."""
    before, after = set(base.lines) if base else set(), set(rebuilt.lines) if rebuilt else set()
    there = living(current)
    if there is None:
        gone = current is not None and before != after
        return [Kept(line.text, "deleted") for line in sorted(after - before)] if gone else []
    sources = {line.source: line for line in there.lines}
    return [
        Kept(sources[line.source].text, "edited")
        for line in sorted(before - after)
        if line not in there.lines and line.source in sources and sources[line.source] not in after
    ]
