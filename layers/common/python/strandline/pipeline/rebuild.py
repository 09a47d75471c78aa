"""rebuild: the memories of a user are made again from the archives, beside those that are there.

in             a user; all of its sessions, or one; what the extractions said, or, `again`, what they would say now
out            a shadow tree (`rebuilds/<id>/memories/…`), which nothing else reads; what promoting it would change; and
               when it is promoted, memories changed by `pipeline/rework.py`
commit point   of the rebuild CAS PUT per shadow file, then of its state; of promoting CAS PUT per memory file
on duplicate   a shadow file has absorbed each extraction once; a memory that is as promoted is left alone
on crash       anybody calls `go_on` again, and it continues from the state; extractions that were requested are in the
               extract queue, and requested again when they do not arrive

It is driven by repeated calls, each of a bounded time. Only the extract function may ask a model: for an archive that
is to be extracted again it gets an ExtractRequested that names the rebuild, and stores the candidates for that rebuild.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

from strandline.domain.candidates import Candidates
from strandline.domain.contracts import ExtractRequested
from strandline.domain.errors import FailedPrecondition, NotFound
from strandline.domain.memory import Memory
from strandline.domain.merging import Addition, absorb
from strandline.domain.rebuild import left, promoted
from strandline.domain.session import find_archive
from strandline.domain.times import parse, stamp
from strandline.pipeline import session as sessions
from strandline.pipeline.append import refuse_closed
from strandline.pipeline.extract import candidates_anew, first_candidates
from strandline.pipeline.learn import read_learned
from strandline.pipeline.library import Library
from strandline.pipeline.rework import Cause, Rework, Reworked, foresee, rework
from strandline.pipeline.rollback import Conflict, RolledBack
from strandline.ports import StoreError
from strandline.storage.answered import answered
from strandline.storage.document import Change
from strandline.storage.layout import Life, Rebuild, User
from strandline.storage.once import fetch
from strandline.storage.parsing import shadow_path
from strandline.storage.rebuilds import Archived, Rebuilding, task_of

BUSY = timedelta(seconds=12)
AHEAD = 50
PATIENCE = timedelta(minutes=15)
MAX_ARCHIVES = 20_000
MEMORIES_AT_ONCE = 100


@dataclass(frozen=True)
class Wanted:
    """What is to be rebuilt: everything, or one session, then perhaps with what is live in it; as the extractions said,
    or `again`."""

    again: bool = False
    only: str | None = None
    live: bool = False


def begin(services: Library, owner: User, wanted: Wanted) -> Rebuilding:
    """Begins a rebuild; nothing is rebuilt yet. Raises NotFound for a session that is not there."""
    refuse_closed(services, owner)
    names = [wanted.only] if wanted.only else _sessions(services, owner)
    if wanted.only:
        _head(services, owner, wanted.only)
    pointer = services.rebuilds.read(owner.promoted)
    begun = Rebuilding(
        services.ids.new()[:16],
        stamp(services.clock.now()),
        again=wanted.again,
        only=wanted.only,
        live=wanted.live,
        sessions=tuple(names),
        based_on=pointer.value.identity if pointer else None,
    )
    services.rebuilds.update(Rebuild(owner, begun.identity).state, lambda _: Change(begun, None), absent=True)
    return _noted(services, owner, begun)


def _sessions(services: Library, owner: User) -> list[str]:
    found: list[str] = []
    after: str | None = None
    while True:
        page = sessions.page(services, owner, after=after, limit=200, newest_first=False)
        found += [item["session_id"] for item in page.items]
        after = page.next
        if after is None:
            return found


def look(services: Library, owner: User, identity: str) -> Rebuilding:
    """Raises NotFound."""
    found = services.rebuilds.read(Rebuild(owner, identity).state)
    if found is None:
        raise NotFound(f"there is no rebuild {identity!r}", type="rebuild", resource=identity)
    return found.value


def go_on(services: Library, owner: User, identity: str) -> Rebuilding:
    """Goes on as far as one call can; answers how far it is. Raises NotFound; Unavailable: ask again."""
    refuse_closed(services, owner)
    started = services.clock.now()
    at = look(services, owner, identity)
    while services.clock.now() - started < BUSY:
        following = _step(services, owner, at)
        if following is at:
            break
        at = following
    key = Rebuild(owner, identity).state
    return _noted(services, owner, services.rebuilds.update(key, partial(_further, mine=at)))


def _noted(services: Library, owner: User, at: Rebuilding) -> Rebuilding:
    """Shows it among the tasks; should that fail, the next step does."""
    with suppress(StoreError):
        services.tasks.show(owner, task_of(at))
    return at


def _further(current: Rebuilding | None, *, mine: Rebuilding) -> Change[Rebuilding, Rebuilding]:
    if current is None or current.progress >= mine.progress:
        return Change(None, current or mine)
    return Change(mine, mine)


def _step(services: Library, owner: User, at: Rebuilding) -> Rebuilding:
    if at.found < len(at.sessions):
        return _find(services, owner, at)
    asked = _ask(services, owner, at) if at.again else at
    return _merge(services, owner, asked)


def _find(services: Library, owner: User, at: Rebuilding) -> Rebuilding:
    """The archives of the next session that are merged; of a deleted one none."""
    name = at.sessions[at.found]
    found = list(_archives(services, owner, name, live=at.live))
    if len(at.archives) + len(found) > MAX_ARCHIVES:
        raise FailedPrecondition(f"more than {MAX_ARCHIVES} archives: rebuild session by session")
    return replace(at, archives=(*at.archives, *found), found=at.found + 1)


def _archives(services: Library, owner: User, name: str, *, live: bool) -> Sequence[Archived]:
    found = services.heads.read(owner.head(name))
    if found is None or found.value.buried_at:
        return ()
    head = found.value
    waiting = (*head.pending, *head.failed)
    done = [
        Archived(name, head.incarnation, number, first, last)
        for number, first, last in services.log.archives(head)
        if find_archive(waiting, number) is None
    ]
    if live and head.live_count:
        return [*done, Archived(name, head.incarnation, head.commit_count + 1, head.live_from, head.last_seq)]
    return done


def _head(services: Library, owner: User, name: str) -> None:
    found = services.heads.read(owner.head(name))
    if found is None or found.value.buried_at:
        raise NotFound(f"there is no session {name!r}", type="session", resource=name)


def _ask(services: Library, owner: User, at: Rebuilding) -> Rebuilding:
    """Asks for extractions some way ahead; for all that are missing once more when they have not come for long."""
    now = services.clock.now()
    overdue = bool(at.requested_at) and parse(at.requested_at) + PATIENCE < now
    start = at.merged if overdue else at.requested
    end = min(len(at.archives), at.merged + AHEAD)
    if start >= end:
        return at
    for archive in at.archives[start:end]:
        request = ExtractRequested(
            session=archive.session(owner),
            archive=archive.number,
            first=archive.first,
            last=archive.last,
            task_id=at.identity,
            rebuild=at.identity,
        )
        with answered("the extract queue did not answer; ask again"):
            services.extract_queue.send(request)
    return replace(at, requested=end, requested_at=stamp(now))


def _merge(services: Library, owner: User, at: Rebuilding) -> Rebuilding:
    """The next archive goes into the shadow tree, once its extraction is there."""
    if at.merged == len(at.archives):
        return at
    place, archive = Rebuild(owner, at.identity), at.archives[at.merged]
    stored = _stored(services, owner, archive, at.based_on)
    lesson = read_learned(services, Life(archive.session(owner)), archive.number)
    if not at.again:
        _absorb(services, place.memory, stored, lesson)
        return replace(at, merged=at.merged + 1)
    fresh = candidates_anew(services, place, archive.session(owner), archive.number)
    failed = fresh is None and fetch(services.objects, place.failed(archive.session(owner), archive.number))
    if fresh is None and not failed:
        return at
    _absorb(services, place.base, stored, lesson)
    _absorb(services, place.memory, fresh or stored, lesson)
    return replace(at, merged=at.merged + 1, failed=at.failed + bool(failed))


def _stored(services: Library, owner: User, archive: Archived, based_on: str | None) -> Candidates | None:
    """What the archive's extraction said: the last that was promoted, or the first."""
    whose = archive.session(owner)
    place = Rebuild(owner, based_on) if based_on else None
    found = candidates_anew(services, place, whose, archive.number) if place else None
    return found or first_candidates(services, whose, archive.number)


