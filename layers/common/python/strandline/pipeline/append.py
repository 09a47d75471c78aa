"""append: messages join a session.

in             a session id (it need not exist yet) and 1 to 100 messages
out            where each message stands, and the session's counters
commit point   CAS PUT of the session head
on duplicate   a message id that is among the newest 1,024 is acknowledged with its seq and not stored again
on crash       before the PUT nothing has happened (at most an unreferenced segment, or a session in the list that
               is not there yet); after it everything has. A lost answer is found again by its write id
cost           warm, one writer: one PUT. Each 64 KiB of messages one PUT more, for the segment. A new session: one
               table write more, for the session list, and one read: is its user being erased?
"""

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from strandline.domain import session
from strandline.domain.errors import Aborted, Conflict, InvalidArgument, Unavailable
from strandline.domain.message import MAX_BATCH, MAX_STORED, Draft, MessageIn, draft, split
from strandline.domain.screening import Redaction, Screened, refuse_secret, screen
from strandline.domain.session import Head, Receipt, Segment
from strandline.domain.times import stamp
from strandline.pipeline.services import Services
from strandline.ports import StoreError
from strandline.storage.document import Change
from strandline.storage.layout import User

SPILLS = 8


@dataclass(frozen=True)
class AppendRequest:
    """Messages for one session of an authenticated owner. Those without an id get one derived from `repeat_key`, when
    there is one, so that the same request sent again is recognised by its messages."""

    owner: User
    session_id: str
    messages: Sequence[MessageIn]
    expected_last_seq: int | None = None
    repeat_key: str | None = None

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
    """The head as written, and where each message stands in it."""

    head: Head
    receipts: Sequence[Receipt]

    @property
    def added(self) -> int:
        return sum(not receipt.duplicate for receipt in self.receipts)


class _NoSession(Exception):
    """There is no head yet, or it is a deleted session's."""


class _TailFull(Exception):
    def __init__(self, head: Head) -> None:
        super().__init__()
        self.head = head


@dataclass(frozen=True)
class _Spilled:
    """A segment that has been written, of one life of the session: its successor has other messages at these seqs."""

    incarnation: str
    segment: Segment


@dataclass(frozen=True)
class _Batch:
    request: AppendRequest
    drafts: Sequence[Draft]
    now: str

    def change(
        self, head: Head | None, *, base: Head | None, spilled: _Spilled | None
    ) -> Change[Head, Appended]:
        current = base if head is None or head.buried_at else head
        if current is None:
            raise _NoSession
        if spilled is not None and spilled.incarnation == current.incarnation:
            current = session.spill(current, spilled.segment)
        grown, receipts = session.append(current, self.drafts, now=self.now)
        if grown is not current:
            session.expect(head, self.request.expected_last_seq)
        if session.full(current, grown.tail_bytes - current.tail_bytes):
            raise _TailFull(current)
        return Change(None if grown is current else grown, Appended(grown, receipts))


def run_append(services: Services, request: AppendRequest) -> Appended:
    """Appends the messages, all or none.

    Raises InvalidArgument, PayloadTooLarge; Aborted when `expected_last_seq` is not the session's, or after too many
    lost races: nothing was written; Unavailable when the store did not answer: repeating is safe.
    """
    if not 1 <= len(request.messages) <= MAX_BATCH:
        raise InvalidArgument(
            f"a batch holds 1 to {MAX_BATCH} messages, this one holds {len(request.messages)}"
        )
    if services.rules.redaction is Redaction.REDACT:
        refuse_secret("session_id", request.session_id)
    batch = _Batch(request, _drafts(services, request), stamp(services.clock.now()))
    base: Head | None = None
    spilled: _Spilled | None = None
    key = request.owner.head(request.session_id)
    for _ in range(SPILLS):
        try:
            change = partial(batch.change, base=base, spilled=spilled)
            done = services.heads.update(key, change, absent=base is not None)
        except _TailFull as full:
            spilled = _Spilled(full.head.incarnation, session.tail_segment(full.head))
            services.log.spill(full.head, spilled.segment)
        except _NoSession:
            session.expect(None, request.expected_last_seq)
            base = new_head(services, request.owner, request.session_id)
            note(services, base)
        else:
            list_winner(services, base, done.head)
            return done
    raise Aborted("too many writers at once; nothing was written, repeat the request")


def note(services: Services, head: Head) -> None:
    """Puts a new session into the session list. Raises Conflict while its user is being erased, Unavailable."""
    refuse_closed(services, User(head.account_id, head.user_id))
    try:
        services.sessions.note(head)
    except StoreError as error:
        raise Unavailable("the table did not answer; nothing was written, repeat the request") from error


def refuse_closed(services: Services, owner: User) -> None:
    """Raises Conflict while the user or its account is being erased: what is begun now would be erased with it."""
    try:
        closed = services.erasures.closed(owner)
    except StoreError as error:
        raise Unavailable("the table did not answer; nothing was written, repeat the request") from error
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


def _drafts(services: Services, request: AppendRequest) -> Sequence[Draft]:
    now = services.clock.now()
    parts = [part for message in request.named(services.ids.new) for part in split(message)]
    if len(parts) > MAX_STORED:
        raise InvalidArgument(
            f"a request stores at most {MAX_STORED} messages, this one {len(parts)}: send less"
        )
    return [_draft(services, screen(part, services.rules.redaction), now) for part in parts]


def _draft(services: Services, screened: Screened, now: datetime) -> Draft:
    message = screened.message
    tokens = sum(map(services.tokens.count, message.texts()))
    return draft(message, message_id=message.id or "", now=now, tokens=tokens, flags=screened.flags)
