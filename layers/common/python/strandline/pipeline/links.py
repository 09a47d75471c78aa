"""The other ends of a memory's links: when it is deleted they lead to its replacement, or are removed; when it comes
back they stand on both sides again.

A deletion does this itself, right after its gravestone is written; the gravestone keeps the links, and the deletion's
due marker makes the sweep do what a crash has left. Both sides of a link that an extraction finds are in the same
candidates, so a merge that is repeated completes them, also where the sweep has come in between and taken away what
led to a memory that was still to be written; and one that comes later begins a deleted memory anew with its side. Who
goes back takes links away at their other ends first, and adds others there last, so a crash in between is mended by
adding. So after a heal no link leads to nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial

from strandline.domain.link import Link, remapped
from strandline.domain.memory import Memory, living
from strandline.domain.merging import relinked
from strandline.pipeline.catalogue import lineage
from strandline.pipeline.diff import Effect
from strandline.pipeline.library import Library
from strandline.storage.document import Change
from strandline.storage.layout import User
from strandline.storage.revisions import written

AT_ONCE = 20
"""Other ends that a deletion follows itself; the sweep follows those of a memory that has more."""

_Relink = partial[tuple[Link, ...]]
_Changed = dict[str, Memory]


def follow(services: Library, owner: User, path: str) -> _Changed:
    """Sees to the other ends of what was deleted at `path`, and answers the memories that this changed, by path."""
    found = services.memories.read(owner.memory(path))
    if found is None or not found.value.deleted_at:
        return {}
    grave = replace(found.value, path=path)
    ends = {link.path for link in grave.links} | _learnt_from(services, owner, path)
    wanted = {end: _redirected(grave, end) for end in sorted(ends) if end != path}
    changed = _all_changed(services, owner, wanted)
    if grave.replaced_by:
        changed |= _all_changed(services, owner, {grave.replaced_by: _inherited(grave, grave.replaced_by)})
    return changed


def _learnt_from(services: Library, owner: User, path: str) -> set[str]:
    """The trajectories that have a link to a case or an experience which keeps its newest only."""
    if not path.startswith(("cases/", "experiences/")):
        return set()
    index = services.indexes.read_warm(owner.index("memories"))
    return {end for end, _ in lineage(index.value, path)} if index else set()


def part(services: Library, owner: User, path: str, links: Iterable[Link]) -> _Changed:
    """Takes these links of the memory at `path` away at their other ends; answers the memories that this changed."""
    gone: dict[str, list[Link]] = {}
    for link in links:
        gone.setdefault(link.path, []).append(link.other_end(path))
    return _all_changed(services, owner, {end: partial(_less, gone=tuple(gone[end])) for end in sorted(gone)})


def join(services: Library, owner: User, path: str) -> _Changed:
    """Sees to it that all links of the memory at `path` stand on the other side too; one to what was deleted leads to
    its replacement, or is removed. Answers the memories that this changed, by path."""
    here = _living(services, owner, path)
    changed: _Changed = {}
    for end in sorted({link.path for link in here.links if link.path != path} if here else ()):
        heir = end if _living(services, owner, end) else _heir(services, owner, end)
        if heir != end:
            moved = partial(remapped, gone=end, replacement=heir, here=path)
            changed |= _all_changed(services, owner, {path: moved})
            changed |= _joined(services, owner, end, path)  # it may have been written meanwhile
        changed |= _joined(services, owner, path, heir or path)
    return changed


def completed(services: Library, owner: User, effects: Mapping[str, Iterable[Effect]]) -> _Changed:
    """Sees to the links of files that were written together, by path, where an earlier attempt had come to some of them
    only. Answers the memories that this changed."""
    if not any(effect.again for several in effects.values() for effect in several):
        return {}
    changed: _Changed = {}
    for path in sorted(effects):
        changed |= join(services, owner, path)
    return changed


def _joined(services: Library, owner: User, path: str, end: str) -> _Changed:
    here = _living(services, owner, path)
    ends = tuple(link.other_end(path) for link in here.links if link.path == end) if here else ()
    return _all_changed(services, owner, {end: partial(_with, more=ends)}) if ends and end != path else {}


def _heir(services: Library, owner: User, path: str) -> str | None:
    """What a deleted memory was replaced by, if that is there."""
    found = services.memories.read(owner.memory(path))
    heir = found.value.replaced_by if found else None
    return heir if heir and _living(services, owner, heir) else None


def _living(services: Library, owner: User, path: str) -> Memory | None:
    found = services.memories.read(owner.memory(path))
    return living(found.value) if found else None


def _redirected(grave: Memory, here: str) -> _Relink:
    return partial(remapped, gone=grave.path, replacement=grave.replaced_by, here=here)


def _inherited(grave: Memory, here: str) -> _Relink:
    return partial(_with, more=tuple(link for link in grave.links if link.path != here))


def _with(links: tuple[Link, ...], more: tuple[Link, ...]) -> tuple[Link, ...]:
    return (*links, *more)


def _less(links: tuple[Link, ...], gone: tuple[Link, ...]) -> tuple[Link, ...]:
    return tuple(link for link in links if link not in gone)


def _all_changed(services: Library, owner: User, wanted: dict[str, _Relink]) -> _Changed:
    tried = {path: _changed(services, owner, path, wanted[path]) for path in wanted}
    return {path: memory for path, memory in tried.items() if memory is not None}


def _changed(services: Library, owner: User, path: str, relink: _Relink) -> Memory | None:
    """The memory as it is written with other links; None where they are those it has."""

    def change(current: Memory | None) -> Change[Memory, Memory | None]:
        there = living(current)
        if there is None:
            return Change(None, None)
        wanted = relinked(replace(there, path=path), relink(there.links))
        if wanted.links == there.links:
            return Change(None, None)
        counted = replace(wanted, path=there.path, edits=there.edits + 1)
        return Change(counted, counted, written("merge", current))

    return services.memories.update(owner.memory(path), change)