def _absorb(services: Library, key: Callable[[str], str], *said: Candidates | None) -> None:
    for addition in (each for candidates in said if candidates for each in candidates.additions()):
        services.memories.update(key(addition.path), partial(_absorbed, addition=addition))


def _absorbed(memory: Memory | None, *, addition: Addition) -> Change[Memory, None]:
    grown = absorb(memory, addition)
    return Change(None if grown is memory else grown, None)


# ---- promoting


def promote(services: Library, owner: User, identity: str, *, after: str, dry_run: bool) -> RolledBack:
    """The next memories behind the path `after` become as they were rebuilt, at most `MEMORIES_AT_ONCE`; what somebody
    has changed since is listed and stays. Raises NotFound; FailedPrecondition for a rebuild that is not ready, or that
    holds what is not archived yet."""
    at = look(services, owner, identity)
    if at.status not in ("ready", "promoted"):
        raise FailedPrecondition(f"the rebuild is {at.status}: go on with it first", status=at.status)
    if at.live and not dry_run:
        raise FailedPrecondition("it shows what a commit would bring; to have that, commit the session")
    place = Rebuild(owner, identity)
    paths = sorted(_paths(services, place, after))
    some = paths[:MEMORIES_AT_ONCE]
    reworks: dict[str, Rework] = {}
    conflicts: list[Conflict] = []
    for path in some:
        reworks[path], kept = _rework(services, owner, at, path)
        conflicts += kept
    changed = _done(services, owner, at, reworks, dry_run=dry_run)
    rest = some[-1] if len(paths) > len(some) else None
    if rest is None and not dry_run:
        _ended(services, owner, at)
    return RolledBack(changed, conflicts, rest)


