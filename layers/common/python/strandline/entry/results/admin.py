"""Accounts, users and keys as administrators see them. `user_key` is empty in what a repeat hears (Idempotency-Key)."""

from typing_extensions import TypedDict


class Account(TypedDict):
    """A registered account."""

    account_id: str
    created_at: str


class CreatedAccount(TypedDict):
    """A new account and the key of its first administrator, shown here and never again."""

    account_id: str
    admin_user_id: str
    user_key: str
    key_id: str


class RemovedAccount(TypedDict):
    """How many registered users went with the account."""

    account_id: str
    users_removed: int


class AccountSettings(TypedDict):
    """The settings of this account; null is the deployment's setting."""

    account_id: str
    requests_per_minute: int | None


class RegisteredUser(TypedDict):
    """A registered user and the role of its keys."""

    user_id: str
    role: str
    created_at: str


class CreatedUser(TypedDict):
    """A new user and its key, shown here and never again."""

    account_id: str
    user_id: str
    role: str
    user_key: str
    key_id: str


class RemovedUser(TypedDict):
    """The user whose keys are revoked."""

    account_id: str
    user_id: str
    removed: bool


class ReplacedKeys(TypedDict):
    """The only key that the user has now, shown here and never again."""

    user_id: str
    user_key: str
    key_id: str


class Key(TypedDict):
    """A key by its id; the key itself cannot be seen again."""

    key_id: str
    role: str
    created_at: str
    expires_at: str | None


class NewKey(Key):
    """A key in the one answer that shows it."""

    user_key: str


class RevokedKey(TypedDict):
    """The key that is refused from now on."""

    key_id: str
    revoked: bool
