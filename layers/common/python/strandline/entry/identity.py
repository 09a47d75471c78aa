"""Who is asking. Decided from what the authorizer said, never from a path or a body alone.

The authorizer lets every request through and says whose the key is; an HTTP API could refuse by itself, but not in
our error envelope. So a handler begins with `identify`, which refuses whatever is not complete: no context, no
access, and nothing is read from storage before.
"""

import hmac
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from strandline.domain.errors import InvalidArgument, PermissionDenied, Unauthenticated, Unavailable
from strandline.domain.message import Identifier, PeerId
from strandline.domain.screening import Redaction, refuse_secret
from strandline.entry.settings import settings
from strandline.storage.keys import KeyOwner, Keys, hash_key
from strandline.storage.layout import User

MEMORIES = "/api/v1/memories"
ROOT = KeyOwner("default", "default", "root")
_IDENTIFIER: TypeAdapter[str] = TypeAdapter(Identifier)
_PEER: TypeAdapter[str] = TypeAdapter(PeerId)
_KEY_OWNER = TypeAdapter(KeyOwner)

Event = Mapping[str, Any]


def identify(event: Event) -> User:
    """The account and user a request acts as. Raises Unauthenticated, PermissionDenied, InvalidArgument."""
    owner = caller(event)
    if owner.role == "reader":
        return _reader(event, owner)
    account = named(event, "account")
    user = named(event, "user")
    if owner.role == "user":
        return User(owner.account_id, owner.user_id)
    if owner.role == "admin" and account not in (None, owner.account_id):
        raise PermissionDenied("an admin key acts within its own account")
    if account not in (None, owner.account_id) and user is None:
        raise InvalidArgument("name the user too: header X-Strandline-User")
    return User(account or owner.account_id, user or owner.user_id)


def _reader(event: Event, owner: KeyOwner) -> User:
    """Raises PermissionDenied for everything but reading memories, as nobody but the key's own user."""
    path = str(event.get("rawPath", ""))
    method = event["requestContext"]["http"]["method"]
    if method != "GET" or not (path == MEMORIES or path.startswith(f"{MEMORIES}/")):
        raise PermissionDenied("this key reads memories, and does nothing else")
    if named(event, "account") not in (None, owner.account_id) or named(event, "user") not in (
        None,
        owner.user_id,
    ):
        raise PermissionDenied("this key reads the memories of its own user")
    return User(owner.account_id, owner.user_id)


def administer(event: Event, account_id: str) -> None:
    """Lets a root key pass, and an admin key of this very account. Raises Unauthenticated, PermissionDenied."""
    owner = caller(event)
    if owner.role != "root" and (owner.role, owner.account_id) != ("admin", account_id):
        raise PermissionDenied("this takes a root key, or an admin key of the account")


def govern(event: Event) -> None:
    """Lets a root key pass. Raises Unauthenticated, PermissionDenied."""
    if caller(event).role != "root":
        raise PermissionDenied("this takes a root key")


def caller(event: Event) -> KeyOwner:
    """Whose key, or token, came with the request. Raises Unauthenticated."""
    authorizer = event.get("requestContext", {}).get("authorizer", {})
    context = authorizer.get("lambda") or _claimed(authorizer.get("jwt") or {})
    if context.get("error") == Unavailable.code:
        raise Unavailable("the key could not be checked; repeat the request")
    try:
        return _KEY_OWNER.validate_python(context)
    except ValidationError as error:
        raise Unauthenticated("send a valid key: header X-API-Key, or Authorization: Bearer <key>") from error


def _claimed(token: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a token says, once the gateway has checked it: its issuer, audience, expiry and signature. Trusted only
    when this deployment has a token issuer; a token never makes anybody root."""
    claims = token.get("claims") or {}
    config = settings()
    if not config.jwt_issuer or claims.get("iss") != config.jwt_issuer:
        return {}
    role = claims.get(config.jwt_role_claim, "user")
    if role not in ("user", "admin"):
        return {}
    return {
        "account_id": _claim(claims, config.jwt_account_claim),
        "user_id": _claim(claims, config.jwt_user_claim),
        "role": role,
    }


def _claim(claims: Mapping[str, Any], name: str) -> str | None:
    """A claim that may be an id; anything else names nobody."""
    try:
        return _IDENTIFIER.validate_python(claims.get(name))
    except ValidationError:
        return None


def named(event: Event, what: str) -> str | None:
    """The `account` or `user` that a header names, or None. Raises InvalidArgument for what cannot be an id, and when
    its two spellings name two."""
    headers = event.get("headers") or {}
    given = (headers.get(f"{prefix}-{what}") for prefix in ("x-strandline", "x-openviking"))
    found = {str(name) for name in given if name}
    header = f"X-Strandline-{what.capitalize()}"
    if len(found) > 1:
        raise InvalidArgument(f"{header} and its alias X-OpenViking-{what.capitalize()} differ; send one")
    return new_name(found.pop(), header) if found else None


def new_name(text: str, name: str) -> str:
    """The text, if it may be an id that is stored from now on: in keys, as it is. Raises InvalidArgument naming the
    field, also for a secret."""
    if settings().rules.redaction is Redaction.REDACT:
        refuse_secret(name, text, settings().rules.allowed)
    return identifier(text, name)


def identifier(text: str, name: str) -> str:
    """The text, if it may be an id that ends up in a key. Raises InvalidArgument naming the field."""
    return _checked(_IDENTIFIER, text, name)


def peer_id(text: str, name: str) -> str:
    """The text, if it may be a peer's id. Raises InvalidArgument naming the field."""
    return _checked(_PEER, text, name)


def _checked(kind: TypeAdapter[str], text: str, name: str) -> str:
    try:
        return kind.validate_python(text)
    except ValidationError as error:
        raise InvalidArgument(f"{name}: {error.errors()[0]['msg'].removeprefix('Value error, ')}") from error


def acting_peer(event: Event) -> str | None:
    """As which of its peers the user acts, by header; None: as itself. Raises InvalidArgument for what is no peer."""
    headers = event.get("headers") or {}
    found = headers.get("x-strandline-actor-peer") or headers.get("x-openviking-actor-peer")
    return peer_id(str(found), "X-Strandline-Actor-Peer") if found else None


def key_of(event: Event) -> str | None:
    """The key that a request carries, or None."""
    headers = event.get("headers") or {}
    if headers.get("x-api-key"):
        return str(headers["x-api-key"])
    scheme, _, token = str(headers.get("authorization") or "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token.strip() else None


def authorize(event: Event, keys: Keys, root_key_sha256: str) -> KeyOwner | None:
    """Whose the request's key is; None when there is no key or nobody knows it.

    Raises Unavailable when the table does not answer: nobody is let in on a guess.
    """
    key = key_of(event)
    if key is None:
        return None
    hashed = hash_key(key)
    if root_key_sha256 and hmac.compare_digest(hashed, root_key_sha256):
        return ROOT
    return keys.owner(hashed)
