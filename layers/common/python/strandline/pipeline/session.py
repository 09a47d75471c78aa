"""Sessions: create, look, list, delete.

Creating and deleting have one commit point each: the head's first PUT, and the PUT that puts a gravestone in its
place. A gravestone holds nothing that was said; it keeps a late answer to an old request from bringing the session
back, and the sweep removes it a day later.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from strandline.domain.contracts import EraseRequested, SessionRef
from strandline.domain.errors import Aborted, AlreadyExists, FailedPrecondition, NotFound, Unavailable
from strandline.domain.gravestone import bury
from strandline.domain.redaction import redact_value
from strandline.domain.repeat import Repeat
from strandline.domain.screening import Redaction, refuse_secret
from strandline.domain.session import Head
from strandline.domain.times import parse, stamp
from strandline.pipeline.append import begin, new_head, note
from strandline.pipeline.commit import load_head, no_session
from strandline.pipeline.library import Library
from strandline.pipeline.remains import Allowance, Erased, erase_life
from strandline.pipeline.services import Services
from strandline.ports import Page, StoreError
from strandline.storage.answered import answered
from strandline.storage.document import Change
from strandline.storage.due import Due
from strandline.storage.layout import User
from strandline.storage.log import ref


@dataclass(frozen=True)
class NewSession:
    """What a client may fix when a session is created. `auto_commit_policy` is what it will be, defaults applied."""

    owner: User
    session_id: str
    auto_commit_policy: dict[str, int] | None
    memory_policy: dict[str, Any] | None
    metadata: dict[str, Any]
    repeat: Repeat | None = None
    compaction: dict[str, Any] | None = None


def create(services: Services, wanted: NewSession) -> Head:
    """A new, empty session, its metadata without secrets. An earlier attempt of the same request is known by the
    incarnation that is derived from it.

    Raises AlreadyExists; InvalidArgument for an id that is a secret; FailedPrecondition when what that attempt created
    was deleted since; Unavailable.
    """
    redacting = services.rules.redaction is Redaction.REDACT
    if redacting:
        refuse_secret("session_id", wanted.session_id, services.rules.allowed)
    new = new_head(services, wanted.owner, wanted.session_id)
    if wanted.repeat:
        new = replace(new, incarnation=wanted.repeat.derived("incarnation"))
    there = services.heads.read(wanted.owner.head(wanted.session_id))
    if there is not None and (there.value.incarnation == new.incarnation or not there.value.buried_at):
        return _ours(there.value, new)
    head = replace(
        new,
        auto_commit_policy=wanted.auto_commit_policy,
        memory_policy=wanted.memory_policy,
        compaction=wanted.compaction,
        metadata=redact_value(wanted.metadata, services.rules.allowed)[0] if redacting else wanted.metadata,
    )
    return _ours(_create(services, head), head)


def _ours(found: Head, new: Head) -> Head:
    """What was found, if it is what this request makes or has made: a life never begins twice."""
    if found.incarnation != new.incarnation:
        raise AlreadyExists(
            f"there is a session {new.session_id!r} already", type="session", resource=new.session_id
        )
    if found.buried_at:
        raise FailedPrecondition("the session that this request created has been deleted since")
    return found


def _create(services: Services, head: Head) -> Head:
    """Creates the session, or answers the one that is there."""
    note(services, head)
    return begin(services, head)


def ensure(services: Services, owner: User, session_id: str) -> Head:
    """The session, created with the deployment's default policy when it is not there."""
    try:
        return load_head(services, owner, session_id)
    except NotFound:
        return _create(services, new_head(services, owner, session_id))


def generated_id(services: Services, repeat: Repeat | None = None) -> str:
    """`YYYYMMDD-HHMMSS-<16 hex>`, in UTC; the same in every attempt of one request."""
    at = parse(repeat.at) if repeat else services.clock.now()
    digits = repeat.derived("session id") if repeat else services.ids.new()
    return f"{at:%Y%m%d-%H%M%S}-{digits[:16]}"


def page(
    services: Services, owner: User, *, after: str | None, limit: int, newest_first: bool = True
) -> Page:
    """One page of the session list, in order of creation."""
    with answered():
        return services.sessions.page(owner, after=after, limit=limit, newest_first=newest_first)


def delete(services: Library, owner: User, session_id: str) -> Erased:
    """Deletes the session and everything of it; its memories stay. Answers what went, as far as one request can; the
    rest is the business of the erase queue.

    Raises NotFound, Unavailable: nothing was deleted.
    """
    key = owner.head(session_id)
    found = services.heads.read(key)
    if found is None:
        raise no_session(session_id)
    if found.value.buried_at:
        _erase(services, ref(found.value))
        raise no_session(session_id)
    _mark(services, ref(found.value))
    now = stamp(services.clock.now())
    buried = services.heads.update(key, partial(_bury, incarnation=found.value.incarnation, now=now))
    if buried is None:
        raise no_session(session_id)
    return _erase(services, ref(buried))


def _mark(services: Services, whose: SessionRef) -> None:
    with answered("the table did not answer; nothing was deleted, repeat the request"):
        services.due.put(Due(services.due_at(), "bury", whose))


def _bury(head: Head | None, *, incarnation: str, now: str) -> Change[Head, Head | None]:
    if head is None or head.buried_at or head.incarnation != incarnation:
        return Change(None, None)
    grave = bury(head, now=now)
    return Change(grave, grave)


def _erase(services: Library, whose: SessionRef) -> Erased:
    """What a store that does not answer leaves is erased later: the session is gone all the same."""
    done = Erased()
    with suppress(StoreError, Unavailable, Aborted):
        erase_life(services, whose, Allowance(), done)
    if not done.complete:
        with suppress(StoreError):
            services.erase_queue.send(EraseRequested(scope="session", session=whose))
    return done
