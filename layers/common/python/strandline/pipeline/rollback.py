"""rollback: a memory, what a session said, or everything since a time becomes what it was, as a change forward.

in             a memory's version; a session; or a time of the system
out            memories as they were, written by `pipeline/rework.py`: the same compare-and-set, index and events as any
               other change. Nothing is lost: what was there before is a version like any other
commit point   CAS PUT per memory file; of an archive that is not merged yet, also the create-once PUT of its diff, by
               which a merge that is still to come finds it done
on duplicate   a file that is as it should be is left alone
on crash       as in `rework`; the request is repeated

What an extraction said is taken back for good: it counts as absorbed, so no redelivery and no retry brings it back. A
dry run answers the same and changes nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import islice

from strandline.domain.address import archive_id
from strandline.domain.errors import NotFound
from strandline.domain.expiry import alive
from strandline.domain.field_value import as_word
from strandline.domain.learning.counted import counted
from strandline.domain.memory import Memory, extraction_id, living
from strandline.domain.merging import Addition
from strandline.domain.rollback import (
    Forgetting,
    Kept,
    bereft,
    conflicts,
    forgotten,
    moved,
    restored,
    shares,
    undone,
)
from strandline.domain.session import Head, find_archive
from strandline.domain.times import stamp
from strandline.pipeline.catalogue import read_file
from strandline.pipeline.cited import Cited, said
from strandline.pipeline.commit import load_head, no_session
from strandline.pipeline.diff import no_diff
from strandline.pipeline.extract import first_candidates
from strandline.pipeline.learn import unlearn
from strandline.pipeline.learning import teaches
from strandline.pipeline.library import Library
from strandline.pipeline.memory import Guard, checked
from strandline.pipeline.past import changed_since, revision, state_at
from strandline.pipeline.rework import Cause, Rework, Reworked, foresee, rework
from strandline.storage.layout import Life, User
from strandline.storage.log import ref
from strandline.storage.once import write_once

ARCHIVES_AT_ONCE = 20
MEMORIES_AT_ONCE = 100


@dataclass(frozen=True)
class Conflict:
    """What is left as it is, and why: as in `Kept`, or `not_kept`, when the bucket does not know what it was."""

    path: str
    reason: str
    text: str | None = None


@dataclass(frozen=True)
class RolledBack:
    """What was changed, or in a dry run would be; `next` is where to go on after, None when that was all."""

    changed: Sequence[Reworked]
    conflicts: Sequence[Conflict] = ()
    next: str | None = None
    archives: Sequence[str] = ()


@dataclass(frozen=True)
class ToVersion:
    """Which memory is to be what it was in which version. `guard` is given what is there and raises what speaks
    against it."""

    path: str
    version: int
    guard: Guard


def rollback_memory(services: Library, owner: User, wanted: ToVersion, *, dry_run: bool) -> RolledBack:
    """One memory becomes what it was. Raises NotFound for a version that is not kept, and what the guard raises."""
    plain, version = checked(wanted.path), wanted.version
    found = revision(services, owner, plain, version)
    if found is None:
        raise NotFound(
            f"there is no version {version} of memory {plain!r}: its history names what is kept",
            type="memory",
            resource=plain,
        )
    back = _back_to(services, found.living)

    def guarded(current: Memory | None) -> Memory | None:
        following = back(current)
        if following is not current:
            wanted.guard(living(current))
        return following

    return RolledBack(_done(services, owner, {plain: guarded}, f"version {version}", dry_run=dry_run))


def _back_to(services: Library, target: Memory | None) -> Rework:
    return partial(restored, target=target, now=stamp(services.clock.now()))


def _done(
    services: Library, owner: User, reworks: Mapping[str, Rework], why: str, *, dry_run: bool
) -> list[Reworked]:
    """Those that a reader sees something of."""
    cause = Cause("rollback", why)
    done = foresee(services, owner, reworks) if dry_run else rework(services, owner, reworks, cause)
    return [each for each in done if each.how]


# ---- everything since a time


def rollback_since(
    services: Library, owner: User, moment: datetime, *, after: str, dry_run: bool
) -> RolledBack:
    """Every memory whose path comes behind `after` becomes what it was at that time; at most `MEMORIES_AT_ONCE`."""
    since = changed_since(services, owner, moment)
    paths = sorted(path for path in since if path > after)
    some = paths[:MEMORIES_AT_ONCE]
    reworks: dict[str, Rework] = {}
    unknown: list[Conflict] = []
    for path in some:
        known, memory = state_at(services, owner.memory(path), since[path], moment)
        if known:
            reworks[path] = _back_to(services, alive(memory, stamp(moment)))
        else:
            unknown.append(Conflict(path, "not_kept"))
    changed = _done(services, owner, reworks, f"since {stamp(moment)}", dry_run=dry_run)
    return RolledBack(changed, unknown, some[-1] if len(paths) > len(some) else None)


# ---- what a session said


def rollback_session(
    services: Library, owner: User, session_id: str, *, after: str, dry_run: bool
) -> RolledBack:
    """What a session said is taken out of the memories; `after` is the `next` of the page before. What the archives
    of one that is there said, of at most `ARCHIVES_AT_ONCE`, wherever it was moved since; what somebody has changed
    since is listed and stays. Of a deleted one, whose archives are no more, what says of itself that it comes from
    there, and what its trajectories say that its lessons counted, in at most `MEMORIES_AT_ONCE`. Raises NotFound when
    there is nothing of either."""
    try:
        head = load_head(services, owner, session_id)
    except NotFound:
        return _rollback_deleted(services, owner, session_id, after=after, dry_run=dry_run)
    number = int(after) if after.isdecimal() else 0
    return _rollback_archives(services, owner, head, after=number, dry_run=dry_run)


def _rollback_deleted(
    services: Library, owner: User, session_id: str, *, after: str, dry_run: bool
) -> RolledBack:
    cited = _cited_in(services, owner, session_id)
    lessons = _lessons(services, owner, session_id, cited)
    paths = [path for path in sorted({*cited, *lessons}) if path > after]
    if not paths and not after:
        raise no_session(session_id)
    some = paths[:MEMORIES_AT_ONCE]
    anew = Cited(services, owner)
    reworks: dict[str, Rework] = {}
    for path in some:
        of = Forgetting(
            session_id, lessons.get(path, ()), _others_said(services, owner, anew, path, session_id)
        )
        reworks[path] = partial(forgotten, of=of, now=stamp(services.clock.now()))
    why = f"session {session_id}, which was deleted"
    changed = _done(services, owner, reworks, why, dry_run=dry_run)
    return RolledBack(changed, (), some[-1] if len(paths) > len(some) else None)


def _cited_in(services: Library, owner: User, session_id: str) -> list[str]:
    """The memories with a line or a value that cites the session."""
    found = services.indexes.read_warm(owner.index("memories"))
    views = found.value.index.views if found else ()
    told = (view.document(number) for view in views for number in view.numbers())
    word = as_word(session_id)
    return sorted(
        {
            each.group
            for each in told
            if each.attributes.get("session_id") == session_id
            or word in str(each.attributes.get("said_in", "")).split(" ")
        }
    )


def _lessons(
    services: Library, owner: User, session_id: str, cited: Sequence[str]
) -> Mapping[str, Sequence[Addition]]:
    """What the session's lessons have counted, by path, from its trajectories. They come behind all that they have
    counted in by their paths, so they are there until the last of it is taken back."""
    found: dict[str, list[Addition]] = {}
    for path in cited:
        run = read_file(services, owner, path) if path.startswith("trajectories/") else None
        if run is not None and any(value.is_of(session_id) for value in run.values):
            for addition in counted(run):
                found.setdefault(addition.path, []).append(addition)
    return found


def _others_said(
    services: Library, owner: User, anew: Cited, path: str, session_id: str
) -> Sequence[Addition]:
    """What others said of the memory, where values of the session have kept it out."""
    there = read_file(services, owner, path)
    keeps = there and any(value.goes_back and value.is_of(session_id) for value in there.values)
    return anew.others(there, path, ()) if there and keeps else ()


def _rollback_archives(
    services: Library, owner: User, head: Head, *, after: int, dry_run: bool
) -> RolledBack:
    numbers = [
        number for number, _, _ in islice(services.log.archives(head, after + 1), ARCHIVES_AT_ONCE + 1)
    ]
    some = numbers[:ARCHIVES_AT_ONCE]
    additions: dict[str, list[Addition]] = {}
    for number in some:
        if not dry_run:
            _shut(services, owner, head, number)
        for addition in said(services, owner, head, number):
            additions.setdefault(addition.path, []).append(addition)
    left = _conflicts(services, owner, additions)
    reworks = _undoing(services, owner, additions)
    changed = _done(services, owner, reworks, f"session {head.session_id}", dry_run=dry_run)
    rest = str(some[-1]) if len(numbers) > len(some) else None
    return RolledBack(changed, left, rest, list(map(archive_id, some)))


def _undoing(
    services: Library, owner: User, additions: Mapping[str, Sequence[Addition]]
) -> dict[str, Rework]:
    now = stamp(services.clock.now())
    cited = Cited(services, owner)
    reworks: dict[str, Rework] = {}
    for path, found in additions.items():
        for heir in _moved_to(services, owner, path):
            if heir not in additions:
                reworks[heir] = partial(bereft, said=moved(found), now=now)
        others = _others(services, owner, cited, path, found)
        reworks[path] = partial(undone, additions=found, now=now, others=others)
    return reworks


def _others(
    services: Library, owner: User, cited: Cited, path: str, additions: Sequence[Addition]
) -> Sequence[Addition]:
    """What else was said of the memory, where that is needed to know what it is without these."""
    there = read_file(services, owner, path)
    if there is None or not shares(there, additions):
        return ()
    return cited.others(there, path, {addition.extraction for addition in additions})


def _moved_to(services: Library, owner: User, path: str) -> Iterator[str]:
    """Where the memory is that was renamed, or replaced, perhaps more than once."""
    seen = {path}
    while (found := services.memories.read(owner.memory(path))) and found.value.replaced_by not in (
        None,
        *seen,
    ):
        path = str(found.value.replaced_by)
        seen.add(path)
        yield path


def _shut(services: Library, owner: User, head: Head, number: int) -> None:
    """An archive that is still to be merged gives nothing any more: it finds its diff there. Nor does one that is still
    to be learnt from."""
    first = first_candidates(services, ref(head), number)
    if first is None or teaches(first):
        unlearn(services, Life(ref(head)), number)
    if find_archive((*head.pending, *head.failed), number):
        life = Life(ref(head))
        now = stamp(services.clock.now())
        body = no_diff(owner, life, number, extraction_id(head.incarnation, number), now)
        write_once(services.objects, life.archive_file(number, "memory_diff.json"), body)


def _conflicts(services: Library, owner: User, additions: Mapping[str, Sequence[Addition]]) -> list[Conflict]:
    found: list[Conflict] = []
    for path in sorted(additions):
        stored = services.memories.read(owner.memory(path))
        kept: Sequence[Kept] = conflicts(stored.value if stored else None, additions[path])
        found += [Conflict(path, each.reason, each.text) for each in kept]
    return found
