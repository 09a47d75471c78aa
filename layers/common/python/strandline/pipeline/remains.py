"""What is left of a deleted session: everything of its life, and what others keep of it.

First what can be seen (the lines in the message index and their vectors, its tasks, its line in the session list),
then what is stored: every version of its segments, archives and tool results, the old heads below its gravestone, and
the old versions and layers of the message index and its vectors, which quote it; then it is told of. All of it may be
repeated, and stops when no more is allowed.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from strandline.domain.contracts import SessionRef
from strandline.domain.events import session_deleted
from strandline.domain.gravestone import deleted_at
from strandline.domain.times import parse
from strandline.pipeline.announce import announce
from strandline.pipeline.catalogue import forget_messages
from strandline.pipeline.embedding import forget_vectors
from strandline.pipeline.library import Library
from strandline.ports import ConditionFailed, IfMatch, Place
from strandline.storage.document import Versioned
from strandline.storage.holdings import erase_page
from strandline.storage.layered import unnamed
from strandline.storage.layout import Life, head_key, layers_of, user_of

AT_ONCE = 5_000  # versions: a thousand take a second or two, and a request has 29
GRAVESTONE_KEPT = timedelta(hours=24)


class Allowance:
    """How many versions one call may still erase."""

    def __init__(self, left: int = AT_ONCE) -> None:
        self.left = left

    def spend(self, gone: Sequence[object]) -> None:
        self.left -= len(gone)


@dataclass
class Erased:
    """How many went; `complete` when nothing is left."""

    counts: Counter[str] = field(default_factory=lambda: Counter(objects=0, versions=0, tasks=0))
    complete: bool = False


Part = Callable[[Library, SessionRef, Counter[str], Allowance], bool]


def erase_life(services: Library, whose: SessionRef, allowed: Allowance, into: Erased) -> Mapping[str, int]:
    """Erases one life of a session as far as is allowed, and counts into `into` as it does.

    Raises StoreError, Unavailable, Aborted: what was counted is gone, repeating goes on.
    """
    parts: tuple[Part, ...] = (_found_lines, _tasks, _objects, _old_heads, _old_indexes, _told)
    into.complete = all(part(services, whose, into.counts, allowed) for part in parts)
    return into.counts


def _found_lines(services: Library, whose: SessionRef, _counts: Counter[str], _allowed: Allowance) -> bool:
    forget_messages(services, user_of(whose), whose.incarnation)
    forget_vectors(services, user_of(whose), "messages")
    _list_line(services, whose)
    return True


def _list_line(services: Library, whose: SessionRef) -> None:
    """The session list shows a successor, whoever wrote the line last, and nothing where there is none."""
    found = services.heads.read(head_key(whose))
    if found is not None and not found.value.buried_at:
        services.sessions.mend(found.value)
        return
    long_ago = services.clock.now() - timedelta(seconds=services.rules.heal_seconds)
    services.sessions.forget(whose, begun_before=long_ago)


def _tasks(services: Library, whose: SessionRef, counts: Counter[str], _allowed: Allowance) -> bool:
    owner = user_of(whose)
    after: str | None = None
    while True:
        page = services.tasks.page(owner, after=after, limit=200)
        for item in page.items:
            if item.get("incarnation") == whose.incarnation:
                services.tasks.forget(owner, item["task_id"])
                counts["tasks"] += 1
        after = page.next
        if after is None:
            return True


def _objects(services: Library, whose: SessionRef, counts: Counter[str], allowed: Allowance) -> bool:
    while allowed.left > 0:
        gone = erase_page(services.objects, Life(whose).prefix)
        allowed.spend(gone)
        counts["versions"] += len(gone)
        counts["objects"] += sum(version.latest and not version.deleted for version in gone)
        if not gone:
            return True
    return False


def _old_heads(services: Library, whose: SessionRef, counts: Counter[str], allowed: Allowance) -> bool:
    return _old_versions(services, head_key(whose), counts, allowed)


def _old_indexes(services: Library, whose: SessionRef, counts: Counter[str], allowed: Allowance) -> bool:
    owner = user_of(whose)
    heads = {
        owner.index("messages"): services.indexes.read(owner.index("messages")),
        owner.vectors("messages"): services.vectors.read(owner.vectors("messages")),
    }
    return all(
        _old_versions(services, key, counts, allowed) and old_layers(services, key, found, counts, allowed)
        for key, found in heads.items()
    )


def old_layers(
    services: Library, key: str, found: Versioned[Any] | None, counts: Counter[str], allowed: Allowance
) -> bool:
    """Every version of the layers that the index, as found, does not name."""
    after: Place | None = None
    while found and allowed.left > 0:
        page = services.objects.versions_below(layers_of(key), after=after)
        gone = set(unnamed({version.key for version in page.versions}, found))
        old = [version for version in page.versions if version.key in gone]
        services.objects.erase(old)
        allowed.spend(old)
        counts["versions"] += len(old)
        if page.next is None:
            return True
        after = page.next
    return not found


def _told(services: Library, whose: SessionRef, _counts: Counter[str], _allowed: Allowance) -> bool:
    """While there is a gravestone, or a successor that knows of one: without, its user may have been erased since,
    journal and all."""
    found = services.heads.read(head_key(whose))
    at = deleted_at(found.value) if found else None
    if at is not None:
        announce(services, session_deleted(whose, at=at))
    return True


def _old_versions(services: Library, key: str, counts: Counter[str], allowed: Allowance) -> bool:
    """Every version of the key but the latest: whoever's that is, it is not touched. Once through: a successor may
    go on making old versions, of itself."""
    while allowed.left > 0:
        found = services.objects.versions_below(key)
        old = [version for version in found.versions if version.key == key and not version.latest]
        services.objects.erase(old)
        allowed.spend(old)
        counts["versions"] += len(old)
        if found.next is None or found.next[0] != key:
            return True
    return False


def clear_grave(services: Library, whose: SessionRef, now: datetime) -> None:
    """Removes the gravestone of this life when it is a day old, so that nothing at all is left under the key.

    A head that somebody has put there since stays. Raises StoreError, Unavailable.
    """
    key = head_key(whose)
    found = services.heads.read(key)
    if found is not None and found.value.incarnation == whose.incarnation:
        buried_at = found.value.buried_at
        if buried_at is None or parse(buried_at) + GRAVESTONE_KEPT > now:
            return
        try:
            services.objects.delete(key, when=IfMatch(found.etag))
        except ConditionFailed:
            return
        found = None
    if found is None:
        _clear(services, key)


def _clear(services: Library, key: str) -> None:
    """What lies below a delete marker, and then the marker: only what was listed, so a new head is not touched."""
    listed = [version for version in services.objects.versions_below(key).versions if version.key == key]
    if any(version.latest and not version.deleted for version in listed):
        return
    services.objects.erase([version for version in listed if not version.latest])
    services.objects.erase([version for version in listed if version.latest])
