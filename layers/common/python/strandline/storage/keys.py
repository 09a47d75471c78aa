"""API keys by their SHA-256; the key itself is never stored.

    pk                            sk            what
    KEY#<sha-256 of the key>      KEY           whose the key is: what the authorizer reads
    KEYS#<account>/<user>         <key id>      a key of this user's, to be listed and revoked

The second is written first and removed last, so there is no key that cannot be found and revoked.
"""

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from strandline.domain.names import encode
from strandline.domain.times import stamp
from strandline.ports import Clock, ConditionFailed, Item, Items
from strandline.storage.answered import answered
from strandline.storage.layout import User
from strandline.storage.pages import whole

KEY_ID_CHARS = 16

Role = Literal["user", "reader", "admin", "root"]
"""A reader's key reads its own user's memories, and does nothing else."""
Named = Annotated[str, Field(min_length=1)]


@dataclass(frozen=True)
class KeyOwner:
    """Whose an API key is."""

    account_id: Named
    user_id: Named
    role: Role


def hash_key(key: str) -> str:
    """What is stored of a key. Keys are long and random, so a plain SHA-256 is enough."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def key_id(key_hash: str) -> str:
    """The name of a key: the beginning of its hash, useless for guessing the key."""
    return key_hash[:KEY_ID_CHARS]


class Keys:
    """Raises StoreError when the table does not answer, but for `owner`."""

    def __init__(self, items: Items, clock: Clock) -> None:
        self._items = items
        self._clock = clock

    def owner(self, key_hash: str) -> KeyOwner | None:
        """Raises Unavailable when the table does not answer: nobody is let in on a guess."""
        with answered("the key could not be checked; repeat the request"):
            item = self._items.get(f"KEY#{key_hash}", "KEY")
        if item is None or not self._alive(item):
            return None
        return KeyOwner(item["account_id"], item["user_id"], item["role"])

    def add(self, key_hash: str, owner: KeyOwner, *, expires: datetime | None = None) -> Item:
        """A new key. Answers what is listed of it."""
        ending = {"expires_at": int(expires.timestamp()), "ends_at": stamp(expires)} if expires else {}
        row = {"account_id": owner.account_id, "user_id": owner.user_id, "role": owner.role, **ending}
        listed = {
            "pk": _list(User(owner.account_id, owner.user_id)),
            "sk": key_id(key_hash),
            "key_hash": key_hash,
            "created_at": stamp(self._clock.now()),
            **row,
        }
        self._items.put(listed)
        self._items.put({"pk": f"KEY#{key_hash}", "sk": "KEY", **row})
        return listed

    def of(self, owner: User) -> Iterator[Item]:
        """The user's keys that have not expired, as they are listed."""
        return (item for item in whole(self._items, _list(owner)) if self._alive(item))

    def revoke(self, owner: User, identity: str) -> bool:
        """Removes a key; answers whether there was one. The authorizer may remember it for a minute longer."""
        item = self._items.get(_list(owner), identity)
        if item is None:
            return False
        self._items.delete(f"KEY#{item['key_hash']}", "KEY")
        self._items.delete(_list(owner), identity)
        return True

    def held(self, owner: User) -> int:
        """How many keys the user has, expired ones included while the table still lists them."""
        return sum(1 for _ in whole(self._items, _list(owner)))

    def revoke_all(self, owner: User) -> None:
        """Removes every key of the user's."""
        for item in whole(self._items, _list(owner)):
            self.revoke(owner, item["sk"])

    def change_role(self, owner: User, role: Role) -> None:
        """Gives all keys of the user this role, but for those that only read. Repeating finishes what was begun."""
        for item in self.of(owner):
            if item["role"] == "reader":
                continue
            with suppress(ConditionFailed):  # revoked meanwhile: it must not come back
                same = {"account_id": owner.account_id}
                self._items.update(f"KEY#{item['key_hash']}", "KEY", {"role": role}, when=same)
                self._items.update(item["pk"], item["sk"], {"role": role}, when=same)

    def _alive(self, item: Item) -> bool:
        return (item.get("expires_at") or float("inf")) > self._clock.now().timestamp()


def _list(owner: User) -> str:
    return f"KEYS#{encode(owner.account_id)}/{encode(owner.user_id)}"
