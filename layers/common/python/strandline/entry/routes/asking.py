"""What every route needs to know of the request it answers, and lists cut into pages."""

import base64
import binascii
import hashlib
import hmac
from datetime import datetime
from typing import Any
from urllib.parse import unquote

from aws_lambda_powertools.event_handler.api_gateway import Router

from strandline.domain.address import visible
from strandline.domain.errors import InvalidArgument, PermissionDenied
from strandline.domain.times import parse, stamp
from strandline.entry import identity
from strandline.entry.identity import caller, identifier, identify, named
from strandline.entry.settings import settings
from strandline.pipeline.memory import Guard, matching, no_memory
from strandline.ports import Clock
from strandline.storage.layout import User

TAG_BYTES = 12


def new_router() -> Router:
    """Powertools' router; its constructor has no types."""
    return Router()  # type: ignore[no-untyped-call]


def owner(router: Router) -> User:
    """As whom this request acts. Raises Unauthenticated before anything is read."""
    return identify(router.current_event.raw_event)


def acting_peer(router: Router) -> str | None:
    """As which of its peers the user acts, by header; None: as itself. Raises InvalidArgument for what is no peer."""
    return identity.acting_peer(router.current_event.raw_event)


def asker(router: Router) -> User:
    """Whose key the request came with, whoever it acts as."""
    known = caller(router.current_event.raw_event)
    return User(known.account_id, known.user_id)


def itself(router: Router) -> User:
    """The user, acting as itself. Raises PermissionDenied: a peer sees a part of what would be changed."""
    if acting_peer(router) is not None:
        raise PermissionDenied("memories of all peers are changed together: act as the user itself")
    return owner(router)


def account(router: Router) -> str:
    """The account that the request is about: that of its header, or of its key. Raises InvalidArgument."""
    event = router.current_event.raw_event
    return named(event, "account") or caller(event).account_id


def session_of(text: str) -> str:
    """A session id from the path, checked."""
    return identifier(unquote(text), "session_id")


def path_of(text: str) -> str:
    """A memory path or a name from the path, decoded; whoever uses it checks it."""
    return unquote(text)


def seen_path(router: Router, text: str) -> str:
    """The memory's path, if the acting peer may see it. Raises NotFound."""
    path = path_of(text)
    if not visible(path, acting_peer(router)):
        raise no_memory(path)
    return path


def seal(after: str | None, whose: User, list_name: str) -> str | None:
    """A cursor that goes on behind `after`; only good for the same list of the same user."""
    if after is None:
        return None
    return base64.urlsafe_b64encode(_tag(after, whose, list_name) + after.encode()).decode().rstrip("=")


def unseal(cursor: str | None, whose: User, list_name: str) -> str | None:
    """What `seal` was given. Raises InvalidArgument for anything that it did not make."""
    if cursor is None:
        return None
    try:
        raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        after = raw[TAG_BYTES:].decode()
    except (binascii.Error, ValueError) as error:
        raise InvalidArgument("cursor: not one of ours; begin again without it") from error
    if not hmac.compare_digest(raw[:TAG_BYTES], _tag(after, whose, list_name)):
        raise InvalidArgument("cursor: not one of ours; begin again without it")
    return after


def _tag(after: str, whose: User, list_name: str) -> bytes:
    secret = settings().root_key_sha256.encode()
    said = "\x00".join((whose.account_id, whose.user_id, list_name, after)).encode()
    return hmac.new(secret, said, hashlib.sha256).digest()[:TAG_BYTES]


def past(as_of: datetime | None, clock: Clock) -> datetime | None:
    """The time of which a request asks; None for the present, and for what is still to come."""
    if as_of is None:
        return None
    asked = parse(stamp(as_of))
    return asked if asked < clock.now() else None


def guard(router: Router) -> Guard:
    """What `If-Match` and `If-None-Match` ask for. Raises InvalidArgument."""
    match = header(router, "if-match")
    none_match = header(router, "if-none-match")
    if none_match not in (None, "*"):
        raise InvalidArgument('If-None-Match can only be "*"')
    if match is not None and not match.strip('" '):
        raise InvalidArgument('If-Match is empty; it holds the sha256 that was read, or "*"')
    return matching(match.strip('" ') if match else None, absent=none_match == "*")


def header(router: Router, name: str) -> str | None:
    """A request header, or None."""
    found: Any = router.current_event.headers.get(name)
    return str(found) if found is not None else None
