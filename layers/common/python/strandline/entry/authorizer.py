"""The authorizer function: whose key is it? A good key is remembered for a minute, so a warm function asks nobody."""

from collections import OrderedDict
from typing import Any

from strandline.domain.errors import Unavailable
from strandline.entry.http import Event
from strandline.entry.identity import authorize, key_of
from strandline.entry.settings import settings
from strandline.entry.wiring import services
from strandline.storage.keys import KeyOwner, hash_key

REMEMBERED_SECONDS = 60.0
REMEMBERED_KEYS = 1_000


class Remembered:
    """Owners of keys seen lately, by key hash. A revoked key is refused a minute later at the latest."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[float, KeyOwner]] = OrderedDict()

    def get(self, key_hash: str, now: float) -> KeyOwner | None:
        until, owner = self._known.get(key_hash, (0.0, None))
        return owner if until > now else None

    def put(self, key_hash: str, owner: KeyOwner, now: float) -> None:
        self._known[key_hash] = (now + REMEMBERED_SECONDS, owner)
        while len(self._known) > REMEMBERED_KEYS:
            self._known.popitem(last=False)


_remembered = Remembered()


def handle(event: Event) -> dict[str, Any]:
    """Answers the authorizer's simple response. The functions refuse a request whose context is empty."""
    try:
        owner = _owner(event)
    except Unavailable as error:
        return {"isAuthorized": True, "context": {"error": error.code}}
    context = {"account_id": owner.account_id, "user_id": owner.user_id, "role": owner.role} if owner else {}
    return {"isAuthorized": True, "context": context}


def _owner(event: Event) -> KeyOwner | None:
    key = key_of(event)
    if key is None:
        return None
    known = services()
    now = known.clock.now().timestamp()
    owner = _remembered.get(hash_key(key), now)
    if owner is None:
        owner = authorize(event, known.keys, settings().root_key_sha256)
        if owner is not None:
            _remembered.put(hash_key(key), owner, now)
    return owner
