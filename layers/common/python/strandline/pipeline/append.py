"""append: messages join a session.

in             a session id (it need not exist yet) and 1 to 100 messages
out            where each message stands, and the session's counters
commit point   CAS PUT of the session head
on duplicate   a message id that is among the newest 1,024 is acknowledged with its seq and not stored again
on crash       before the PUT nothing has happened (at most there is an unreferenced segment, tool output or due marker,
               a session without messages, or an entry in the list for a session that does not exist yet); after it,
               everything has. A write whose answer was lost is found by its id. A commit that was not requested any
               more is requested by the next write
cost           warm, one writer: one PUT. Each 64 KiB of messages one PUT more, for the segment. A new session: one
               table write more, for the session list, and one read: is its user being erased? A session with a
               policy: one table write with its first live message, so that the sweep finds it. A tool output of more
               than 20,000 characters: one PUT more, of the output, before the head that refers to it, and another for
               the empty head when the session is new
"""

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from strandline.domain import session
from strandline.domain.auto_commit import Triggers, wants_marker
from strandline.domain.errors import Aborted, Conflict, InvalidArgument, NotFound
from strandline.domain.gravestone import born, deleted_at
from strandline.domain.message import MAX_BATCH, MessageIn
from strandline.domain.screening import Redaction, refuse_secret
from strandline.domain.session import Head, Receipt, Segment
from strandline.domain.times import parse, stamp
from strandline.pipeline.intake import Intake, take_in
from strandline.pipeline.services import Services
from strandline.pipeline.trigger import run_trigger
from strandline.ports import StoreError
from strandline.storage.answered import answered
from strandline.storage.document import Change
from strandline.storage.due import Due
from strandline.storage.layout import User, head_key
from strandline.storage.log import ref

SPILLS = 8
TWO_CLOCKS = timedelta(seconds=5)
"""As far as the clock of the queue and that of the deletion may be apart: in doubt a message is kept."""


