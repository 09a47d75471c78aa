"""Going back: what a memory was becomes what it is, as a change forward.

Whatever is taken back stays absorbed: an extraction whose lines are gone names itself in `applied` all the same, so
that no delivery and no retry brings them back.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from strandline.domain.expiry import ends, expired
from strandline.domain.field_value import FieldValue, joined, minus
from strandline.domain.learning.standing import unsaid
from strandline.domain.line import Line
from strandline.domain.memory import Memory, after, bury, living, read_lines
from strandline.domain.merging import Addition, made_of, without
from strandline.domain.patch import reopened


@dataclass(frozen=True)
class Kept:
    """Something that an extraction said and that is left as it is: `edited`, somebody has changed the line since;
    `adopted`, the owner has made it text of their own; `superseded`, a value has been set anew by another; `deleted`,
    its memory was deleted."""

    text: str
    reason: Literal["edited", "adopted", "superseded", "deleted"]


def restored(current: Memory | None, target: Memory | None, now: str) -> Memory | None:
    """The memory as it was, over what is there; the same where it is so already. A target of None: there was none."""
    there = living(current)
    if target is None:
        return bury(there, now) if there else current
    base = there or after(current, target)
    wanted = replace(
        target,
        path=base.path,
        applied=base.applied,
        undone=tuple(sorted({*target.undone, *set(base.applied).difference(target.applied)})),
        edits=base.edits,
        follows=base.follows,
        updated_at=base.updated_at,
        created_at=target.created_at,
        expires_at=_lasting(target, now),
    )
    same = {name: getattr(there, name) for name in ("created_at", "expires_at", "undone")} if there else {}
    if replace(wanted, **same) == there:
        return current
    return replace(wanted, edits=base.edits + 1, updated_at=max(base.updated_at, now))


def _lasting(target: Memory, now: str) -> str | None:
    """Its time to live begins anew; an end that has passed is none."""
    if target.ttl_seconds:
        return ends(now, target.ttl_seconds)
    return None if expired(target.expires_at, now) else target.expires_at


def undone(
    current: Memory | None, additions: Sequence[Addition], now: str, others: Sequence[Addition] = ()
) -> Memory | None:
    """The file without what these extractions of one session said in it; the same where it is so already.

    What the owner said stays, and what `others` said: values that were replaced hold again, links that they made too
    remain. A file of which nothing is left becomes a gravestone, as does one that is
    still to be made by one of them.
    """
    ids = {addition.extraction for addition in additions}
    there = living(current)
    rest = _filled(_without(there, additions), there, others) if there else None
    if current is None:
        return replace(bury(_unborn(additions[0], now), now), applied=tuple(sorted(ids)))
    known = tuple(sorted({*current.applied, *ids}))
    undone = tuple(sorted({*current.undone, *map(_id, filter(_counts, additions))})) if there else ()
    if rest is there:
        same = (known, undone) == (current.applied, current.undone)
        return current if same else replace(current, applied=known, undone=undone)
    if rest is None:
        return replace(bury(current, now), applied=known)
    edits = current.edits + 1
    return replace(rest, applied=known, undone=undone, edits=edits, updated_at=max(current.updated_at, now))


def _id(addition: Addition) -> str:
    return addition.extraction


def _counts(addition: Addition) -> bool:
    return any(value.merge == "sum" for value in addition.values)


def _without(memory: Memory, additions: Iterable[Addition]) -> Memory | None:
    rest: Memory | None = memory
    for addition in (_in(memory, each) for each in additions):
        if rest and addition.extraction in memory.applied and _says(rest, addition):
            rest = without(rest, addition)
    return rest


def _in(memory: Memory, addition: Addition) -> Addition:
    """What of it may be in the memory: numbers that were taken off once are not taken off again."""
    if addition.extraction not in memory.undone:
        return addition
    return replace(addition, values=tuple(value for value in addition.values if value.merge != "sum"))


def _filled(rest: Memory | None, there: Memory, others: Sequence[Addition]) -> Memory | None:
    """What is left, with the values and links that others gave it."""
    if rest is None or rest is there:
        return rest
    gone = {value.field for value in there.values} - {value.field for value in rest.values}
    back = [v for other in others for v in other.values if v.field in gone and v.merge != "sum"]
    links = {link for other in others for link in other.links if link in there.links}
    full = replace(rest, values=joined((*rest.values, *back)), links=tuple(sorted({*rest.links, *links})))
    return rest if full == rest else made_of(full, rest.lines)


def shares(memory: Memory, additions: Iterable[Addition]) -> bool:
    """Whether others may have given the memory a value or a link that these gave it."""
    places = {(value.field, value.place) for value in memory.values if value.merge != "sum"}
    return any(
        not set(addition.links).isdisjoint(memory.links)
        or any((value.field, value.place) in places for value in addition.values)
        for addition in additions
    )


def _says(memory: Memory, addition: Addition) -> bool:
    """Whether anything in the memory is the addition's."""
    values = {(value.field, value.place) for value in memory.values}
    sums = {value.field for value in memory.values if value.merge == "sum"}
    return (
        not _lines(addition).isdisjoint(memory.lines)
        or not set(addition.patches).isdisjoint(memory.patches)
        or any((value.field, value.place) in values or value.field in sums for value in addition.values)
    )


