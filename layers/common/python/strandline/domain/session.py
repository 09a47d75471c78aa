"""The session head: meta, counters and the live tail of one session in one value, and the pure changes to it.

    (none) ──append──▶ live messages ──archive──▶ pending ──settle──▶ done
       ▲                   │  ▲ │                  ▲   │                ▲
       │                 spill  append           retry └─settle──▶ failed ─settle, when it was merged after all
       └──── buried ◀──bury──┘                     └──────────────────┘

Every function here takes a head and answers a new one; any of them may run many times before one result is written.
Seqs are gap-free: live messages are exactly `live_from..last_seq`, in the segments first, then in the tail.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from strandline.domain.errors import Aborted
from strandline.domain.message import ID_HASH_BYTES, Draft, read_line

SPILL_BYTES = 64 * 1024
IDS_KEPT = 1024
KEYED_KEPT = 8
NOTHING_LIVE = "no_messages"
ALL_KEPT = "all_within_keep_window"
CANCELLED = "cancelled by its owner"


@dataclass(frozen=True)
class Segment:
    """Messages spilled from the tail into an immutable object."""

    first: int
    last: int
    tokens: int
    bytes: int


@dataclass(frozen=True)
class Archive:
    """An archive that is not done: seqs `first` to `last`, committed at `at` by the request with key `by`, if it had
    one, for the task `task`, if that was there before. `reason` and `failed_at` are set while it is failed."""

    number: int
    first: int
    last: int
    at: str
    reason: str | None = None
    by: str | None = None
    failed_at: str | None = None
    task: str | None = None


@dataclass(frozen=True)
class Head:
    """One session. `tail` holds the stored JSON lines as bytes, `ids` the hashes of the newest message ids. `follows`:
    when the last session of this name was deleted, if its gravestone was still there. `live_since`: no live message is
    older. `mark` names the due marker by which the sweep finds the session; `compaction` holds its own limits."""

    account_id: str
    user_id: str
    session_id: str
    incarnation: str
    created_at: str
    updated_at: str
    auto_commit_policy: dict[str, Any] | None = None
    memory_policy: dict[str, Any] | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    last_seq: int = 0
    live_from: int = 1
    pending_tokens: int = 0
    segments: tuple[Segment, ...] = ()
    tail: tuple[bytes, ...] = ()
    tail_bytes: int = 0
    ids: bytes = b""
    commit_count: int = 0
    pending: tuple[Archive, ...] = ()
    failed: tuple[Archive, ...] = ()
    keyed: tuple[Archive, ...] = ()
    completed: int = 0
    latest_done: int = 0
    memories_extracted: dict[str, int] = field(default_factory=dict)
    last_message_at: str | None = None
    last_commit_at: str | None = None
    last_auto_commit_at: str | None = None
    auto_commit_last_error: str | None = None
    auto_commit_last_error_at: str | None = None
    buried_at: str | None = None
    follows: str | None = None
    live_since: str | None = None
    mark: str | None = None
    compaction: dict[str, Any] | None = None

    @property
    def live_count(self) -> int:
        return self.last_seq - self.live_from + 1

    @property
    def covered_through(self) -> int:
        """Seq of the last message of the unbroken run of archives from the first on that are done; 0: there is none."""
        return min((archive.first for archive in (*self.pending, *self.failed)), default=self.live_from) - 1

    @property
    def covered_archives(self) -> int:
        """How many archives that run has: the number of its last one."""
        waiting = (archive.number for archive in (*self.pending, *self.failed))
        return min(waiting, default=self.commit_count + 1) - 1

    @property
    def tail_from(self) -> int:
        """Seq of the first message in the tail (last_seq + 1 when it is empty)."""
        return self.last_seq - len(self.tail) + 1


@dataclass(frozen=True)
class Receipt:
    """Where a message stands; `duplicate` when it was there before."""

    id: str
    seq: int
    duplicate: bool


def append(head: Head, drafts: Sequence[Draft], *, now: str) -> tuple[Head, list[Receipt]]:
    """Adds the drafts that are not there yet, in order; the same head when all of them are."""
    receipts, fresh = _receive(head, drafts)
    if not fresh:
        return head, receipts
    lines = tuple(draft.line(head.last_seq + n) for n, draft in enumerate(fresh, start=1))
    ids = head.ids + b"".join(draft.id_hash for draft in fresh)
    grown = replace(
        head,
        last_seq=head.last_seq + len(fresh),
        pending_tokens=head.pending_tokens + sum(draft.tokens for draft in fresh),
        tail=head.tail + lines,
        tail_bytes=head.tail_bytes + sum(map(len, lines)),
        ids=ids[-IDS_KEPT * ID_HASH_BYTES :],
        last_message_at=now,
        live_since=head.live_since if head.live_count else now,
        updated_at=now,
    )
    return grown, receipts


def _receive(head: Head, drafts: Sequence[Draft]) -> tuple[list[Receipt], list[Draft]]:
    seen: dict[str, int] = {}
    receipts: list[Receipt] = []
    fresh: list[Draft] = []
    for draft in drafts:
        known = seen.get(draft.id) or find(head, draft.id_hash)
        if known is None:
            fresh.append(draft)
            seen[draft.id] = head.last_seq + len(fresh)
        receipts.append(Receipt(draft.id, known or seen[draft.id], duplicate=known is not None))
    return receipts, fresh


def find(head: Head, id_hash: bytes) -> int | None:
    """Seq of the message with this id among the newest ones (at least 1,000), or None."""
    at = head.ids.find(id_hash)
    while at >= 0 and at % ID_HASH_BYTES:
        at = head.ids.find(id_hash, at + 1)
    return None if at < 0 else head.last_seq - (len(head.ids) - at) // ID_HASH_BYTES + 1


def expect(head: Head | None, last_seq: int | None) -> None:
    """Raises Aborted with the current value when the caller expected another last seq."""
    current = head.last_seq if head else 0
    if last_seq is not None and last_seq != current:
        raise Aborted(f"expected_last_seq is {last_seq}, the session is at {current}", last_seq=current)


def full(head: Head, incoming: int) -> bool:
    """Whether the tail must be spilled before `incoming` more bytes are added."""
    return bool(head.tail) and head.tail_bytes + incoming > SPILL_BYTES


def tail_segment(head: Head) -> Segment:
    """The segment that the tail becomes when it is spilled: a pure function of what is stored already."""
    tokens = sum(read_line(line)["tokens"] for line in head.tail)
    return Segment(head.tail_from, head.last_seq, tokens, head.tail_bytes)


def spill(head: Head, segment: Segment) -> Head:
    """The front of the tail is in `segment` now. A head whose tail does not begin with it is left as it is."""
    if segment.first != head.tail_from or segment.last > head.last_seq:
        return head
    tail = head.tail[segment.last - segment.first + 1 :]
    return replace(head, segments=(*head.segments, segment), tail=tail, tail_bytes=sum(map(len, tail)))


@dataclass(frozen=True)
class CommitPlan:
    """What a commit would archive: archive number and seq range; `by` and `task` as an archive has them."""

    number: int
    first: int
    last: int
    by: str | None = None
    task: str | None = None


@dataclass(frozen=True)
class Skip:
    """Why there is nothing to commit."""

    reason: str


def plan_commit(head: Head, keep_recent_count: int) -> CommitPlan | Skip:
    """Everything live but the newest `keep_recent_count` messages."""
    if head.live_count <= keep_recent_count:
        return Skip(ALL_KEPT if head.live_count else NOTHING_LIVE)
    return CommitPlan(head.commit_count + 1, head.live_from, head.last_seq - keep_recent_count)


def archive(head: Head, plan: CommitPlan, *, tokens: int, now: str) -> Head | None:
    """The planned range, of that many tokens, leaves live. None when the plan no longer fits: the head has moved on."""
    if plan.number != head.commit_count + 1 or plan.first != head.live_from or plan.last > head.last_seq:
        return None
    cut = max(plan.last - head.tail_from + 1, 0)
    tail = head.tail[cut:]
    archived = Archive(plan.number, plan.first, plan.last, now, by=plan.by, task=plan.task)
    return replace(
        head,
        live_from=plan.last + 1,
        segments=tuple(s for s in head.segments if s.last > plan.last),
        tail=tail,
        tail_bytes=sum(map(len, tail)),
        pending_tokens=head.pending_tokens - tokens,
        commit_count=plan.number,
        pending=(*head.pending, archived),
        keyed=(*head.keyed, archived)[-KEYED_KEPT:] if plan.by else head.keyed,
        live_since=_since(head, tail, plan.last + 1, now),
        last_commit_at=now,
        updated_at=now,
    )


def _since(head: Head, tail: Sequence[bytes], first: int, now: str) -> str | None:
    """No message from `first` on, where the live ones begin, is older. A message says when it was said, which may be
    any time: it came after those before it, and no later than now."""
    if first > head.last_seq or head.live_since is None:
        return None
    if len(tail) < head.last_seq - first + 1:  # it is in a segment
        return head.live_since
    return min(max(head.live_since, str(read_line(tail[0])["created_at"])), now)


def archived_by(head: Head, by: str | None) -> Archive | None:
    """What this request has archived before, if it is among the newest of those that have a key."""
    return next((archive for archive in head.keyed if by and archive.by == by), None)


def find_archive(archives: Iterable[Archive], number: int) -> Archive | None:
    """The one with this number, if it is among them."""
    return next((archive for archive in archives if archive.number == number), None)


def cancelled(head: Head, number: int) -> bool:
    """Whether the owner has called off what follows this archive's commit."""
    return any(archive.number == number and archive.reason == CANCELLED for archive in head.failed)