@dataclass(frozen=True)
class AppendRequest:
    """Messages for one session of an authenticated owner. Those without an id get one derived from `repeat_key`, when
    there is one, so that the same request sent again is recognised by its messages. `sent_at` is known of a request
    that came by a queue: what was sent before the session was deleted went with it."""

    owner: User
    session_id: str
    messages: Sequence[MessageIn]
    expected_last_seq: int | None = None
    repeat_key: str | None = None
    sent_at: datetime | None = None

    def named(self, new_id: Callable[[], str]) -> Sequence[MessageIn]:
        """The messages, each with an id."""
        return [
            m if m.id else m.model_copy(update={"id": f"msg_{self._derived(n) or new_id()}"})
            for n, m in enumerate(self.messages)
        ]

    def _derived(self, position: int) -> str | None:
        if self.repeat_key is None:
            return None
        return hashlib.sha256(f"{position}/{self.repeat_key}".encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Appended:
    """The head as written, where each message stands in it, and the task of a commit that it has set going."""

    head: Head
    receipts: Sequence[Receipt]
    task_id: str | None = None

    @property
    def added(self) -> int:
        return sum(not receipt.duplicate for receipt in self.receipts)


class SentBeforeDeletion(NotFound):
    """The session was deleted after the request was sent."""


@dataclass(frozen=True)
class _Spilled:
    """A segment that has been written, of one life of the session: its successor has other messages at these seqs."""

    incarnation: str
    segment: Segment


@dataclass(frozen=True)
class _Ready:
    """What has been written for the append: a segment; the tool outputs, in that incarnation; a due marker. `base` is
    what the session begins with, when it is not there; over the gravestone of that life, or over nothing."""

    base: Head | None = None
    over: str | None = None
    spilled: _Spilled | None = None
    outputs_in: str | None = None
    marker: Due | None = None


class _Missing(Exception):
    """The head cannot be written yet: `make` writes first what is missing."""

    def __init__(self, make: Callable[[Services, "_Batch", _Ready], _Ready]) -> None:
        super().__init__()
        self.make = make


def _living(head: Head | None, ready: _Ready) -> Head:
    """The session as it is, or as it begins. Raises _Missing while there is nothing to begin with. A life that was
    begun for this may have been deleted since, and others after it: it begins over what it was made for, or not."""
    if head is not None and not head.buried_at:
        return head
    grave = head.incarnation if head else None
    if ready.base is None or grave != ready.over:
        raise _Missing(partial(_begin_with, over=grave))
    return born(ready.base, head)


@dataclass(frozen=True)
class _Batch:
    request: AppendRequest
    intake: Intake
    now: str
    triggers: Triggers

    def change(self, head: Head | None, *, ready: _Ready) -> Change[Head, Appended]:
        self._refuse_what_was_deleted(head)
        current = _living(head, ready)
        if ready.spilled is not None and ready.spilled.incarnation == current.incarnation:
            current = session.spill(current, ready.spilled.segment)
        grown, receipts = session.append(current, self.intake.drafts, now=self.now)
        if grown is not current:
            session.expect(head, self.request.expected_last_seq)
            if self.intake.outputs and ready.outputs_in != current.incarnation:
                raise _Missing(partial(_write_outputs, head=current))
            grown = self._marked(grown, ready.marker)
        if session.full(current, grown.tail_bytes - current.tail_bytes):
            raise _Missing(partial(_spill, head=current))
        return Change(None if grown is current else grown, Appended(grown, receipts))

    def _marked(self, head: Head, marker: Due | None) -> Head:
        look = wants_marker(head, parse(self.now), self.triggers)
        if look is None:
            return head
        if marker is None or marker.session.incarnation != head.incarnation:
            raise _Missing(partial(_put_marker, due=Due(stamp(look), "idle", ref(head))))
        return replace(head, mark=marker.mark)

    def _refuse_what_was_deleted(self, head: Head | None) -> None:
        deleted, sent = deleted_at(head), self.request.sent_at
        if deleted and sent and sent + TWO_CLOCKS < parse(deleted):
            raise SentBeforeDeletion("the session was deleted after this was sent")


def run_append(services: Services, request: AppendRequest) -> Appended:
    """Appends the messages, all or none.

    Raises InvalidArgument, PayloadTooLarge; SentBeforeDeletion; Aborted when `expected_last_seq` is not the session's,
    or after too many lost races: nothing was written; Unavailable when the store did not answer: repeating is safe.
    """
    if not 1 <= len(request.messages) <= MAX_BATCH:
        raise InvalidArgument(
            f"a batch holds 1 to {MAX_BATCH} messages, this one holds {len(request.messages)}"
        )
    if services.rules.redaction is Redaction.REDACT:
        refuse_secret("session_id", request.session_id, services.rules.allowed)
    intake = take_in(services, request.named(services.ids.new))
    batch = _Batch(request, intake, stamp(services.clock.now()), services.rules.triggers)
    ready = _Ready()
    key = request.owner.head(request.session_id)
    for _ in range(SPILLS):
        try:
            change = partial(batch.change, ready=ready)
            done = services.heads.update(key, change, absent=ready.base is not None)
        except _Missing as missing:
            ready = missing.make(services, batch, ready)
        else:
            list_winner(services, ready.base, done.head)
            return replace(done, task_id=run_trigger(services, done.head))
    raise Aborted("too many writers at once; nothing was written, repeat the request")


def _begin_with(services: Services, batch: _Batch, ready: _Ready, *, over: str | None) -> _Ready:
    """A session that is not there yet."""
    session.expect(None, batch.request.expected_last_seq)
    base = new_head(services, batch.request.owner, batch.request.session_id)
    note(services, base)
    return replace(ready, base=base, over=over)


def _spill(services: Services, _: _Batch, ready: _Ready, *, head: Head) -> _Ready:
    """The tail as a segment, when it would become too long."""
    segment = session.tail_segment(head)
    services.log.spill(head, segment)
    return replace(ready, spilled=_Spilled(head.incarnation, segment))


def _put_marker(services: Services, _: _Batch, ready: _Ready, *, due: Due) -> _Ready:
    """The marker by which the sweep finds the session when it has fallen silent, before the head that names it."""
    marker = replace(due, mark=services.ids.new()[:16], since=stamp(services.clock.now()))
    with answered("the table did not answer; nothing was written, repeat the request"):
        services.due.put(marker)
    return replace(ready, marker=marker)


def _write_outputs(services: Services, batch: _Batch, ready: _Ready, *, head: Head) -> _Ready:
    """Writes the outputs in this life of the session. One that is not there yet begins first, empty: what a crash
    leaves must lie where the session's deletion finds it."""
    if ready.base is not None and head.incarnation == ready.base.incarnation:
        head = begin(services, ready.base)
    if head.buried_at:  # begun and deleted in the meantime: a life never begins twice
        return _begin_with(services, batch, ready, over=head.incarnation)
    for output in batch.intake.outputs:
        services.tool_results.put(ref(head), output)
    return replace(ready, outputs_in=head.incarnation)


def begin(services: Services, head: Head) -> Head:
    """Writes a session's first head, or answers the one that is there."""
    key = head_key(ref(head))
    found = services.heads.update(key, partial(_first, head=head))
    list_winner(services, head, found)
    return found


def _first(current: Head | None, *, head: Head) -> Change[Head, Head]:
    if current is None or (current.buried_at and current.incarnation != head.incarnation):
        first = born(head, current)
        return Change(first, first)
    return Change(None, current)


def note(services: Services, head: Head) -> None:
    """Puts a new session into the session list. Raises Conflict while its user is being erased, Unavailable."""
    refuse_closed(services, User(head.account_id, head.user_id))
    with answered("the table did not answer; nothing was written, repeat the request"):
        services.sessions.note(head)


def refuse_closed(services: Services, owner: User) -> None:
    """Raises Conflict while the user or its account is being erased: what is begun now would be erased with it."""
    with answered("the table did not answer; nothing was written, repeat the request"):
        closed = services.erasures.closed(owner)
    if closed:
        raise Conflict("this user is being erased; begin anew when that is over")


def list_winner(services: Services, ours: Head | None, found: Head) -> None:
    """Of two that create a session at once, the second finds the first one's: the list shows that again."""
    if ours is not None and found.incarnation != ours.incarnation:
        with suppress(StoreError):
            services.sessions.note(found)


def new_head(services: Services, owner: User, session_id: str) -> Head:
    """An empty session with the deployment's default policy."""
    now = stamp(services.clock.now())
    policy = services.rules.default_policy
    return Head(
        account_id=owner.account_id,
        user_id=owner.user_id,
        session_id=session_id,
        incarnation=services.ids.new(),
        created_at=now,
        updated_at=now,
        auto_commit_policy=policy.to_dict() if policy else None,
    )
