"""restore: what is derived is made again from the bucket.

in             the bucket, or one account's or user's part of it
out            the session list; due markers of pending archives and of deleted sessions, from which the sweep goes on;
               the index of memories and that of messages, where they are not there or cannot be read
commit point   none of its own: each item and index is written by itself
on duplicate   it writes what is there already
on crash       run it again
cost           one list request for each 1,000 objects, one GET for each session; for a user without an index one for
               each memory and each archive besides

What it cannot restore is made anew by an administrator (accounts, users, keys), or is past (answers kept for repeats,
tasks that have ended).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from strandline.domain.errors import Corrupt
from strandline.domain.message import read_line
from strandline.domain.ranking import Document
from strandline.domain.session import Head, find_archive
from strandline.domain.times import stamp
from strandline.pipeline.catalogue import index_messages, reindex
from strandline.pipeline.commit import extract_request
from strandline.pipeline.documents import message_documents, message_group
from strandline.pipeline.library import Library
from strandline.storage.due import Due
from strandline.storage.layout import ROOT, User, layers_of, user_of, user_ref
from strandline.storage.log import ref
from strandline.storage.parsing import memory_path, session_of_head

MEMORIES_AT_ONCE = 500


@dataclass
class Restored:
    """What was found and made again."""

    sessions: int = 0
    pending: int = 0
    deleted: int = 0
    indexes: int = 0
    users: dict[User, "Kept"] = field(default_factory=dict)

    def counts(self) -> Mapping[str, int]:
        plain = ("sessions", "pending", "deleted", "indexes")
        return {"users": len(self.users), **{name: getattr(self, name) for name in plain}}


@dataclass
class Kept:
    """What of a user lies in the bucket: paths of memories, sessions that live."""

    memories: list[str] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)


def run_restore(services: Library, prefix: str = f"{ROOT}/") -> Mapping[str, int]:
    """Restores what lies below `prefix`; answers how many users, sessions, pending archives, deleted sessions and
    indexes there were. Raises StoreError or Unavailable when a store does not answer: run it again."""
    done = Restored()
    now = services.clock.now()
    for key in services.objects.keys(prefix):
        memory, session = memory_path(key), session_of_head(key)
        if memory is not None:
            done.users.setdefault(memory[0], Kept()).memories.append(memory[1])
        elif session is not None:
            head = _session(services, key, done, now)
            if head is not None:
                done.users.setdefault(user_of(session), Kept()).sessions.append(session.session_id)
    for owner, kept in done.users.items():
        done.indexes += _indexes(services, owner, kept)
        _watch_expiry(services, owner)
    return done.counts()


def _watch_expiry(services: Library, owner: User) -> None:
    """The markers by which the sweep finds what has expired."""
    found = services.indexes.read(owner.index("memories"))
    for path, row in found.value.files.items() if found else ():
        if row.get("expires_at"):
            services.due.put(Due(row["expires_at"], "expire", user_ref(owner), path=path))


def _session(services: Library, key: str, done: Restored, now: datetime) -> Head | None:
    """The session's list line and markers. None for what is left of a deleted one."""
    found = services.heads.read(key)
    if found is None:
        return None
    head = found.value
    if head.buried_at:
        done.deleted += 1
        services.due.put(Due(stamp(now), "bury", ref(head)))
        return None
    done.sessions += 1
    services.sessions.note(head)
    _mark(services, head, now)
    for archive in head.pending:
        done.pending += 1
        request = extract_request(ref(head), archive)
        services.due.put(Due(stamp(now), "heal", ref(head), archive=archive.number, task_id=request.task_id))
    return head


def _mark(services: Library, head: Head, now: datetime) -> None:
    """The marker by which the sweep finds a session that may have fallen silent. One that has none and needs one gets
    it with its next message."""
    if head.mark:
        services.due.put(Due(stamp(now), "idle", ref(head), mark=head.mark, since=stamp(now)))


def _indexes(services: Library, owner: User, kept: Kept) -> int:
    """Makes the indexes that are not there; answers how many."""
    made = 0
    if kept.memories and _lost(services, owner.index("memories")):
        for start in range(0, len(kept.memories), MEMORIES_AT_ONCE):
            base = services.indexes.read(owner.index("memories"))
            paths = kept.memories[start : start + MEMORIES_AT_ONCE]
            reindex(services, owner, paths, base=base, known={})
        made += 1
    if kept.sessions and _lost(services, owner.index("messages")):
        for session_id in kept.sessions:
            index_messages(services, owner, dict(_messages(services, owner, session_id)))
        made += services.indexes.read(owner.index("messages")) is not None
    return made


def _lost(services: Library, key: str) -> bool:
    """Whether there is no index, or none that can be read; what is left of such a one is removed."""
    try:
        if services.indexes.read(key) is not None:
            return False
    except Corrupt:
        services.objects.delete(key)
    for layer in list(services.objects.keys(layers_of(key))):
        services.objects.delete(layer)
    return True


def _messages(services: Library, owner: User, session_id: str) -> Iterator[tuple[str, Sequence[Document]]]:
    """The documents of every archive that is merged, by their group."""
    found = services.heads.read(owner.head(session_id))
    if found is None or found.value.buried_at:
        return
    head = found.value
    for number, first, last in services.log.archives(head):
        if find_archive((*head.pending, *head.failed), number) is None:
            lines: Iterable[bytes] = services.log.archived(ref(head), number, first, last) or ()
            group = message_group(head.incarnation, number)
            yield group, list(message_documents(group, session_id, map(read_line, lines)))