def settle(head: Head, number: int, *, extracted: dict[str, int], reason: str | None, now: str) -> Head:
    """With a `reason`, a pending archive has failed; without, a pending or failed one is done: its memories are merged.
    Any other archive is left as it is."""
    settled = find_archive(head.pending if reason is not None else (*head.pending, *head.failed), number)
    if settled is None:
        return head
    pending, failed = _without(head.pending, number), _without(head.failed, number)
    if reason is not None:
        failed = _with(failed, replace(settled, reason=reason, failed_at=now))
        return replace(head, pending=pending, failed=failed, updated_at=now)
    totals = head.memories_extracted
    return replace(
        head,
        pending=pending,
        failed=failed,
        completed=head.completed + 1,
        latest_done=max(head.latest_done, number),
        memories_extracted={**totals, **{kind: totals.get(kind, 0) + n for kind, n in extracted.items()}},
        updated_at=now,
    )


def retry(head: Head, number: int, *, now: str) -> Head:
    """A failed archive is pending again. Anything else but failed is left as it is."""
    failed = find_archive(head.failed, number)
    if failed is None:
        return head
    pending = _with(head.pending, replace(failed, reason=None, failed_at=None))
    return replace(head, pending=pending, failed=_without(head.failed, number), updated_at=now)


def _with(archives: Iterable[Archive], added: Archive) -> tuple[Archive, ...]:
    return tuple(sorted((*archives, added), key=lambda archive: archive.number))


def _without(archives: Iterable[Archive], number: int) -> tuple[Archive, ...]:
    return tuple(archive for archive in archives if archive.number != number)