def _lines(addition: Addition) -> set[Line]:
    return {*addition.lines, *(line for patch in addition.patches for line in patch.lines)}


def _unborn(addition: Addition, now: str) -> Memory:
    return Memory(addition.path, addition.type, addition.title, addition.peer, "", now, now)


def bereft(current: Memory | None, said: Callable[[Line], bool], now: str) -> Memory | None:
    """The file without the lines of which that is true; the same where there are none. One of which nothing is left
    becomes a gravestone."""
    there = living(current)
    if there is None:
        return current
    rest = [line for line in there.lines if not said(line)]
    return current if len(rest) == len(there.lines) else _told(made_of(there, rest), there, now)


@dataclass(frozen=True)
class Forgetting:
    """What of a file is a deleted session's: what names the session; what its lessons `counted` in it, as their
    trajectories tell. `others` have said of it what holds again."""

    session_id: str
    counted: Sequence[Addition] = ()
    others: Sequence[Addition] = ()


def forgotten(current: Memory | None, of: Forgetting, now: str) -> Memory | None:
    """The file without what is the session's; other numbers that were added up stay. The same where there is nothing of
    it."""
    there = living(current)
    if there is None:
        return current
    counted = [_in(there, each) for each in of.counted if each.extraction in there.applied]
    values = _uncounted((value for value in there.values if _stays(value, of.session_id)), counted)
    gone = unsaid(there.links, there.values, values)
    less = replace(
        there,
        patches=tuple(patch for patch in there.patches if patch.source.session_id != of.session_id),
        values=values,
        links=tuple(sorted(set(there.links).difference(gone, *(each.links for each in counted)))),
        undone=tuple(sorted({*there.undone, *map(_id, counted)})),
    )
    ended = set(there.patches) - set(less.patches)
    rest = reopened((line for line in there.lines if line.source.session_id != of.session_id), ended)
    if not rest and all(value.is_hidden for value in less.values):
        less = replace(less, values=())
    if less == there and len(rest) == len(there.lines):
        return current
    return _told(_filled(made_of(less, rest), there, of.others), there, now)


def _uncounted(values: Iterable[FieldValue], counted: Iterable[Addition]) -> tuple[FieldValue, ...]:
    less = tuple(values)
    for addition in counted:
        less = minus(less, addition.values)
    return less


def _stays(value: FieldValue, session_id: str) -> bool:
    return not value.goes_back or not value.is_of(session_id)


def _told(rest: Memory | None, there: Memory, now: str) -> Memory:
    """What is left of a memory, as a version of its own; its gravestone where that is nothing."""
    if rest is None:
        return bury(there, now)
    return replace(rest, edits=there.edits + 1, updated_at=max(there.updated_at, now))


def moved(additions: Iterable[Addition]) -> Callable[[Line], bool]:
    """Which lines of a file are of these, although another took them in: it was moved since."""
    lines = {line for addition in additions for line in _lines(addition)}
    return lines.__contains__


def conflicts(current: Memory | None, additions: Iterable[Addition]) -> list[Kept]:
    """What these extractions said that somebody has changed since."""
    there = living(current)
    if there is None:
        return []
    lines, own = read_lines(there.body)
    texts = {text.removeprefix("- ").strip() for text in own}
    sources = {line.source: line for line in lines}
    found: list[Kept] = []
    for addition in additions:
        for line in sorted(_lines(addition) - set(lines)):
            if line.source in sources:
                found.append(Kept(sources[line.source].text, "edited"))
            elif line.text in texts:
                found.append(Kept(line.text, "adopted"))
        found += _superseded(there, addition)
    return found


def _superseded(memory: Memory, addition: Addition) -> list[Kept]:
    places = {value.field: value.place for value in memory.values if value.merge == "replace"}
    return [
        Kept(value.field, "superseded")
        for value in addition.values
        if value.merge == "replace" and places.get(value.field, value.place) != value.place
    ]
