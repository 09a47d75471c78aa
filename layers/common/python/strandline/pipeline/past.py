"""past: memories as they were at an earlier time.

in             a user, and a system time: when a version was written, not when the conversation was
out            a memory, or a catalogue of all of them, as a read, a list or a search would have found them then
cost           of one memory: one listing of its versions and one GET. Of all: one listing for each 1,000 versions that
               the bucket keeps of the user's memories, and one GET for each memory that has changed since
ends           where the bucket's versions end (`NoncurrentVersionDays`). A memory whose state at that time is no longer
               kept is counted, never guessed

A memory that has not changed since is taken from the present index; the others are replaced by their version of then.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from strandline.domain.errors import FailedPrecondition, NotFound
from strandline.domain.expiry import expired
from strandline.domain.memory import Memory
from strandline.domain.times import stamp
from strandline.pipeline.catalogue import changed
from strandline.pipeline.library import Library
from strandline.pipeline.memory import checked, no_memory
from strandline.ports import Version
from strandline.storage.index import Catalogue
from strandline.storage.layout import User
from strandline.storage.parsing import memory_path
from strandline.storage.revisions import Revision, settled

MAX_CHANGED = 1_000


@dataclass(frozen=True)
class Past:
    """What there was at a time. `not_kept` are the paths of memories of which the bucket does not know it any more."""

    catalogue: Catalogue
    not_kept: Sequence[str] = ()


def read_at(services: Library, owner: User, path: str, moment: datetime) -> Memory:
    """A memory as it was. Raises NotFound when there was none, or when it is not kept any more."""
    plain = checked(path)
    key = owner.memory(plain)
    versions = services.revisions.listed(key)
    found = services.revisions.at(key, versions, moment)
    if found is None:
        _refuse_forgotten(services, key, versions, path)
    memory = found.living if found else None
    if memory is None or expired(memory.expires_at, stamp(moment)):
        raise NotFound(f"there was no memory {path!r} at {stamp(moment)}", type="memory", resource=path)
    return replace(memory, path=plain)


def read_version(services: Library, owner: User, path: str, number: int) -> Memory:
    """One version of a memory. Raises NotFound when there is none of that number, or when it is not kept any more."""
    found = revision(services, owner, path, number)
    if found is None or found.living is None:
        raise NotFound(
            f"there is no version {number} of memory {path!r}: its history names what is kept",
            type="memory",
            resource=path,
        )
    return replace(found.living, path=checked(path))


def revision(services: Library, owner: User, path: str, number: int) -> Revision | None:
    """The version of that number, a gravestone too; None when it is not there. Raises NotFound for no memory at all.

    Numbers grow with the versions, but a write that absorbs several archives leaves some out.
    """
    key = owner.memory(checked(path))
    versions = [version for version in services.revisions.listed(key) if not version.deleted]
    if not versions:
        raise no_memory(path)
    low, high = 0, len(versions)
    while low < high:
        middle = (low + high) // 2
        found = services.revisions.read(key, versions[middle])
        if found and found.memory and found.memory.version == number:
            return found
        if found and found.memory and found.memory.version > number:
            low = middle + 1
        else:
            high = middle
    return None


def _refuse_forgotten(services: Library, key: str, versions: Sequence[Version], path: str) -> None:
    """Raises NotFound when something was there before the oldest version that is kept."""
    oldest = services.revisions.read(key, versions[-1]) if versions else None
    if oldest and not oldest.is_first:
        raise NotFound(
            f"what {path!r} was at that time is not kept any more: its versions begin at {oldest.at}",
            type="memory",
            resource=path,
            kept_since=oldest.at,
        )


def catalogue_at(services: Library, owner: User, moment: datetime) -> Past:
    """All memories as they were. Raises FailedPrecondition when too many have changed since for one request."""
    found = services.indexes.read_warm(owner.index("memories"))
    now = found.value if found else Catalogue()
    since = changed_since(services, owner, moment)
    if len(since) > MAX_CHANGED:
        raise FailedPrecondition(
            f"as_of: {len(since)} memories have changed since, at most {MAX_CHANGED} are looked up; "
            "ask for a later time, or read them one by one",
            changed=len(since),
        )
    then: dict[str, Memory | None] = {}
    not_kept: list[str] = []
    for path, versions in since.items():
        known, memory = state_at(services, owner.memory(path), versions, moment)
        then[path] = memory
        if not known:
            not_kept.append(path)
    return Past(changed(now, then) if then else now, not_kept)


def changed_since(services: Library, owner: User, moment: datetime) -> Mapping[str, Sequence[Version]]:
    """The paths of memories that may have changed after that time, with their versions, newest first."""
    found: dict[str, Sequence[Version]] = {}
    for key, versions in services.revisions.below(owner.memories).items():
        parsed = memory_path(key)
        if parsed and not (versions[0].latest and settled(versions[0], moment)):
            found[parsed[1]] = versions
    return found


def state_at(
    services: Library, key: str, versions: Sequence[Version], moment: datetime
) -> tuple[bool, Memory | None]:
    """Whether it is known what was there, and what it was."""
    found = services.revisions.at(key, versions, moment)
    if found is not None:
        return True, found.living
    oldest = services.revisions.read(key, versions[-1])
    return oldest is not None and oldest.is_first, None
