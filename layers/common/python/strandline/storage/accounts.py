"""Accounts and users as administrators see them. Nobody has to be registered to be served: what counts is the key.

pk                       sk            what
ACCOUNTS                 <account>     a registered account
ACCOUNT#<account>        ACCOUNT       its settings
USERS#<account>          <user>        a registered user of it, with the role of its keys
"""

from collections.abc import Mapping
from typing import Any

from strandline.domain.names import encode
from strandline.domain.times import stamp
from strandline.ports import Clock, ConditionFailed, Item, Items, Page
from strandline.storage.keys import Role
from strandline.storage.layout import User
from strandline.storage.pages import page

_ACCOUNTS = "ACCOUNTS"


class Accounts:
    """Raises StoreError when the table does not answer."""

    def __init__(self, items: Items, clock: Clock) -> None:
        self._items = items
        self._clock = clock

    def add(self, account_id: str) -> bool:
        """Registers an account; answers whether it was new."""
        row = {"account_id": account_id, "created_at": stamp(self._clock.now())}
        return self._create({"pk": _ACCOUNTS, "sk": encode(account_id), **row})

    def get(self, account_id: str) -> Item | None:
        return self._items.get(_ACCOUNTS, encode(account_id))

    def all(self, *, after: str | None, limit: int) -> Page:
        """Registered accounts by name, from behind `after`."""
        return page(self._items, _ACCOUNTS, after, limit)

    def remove(self, account_id: str) -> None:
        self._items.delete(f"ACCOUNT#{encode(account_id)}", "ACCOUNT")
        self._items.delete(_ACCOUNTS, encode(account_id))

    def settings(self, account_id: str) -> Mapping[str, Any]:
        """What is set for this account alone; the deployment's settings hold for the rest."""
        return self._items.get(f"ACCOUNT#{encode(account_id)}", "ACCOUNT") or {}

    def change_settings(self, account_id: str, values: Mapping[str, Any]) -> None:
        self._items.update(f"ACCOUNT#{encode(account_id)}", "ACCOUNT", values)

    def add_user(self, user: User, role: Role) -> bool:
        """Registers a user; answers whether it was new."""
        row = {"user_id": user.user_id, "role": role, "created_at": stamp(self._clock.now())}
        return self._create({"pk": _users(user.account_id), "sk": encode(user.user_id), **row})

    def user(self, user: User) -> Item | None:
        return self._items.get(_users(user.account_id), encode(user.user_id))

    def users(self, account_id: str, *, after: str | None, limit: int) -> Page:
        """Registered users of an account by name, from behind `after`."""
        return page(self._items, _users(account_id), after, limit)

    def change_role(self, user: User, role: Role) -> None:
        """Raises ConditionFailed when the user is not registered."""
        values = {"role": role}
        self._items.update(
            _users(user.account_id), encode(user.user_id), values, when={"user_id": user.user_id}
        )

    def remove_user(self, user: User) -> None:
        self._items.delete(_users(user.account_id), encode(user.user_id))

    def _create(self, item: Item) -> bool:
        try:
            self._items.put(item, when={"created_at": None})
        except ConditionFailed:
            return False
        return True


def _users(account_id: str) -> str:
    return f"USERS#{encode(account_id)}"
