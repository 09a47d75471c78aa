"""Accounts, users and keys, as administrators keep them.

Registration is a convenience: it lists, and hands out keys. What a key says is what counts, so nothing here has to
happen before a root key, or an account's admin key, may act for a user. A key is shown once, in the answer to the
request that made it; afterwards only its hash is known. Every step may be repeated.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from strandline.domain.errors import AlreadyExists, NotFound
from strandline.pipeline.append import refuse_closed
from strandline.pipeline.services import Services
from strandline.ports import ConditionFailed, Item, Page
from strandline.storage.answered import answered
from strandline.storage.keys import KeyOwner, Role, hash_key
from strandline.storage.layout import User

PREFIX = "strandline_"


@dataclass(frozen=True)
class NewKey:
    """A key, in the one moment that it can be seen, and what is listed of it."""

    key: str
    listed: Item


def create_account(services: Services, account_id: str, admin_user_id: str) -> NewKey:
    """A registered account with its first administrator. Raises AlreadyExists: then register the user by itself."""
    with answered():
        if not services.accounts.add(account_id):
            raise AlreadyExists(
                f"there is an account {account_id!r} already", type="account", resource=account_id
            )
    return register_user(services, User(account_id, admin_user_id), "admin")


def register_user(services: Services, user: User, role: Role) -> NewKey:
    """A registered user with a first key. Raises AlreadyExists: then make another key for it; Conflict while the user
    is being erased."""
    refuse_closed(services, user)
    with answered():
        if not services.accounts.add_user(user, role):
            raise AlreadyExists(
                f"there is a user {user.user_id!r} in this account already",
                type="user",
                resource=user.user_id,
            )
        return _key(services, user, role, None)


def account(services: Services, account_id: str) -> Item:
    """Raises NotFound."""
    with answered():
        found = services.accounts.get(account_id)
    if found is None:
        raise NotFound(f"there is no account {account_id!r}", type="account", resource=account_id)
    return found


def user(services: Services, whose: User) -> Item:
    """Raises NotFound."""
    with answered():
        found = services.accounts.user(whose)
    if found is None:
        raise _no_user(whose)
    return found


def accounts(services: Services, *, after: str | None, limit: int) -> Page:
    with answered():
        return services.accounts.all(after=after, limit=limit)


def users(services: Services, account_id: str, *, after: str | None, limit: int) -> Page:
    with answered():
        return services.accounts.users(account_id, after=after, limit=limit)


def change_role(services: Services, whose: User, role: Role) -> Item:
    """The user and all its keys have this role from now on; the authorizer may remember the old one for a minute.

    Raises NotFound.
    """
    user(services, whose)
    with answered():
        try:
            services.keys.change_role(whose, role)
            services.accounts.change_role(whose, role)
        except ConditionFailed as error:
            raise _no_user(whose) from error
    return user(services, whose)


def keys(services: Services, whose: User) -> Sequence[Item]:
    """The user's keys, none of which can be seen any more."""
    with answered():
        return list(services.keys.of(whose))


def add_key(services: Services, whose: User, expires: datetime | None, *, reads_only: bool = False) -> NewKey:
    """One more key for a registered user, with the user's role, or one that only reads its memories. Raises NotFound,
    Conflict while it is being erased."""
    refuse_closed(services, whose)
    role: Role = user(services, whose)["role"]
    if reads_only:
        role = "reader"
    with answered():
        return _key(services, whose, role, expires)


def replace_keys(services: Services, whose: User) -> NewKey:
    """A new key instead of all the others. Raises NotFound."""
    made = add_key(services, whose, None)
    with answered():
        for item in keys(services, whose):
            if item["sk"] != made.listed["sk"]:
                services.keys.revoke(whose, item["sk"])
    return made


def revoke_key(services: Services, whose: User, key_id: str) -> None:
    """The key is refused from now on, a minute later at the latest. Raises NotFound."""
    with answered():
        if not services.keys.revoke(whose, key_id):
            raise NotFound(f"there is no key {key_id!r} of this user")


def remove_user(services: Services, whose: User) -> None:
    """Revokes all the user's keys and takes it off the list; what it has stored stays. Raises NotFound."""
    user(services, whose)
    _remove_user(services, whose)


def _remove_user(services: Services, whose: User) -> None:
    with answered():
        for item in keys(services, whose):
            services.keys.revoke(whose, item["sk"])
        services.accounts.remove_user(whose)


def remove_account(services: Services, account_id: str) -> int:
    """Removes all registered users of the account and takes it off the list; what they have stored stays. Answers
    how many users there were. Raises NotFound."""
    account(services, account_id)
    count = 0
    while page := users(services, account_id, after=None, limit=100).items:
        for item in page:
            _remove_user(services, User(account_id, item["user_id"]))
        count += len(page)
    with answered():
        services.accounts.remove(account_id)
    return count


def settings(services: Services, account_id: str) -> Mapping[str, Any]:
    with answered():
        return services.accounts.settings(account_id)


def change_settings(services: Services, account_id: str, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Sets what is named in `values`; None gives a setting back to the deployment."""
    with answered():
        services.accounts.change_settings(account_id, values)
    return settings(services, account_id)


def _no_user(whose: User) -> NotFound:
    return NotFound(
        f"there is no user {whose.user_id!r} in this account", type="user", resource=whose.user_id
    )


def _key(services: Services, whose: User, role: Role, expires: datetime | None) -> NewKey:
    key = f"{PREFIX}{services.ids.new()}{services.ids.new()}"
    owner = KeyOwner(whose.account_id, whose.user_id, role)
    return NewKey(key, services.keys.add(hash_key(key), owner, expires=expires))
