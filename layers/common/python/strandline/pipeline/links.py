"""The other ends of a deleted memory's links: they lead to its replacement, or are no more.

A deletion does this itself, right after its gravestone is written; the gravestone keeps the links, and the deletion's
due marker makes the sweep do what a crash has left. Both sides of a link that an extraction finds are in the same
candidates, so a merge that is repeated completes them, and one that comes later begins a deleted memory anew with its
side. So after a heal no link leads to nothing.
"""

from dataclasses import replace
from functools import partial

from strandline.domain.link import Link, remapped
from strandline.domain.memory import Memory, living
from strandline.domain.merging import relinked
from strandline.pipeline.library import Library
from strandline.storage.document import Change
from strandline.storage.layout import User
from strandline.storage.revisions import written

AT_ONCE = 20
"""Other ends that a deletion follows itself; the sweep follows those of a memory that has more."""


def follow(services: Library, owner: User, path: str) -> dict[str, Memory]:
    """Sees to the other ends of what was deleted at `path`, and answers the memories that this changed, by path."""
    found = services.memories.read(owner.memory(path))
    if found is None or not found.value.deleted_at:
        return {}
    grave = replace(found.value, path=path)
    ends = {link.path for link in grave.links if link.path != path}
    changed = {end: _changed(services, owner, end, _redirected(grave, end)) for end in sorted(ends)}
    if grave.replaced_by:
        heir = grave.replaced_by
        changed[heir] = _changed(services, owner, heir, _inherited(grave, heir)) or changed.get(heir)
    return {end: memory for end, memory in changed.items() if memory is not None}


_Relink = partial[tuple[Link, ...]]


def _redirected(grave: Memory, here: str) -> _Relink:
    return partial(remapped, gone=grave.path, replacement=grave.replaced_by, here=here)


def _inherited(grave: Memory, here: str) -> _Relink:
    return partial(_with, more=tuple(link for link in grave.links if link.path != here))


def _with(links: tuple[Link, ...], more: tuple[Link, ...]) -> tuple[Link, ...]:
    return (*links, *more)


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