def _done(
    services: Library, owner: User, at: Rebuilding, reworks: Mapping[str, Rework], *, dry_run: bool
) -> list[Reworked]:
    cause = Cause("rebuild", f"rebuild {at.identity}")
    done = foresee(services, owner, reworks) if dry_run else rework(services, owner, reworks, cause)
    return [each for each in done if each.how]


def _paths(services: Library, place: Rebuild, after: str) -> set[str]:
    with answered("the store did not answer; repeat the request"):
        keys = [*services.objects.keys(place.memories), *services.objects.keys(place.bases)]
    return {path for key in keys if (path := shadow_path(key)) > after}


def _rework(services: Library, owner: User, at: Rebuilding, path: str) -> tuple[Rework, list[Conflict]]:
    place = Rebuild(owner, at.identity)
    rebuilt = _value(services, place.memory(path))
    base = _value(services, place.base(path)) if at.again else rebuilt
    present = _value(services, owner.memory(path))
    kept = [Conflict(path, each.reason, each.text) for each in left(present, base, rebuilt)]
    now, whole = stamp(services.clock.now()), at.only is None
    return partial(promoted, base=base, rebuilt=rebuilt, now=now, whole=whole), kept


def _value(services: Library, key: str) -> Memory | None:
    found = services.memories.read(key)
    return found.value if found else None


def _ended(services: Library, owner: User, at: Rebuilding) -> None:
    """What was extracted again is what the archives' extractions say from now on."""
    done = replace(at, promoted_at=stamp(services.clock.now()))
    if at.again and at.only is None:
        services.rebuilds.update(
            owner.promoted, lambda _: Change(replace(done, archives=(), sessions=()), None)
        )
    services.rebuilds.update(Rebuild(owner, at.identity).state, lambda _: Change(done, None))
    _noted(services, owner, done)
