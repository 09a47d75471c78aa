"""rework: many memories are changed at once, each by compare-and-set, with one event for many of them.

in             for each path a pure function from the present file to the wanted one
out            the files, the index, one MemoryChanged for each hundred
commit point   CAS PUT per memory file
on duplicate   a file that is as it should be is left alone; an event of the same changes has the same id
on crash       a due marker is written before the files: the sweep brings the index in step with them and tells of the
               change. Repeating the request does what is left
"""

import difflib
import hashlib
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from strandline.domain.address import memory_uri
from strandline.domain.events import URIS, Happening, memories_changed, with_links
from strandline.domain.link import Link
from strandline.domain.memory import Memory, living
from strandline.domain.times import stamp
from strandline.pipeline.announce import tell
from strandline.pipeline.append import refuse_closed
from strandline.pipeline.catalogue import reindex
from strandline.pipeline.library import Library
from strandline.pipeline.links import follow, join, part
from strandline.ports import StoreError
from strandline.storage.answered import answered
from strandline.storage.document import Change
from strandline.storage.due import Due
from strandline.storage.layout import User, user_ref
from strandline.storage.revisions import written

MAX_DIFF_CHARS = 20_000
Rework = Callable[[Memory | None], Memory | None]
"""What is to become of a file, gravestones included: the same object where it stays as it is."""


@dataclass(frozen=True)
class Reworked:
    """A memory before and after; None where there is none. `written`: also when a reader sees nothing of it."""

    path: str
    before: Memory | None
    after: Memory | None
    written: bool

    @property
    def how(self) -> Literal["added", "updated", "deleted"] | None:
        """What a reader sees of it; None for nothing."""
        if self.before is None or self.after is None:
            return "added" if self.after else "deleted" if self.before else None
        same = (self.before.body, self.before.title, self.before.topic) == (
            self.after.body,
            self.after.title,
            self.after.topic,
        )
        return None if same else "updated"

    @property
    def diff(self) -> str:
        """The difference as a unified diff, cut where it is very long."""
        lines = difflib.unified_diff(
            _lines(self.before), _lines(self.after), "before", "after", n=2, lineterm=""
        )
        return "\n".join(lines)[:MAX_DIFF_CHARS]


def _lines(memory: Memory | None) -> Sequence[str]:
    return memory.body.rstrip("\n").split("\n") if memory else []


@dataclass(frozen=True)
class Cause:
    """What memories are changed for: in one word, and for their history."""

    by: Literal["rollback", "rebuild", "scrub"]
    why: str


def foresee(services: Library, owner: User, reworks: Mapping[str, Rework]) -> list[Reworked]:
    """What would become of these files, and changes nothing: one GET each."""
    found: list[Reworked] = []
    for path in sorted(reworks):
        stored = services.memories.read(owner.memory(path))
        current = stored.value if stored else None
        following = reworks[path](current)
        found.append(Reworked(path, living(current), living(following), following is not current))
    return found


def rework(services: Library, owner: User, reworks: Mapping[str, Rework], cause: Cause) -> list[Reworked]:
    """Changes these files; answers what has become of those that were not as they should be. Raises Unavailable,
    Aborted: repeating is safe."""
    refuse_closed(services, owner)
    foreseen = [each for each in foresee(services, owner, reworks) if each.written]
    done: list[Reworked] = []
    for start in range(0, len(foreseen), URIS):
        done += _some(services, owner, reworks, foreseen[start : start + URIS], cause)
    return done


def _some(
    services: Library,
    owner: User,
    reworks: Mapping[str, Rework],
    foreseen: Sequence[Reworked],
    cause: Cause,
) -> list[Reworked]:
    paths = [each.path for each in foreseen]
    name = _name(foreseen)
    planned = _happening(services, owner, foreseen, cause, name)
    mark = Due(
        services.due_at(),
        "reindex",
        user_ref(owner),
        path="\n".join(paths),
        event=planned.to_dict() if planned else None,
    )
    with answered("the table did not answer; nothing was written, repeat the request"):
        services.due.put(mark)
    base = services.indexes.read(owner.index("memories"))
    linked = _parted(services, owner, foreseen)
    done = [_one(services, owner, path, reworks[path], cause) for path in paths]
    linked += _linked(services, owner, done)
    known = {each.path: each.after for each in done if each.path not in linked}
    reindex(services, owner, [*paths, *linked], base=base, known=known)
    happened = _happening(services, owner, done, cause, name)
    uris = [memory_uri(owner.user_id, path) for path in linked]
    told = [tell(services, each) for each in (with_links(happened, uris) if happened else ())]
    if all(told):
        with suppress(StoreError):  # then the sweep looks once more, and finds nothing to do
            services.due.remove(mark)
    return done


def _parted(services: Library, owner: User, foreseen: Sequence[Reworked]) -> list[str]:
    """Links that the memories are to lose go at their other ends first; those among the memories themselves go with
    them."""
    these = {each.path for each in foreseen}
    return [
        end
        for each in foreseen
        if each.before and each.after
        for end in part(services, owner, each.path, _beyond(each.before, each.after, these))
    ]


def _beyond(memory: Memory, other: Memory, these: Container[str]) -> list[Link]:
    """The links that the memory has and the other has not, to none of these."""
    return [link for link in memory.links if link not in other.links and link.path not in these]


def _linked(services: Library, owner: User, done: Sequence[Reworked]) -> list[str]:
    """The other ends of what was deleted, and of what has links that it had not before."""
    changed: list[str] = []
    losing = {
        each.path for each in done if each.before and each.after and _beyond(each.before, each.after, ())
    }
    for each in done:
        if each.how == "deleted":
            changed += follow(services, owner, each.path)
        elif each.after and _half(each, losing):
            changed += join(services, owner, each.path)
    return changed


def _half(each: Reworked, losing: Container[str]) -> bool:
    """Whether a link of the memory may be missing on its other side."""
    before = each.before.links if each.before else ()
    links = each.after.links if each.after else ()
    return any(link not in before or link.path in losing for link in links)


def _one(services: Library, owner: User, path: str, wanted: Rework, cause: Cause) -> Reworked:
    tried: Reworked | None = None

    def change(current: Memory | None) -> Change[Memory, Reworked]:
        nonlocal tried
        following = wanted(current)
        result = Reworked(path, living(current), living(following), following is not current)
        if following is current:  # an answer may be lost, then it is there already
            return Change(None, tried or result)
        tried = result
        return Change(following, result, written(cause.by, current, cause.why))

    return services.memories.update(owner.memory(path), change)


def _name(foreseen: Iterable[Reworked]) -> str:
    """The same for the same changes of the same files."""
    said = [
        f"{each.path}\0{each.before.version if each.before else 0}\0{each.after.sha256 if each.after else ''}"
        for each in foreseen
    ]
    return hashlib.sha256("\n".join(said).encode()).hexdigest()[:32]


def _happening(
    services: Library, owner: User, changed: Sequence[Reworked], cause: Cause, name: str
) -> Happening | None:
    """What is to be told; None when a reader sees nothing of it."""
    uris: dict[str, list[str]] = {"added": [], "updated": [], "deleted": []}
    for each in changed:
        if each.how:
            uris[each.how].append(memory_uri(owner.user_id, each.path))
    if not any(uris.values()):
        return None
    now = stamp(services.clock.now())
    return memories_changed(user_ref(owner), uris, reason=cause.by, change=name, at=now)
