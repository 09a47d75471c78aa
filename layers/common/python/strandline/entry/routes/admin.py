"""Accounts, users and keys: for root keys, and for the admin keys of an account."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from aws_lambda_powertools.event_handler.openapi.params import Query
from pydantic import BaseModel, ConfigDict, Field

from strandline.domain.errors import AlreadyExists, Conflict, InvalidArgument
from strandline.domain.message import Identifier, Moment
from strandline.domain.scalars import Switched, Whole
from strandline.domain.times import stamp
from strandline.entry.answers import answers
from strandline.entry.http import ok
from strandline.entry.identity import administer, govern, identifier, new_name
from strandline.entry.repeat import keep_instead
from strandline.entry.results import admin as results
from strandline.entry.routes.asking import new_router, path_of, seal, unseal
from strandline.entry.wiring import services
from strandline.pipeline import admin
from strandline.storage.layout import User

router = new_router()

Answer = dict[str, Any]
Limit = Annotated[int, Query(ge=1, le=200)]
UserRole = Literal["user", "admin"]
ACCOUNTS = "/api/v1/admin/accounts"
USERS = f"{ACCOUNTS}/<account_id>/users"
NOBODY = User("", "")


class CreateAccount(BaseModel):
    model_config = ConfigDict(extra="ignore")

    account_id: Identifier
    admin_user_id: Identifier


class RegisterUser(BaseModel):
    model_config = ConfigDict(extra="ignore")

    user_id: Identifier
    role: UserRole = "user"


class ChangeRole(BaseModel):
    model_config = ConfigDict(extra="ignore")

    role: UserRole


class AddKey(BaseModel):
    """A key with `reads_only` reads the user's memories, and does nothing else, whatever the user's role is."""

    model_config = ConfigDict(extra="ignore")

    expires_at: Moment | None = None
    reads_only: Switched = False


class ChangeSettings(BaseModel):
    """`requests_per_minute` counts for all users of the account together; 0 is no limit, null the deployment's
    setting. It takes effect within a minute, and only while the deployment has a limit at all (`RequestsPerMinute`)."""

    model_config = ConfigDict(extra="forbid")

    requests_per_minute: Whole | None = Field(default=None, ge=0, le=10_000_000)


@router.post(ACCOUNTS)
@answers(results.CreatedAccount, AlreadyExists, Conflict)
def create_account(body: CreateAccount) -> Answer:
    """Registers an account and its first administrator, whose key is shown in this answer only."""
    govern(router.current_event.raw_event)
    account = new_name(body.account_id, "account_id")
    made = admin.create_account(services(), account, new_name(body.admin_user_id, "admin_user_id"))
    named = {"account_id": body.account_id, "admin_user_id": body.admin_user_id}
    return _answer_once({**named, **_new_key(made)})


@router.get(ACCOUNTS)
@answers(list[results.Account], paged=True)
def list_accounts(limit: Limit = 100, cursor: str | None = None) -> Answer:
    """Registered accounts by name."""
    govern(router.current_event.raw_event)
    page = admin.accounts(services(), after=unseal(cursor, NOBODY, "accounts"), limit=limit)
    rows = [_shown(item, "account_id", "created_at") for item in page.items]
    return _answer(rows, next_cursor=seal(page.next, NOBODY, "accounts"))


@router.get(f"{ACCOUNTS}/<account_id>")
@answers(results.Account)
def look_at_account(account_id: str) -> Answer:
    """A registered account."""
    account = _account(account_id)
    return _answer(_shown(admin.account(services(), account), "account_id", "created_at"))


@router.delete(f"{ACCOUNTS}/<account_id>")
@answers(results.RemovedAccount)
def remove_account(account_id: str) -> Answer:
    """Revokes the keys of all registered users and unregisters the account; what is stored stays."""
    account = _account(account_id)
    govern(router.current_event.raw_event)
    return _answer({"account_id": account, "users_removed": admin.remove_account(services(), account)})


@router.get(f"{ACCOUNTS}/<account_id>/settings")
@answers(results.AccountSettings)
def look_at_settings(account_id: str) -> Answer:
    """The settings of this account."""
    account = _account(account_id)
    return _answer(_settings(account, admin.settings(services(), account)))


@router.patch(f"{ACCOUNTS}/<account_id>/settings")
@answers(results.AccountSettings)
def change_settings(account_id: str, body: ChangeSettings) -> Answer:
    """Sets what the body names; null returns a setting to the deployment's."""
    account = _account(account_id)
    govern(router.current_event.raw_event)
    given = body.model_dump(exclude_unset=True)
    if not given:
        raise InvalidArgument("the body names no setting; there is requests_per_minute")
    return _answer(_settings(account, admin.change_settings(services(), account, given)))


@router.post(USERS)
@answers(results.CreatedUser, AlreadyExists, Conflict)
def register_user(account_id: str, body: RegisterUser) -> Answer:
    """Registers a user, whose key is shown in this answer only."""
    account = _account(account_id)
    made = admin.register_user(services(), User(account, new_name(body.user_id, "user_id")), body.role)
    named = {"account_id": account, "user_id": body.user_id, "role": body.role}
    return _answer_once({**named, **_new_key(made)})


@router.get(USERS)
@answers(list[results.RegisteredUser], paged=True)
def list_users(account_id: str, limit: Limit = 100, cursor: str | None = None) -> Answer:
    """Registered users of the account by name."""
    account = _account(account_id)
    after = unseal(cursor, User(account, ""), "users")
    page = admin.users(services(), account, after=after, limit=limit)
    rows = [_shown(item, "user_id", "role", "created_at") for item in page.items]
    return _answer(rows, next_cursor=seal(page.next, User(account, ""), "users"))


@router.get(f"{USERS}/<user_id>")
@answers(results.RegisteredUser)
def look_at_user(account_id: str, user_id: str) -> Answer:
    """A registered user."""
    return _answer(_user(admin.user(services(), _named(account_id, user_id))))


@router.delete(f"{USERS}/<user_id>")
@answers(results.RemovedUser)
def remove_user(account_id: str, user_id: str) -> Answer:
    """Revokes all the user's keys and unregisters it; what it has stored stays."""
    whose = _named(account_id, user_id)
    admin.remove_user(services(), whose)
    return _answer({"account_id": whose.account_id, "user_id": whose.user_id, "removed": True})


@router.put(f"{USERS}/<user_id>/role")
@answers(results.RegisteredUser)
def change_role(account_id: str, user_id: str, body: ChangeRole) -> Answer:
    """Gives the user and all its keys another role; it takes effect within a minute."""
    return _answer(_user(admin.change_role(services(), _named(account_id, user_id), body.role)))


@router.post(f"{USERS}/<user_id>/key")
@answers(results.ReplacedKeys, Conflict)
def replace_keys(account_id: str, user_id: str) -> Answer:
    """A new key, shown in this answer only; all the user's other keys are revoked."""
    whose = _named(account_id, user_id)
    return _answer_once({"user_id": whose.user_id, **_new_key(admin.replace_keys(services(), whose))})


@router.get(f"{USERS}/<user_id>/keys")
@answers(list[results.Key])
def list_keys(account_id: str, user_id: str) -> Answer:
    """The user's keys by id; no key can be seen again."""
    return _answer([_key(item) for item in admin.keys(services(), _named(account_id, user_id))])


@router.post(f"{USERS}/<user_id>/keys")
@answers(results.NewKey, Conflict)
def add_key(account_id: str, user_id: str, body: AddKey | None = None) -> Answer:
    """One more key, shown in this answer only."""
    expires = body.expires_at if body else None
    if expires is not None and stamp(expires) <= stamp(services().clock.now()):
        raise InvalidArgument("expires_at: is not in the future")
    reads_only = bool(body and body.reads_only)
    made = admin.add_key(services(), _named(account_id, user_id), expires, reads_only=reads_only)
    return _answer_once(_new_key(made) | _key(made.listed))


@router.delete(f"{USERS}/<user_id>/keys/<key_id>")
@answers(results.RevokedKey)
def revoke_key(account_id: str, user_id: str, key_id: str) -> Answer:
    """Revokes a key; it is refused within a minute."""
    admin.revoke_key(services(), _named(account_id, user_id), path_of(key_id))
    return _answer({"key_id": path_of(key_id), "revoked": True})


def _account(text: str) -> str:
    """An account from the path that the caller may administer."""
    account = identifier(path_of(text), "account_id")
    administer(router.current_event.raw_event, account)
    return account


def _named(account_id: str, user_id: str) -> User:
    return User(_account(account_id), identifier(path_of(user_id), "user_id"))


def _answer(result: Any, **extra: Any) -> Answer:
    return ok(result, services().clock, **extra)


def _answer_once(result: Answer) -> Answer:
    """An answer with a key: a repeat by Idempotency-Key hears it without."""
    keep_instead({**result, "user_key": ""})
    return _answer(result)


def _shown(item: Mapping[str, Any], *names: str) -> Answer:
    return {name: item.get(name) for name in names}


def _user(item: Mapping[str, Any]) -> Answer:
    return _shown(item, "user_id", "role", "created_at")


def _new_key(made: admin.NewKey) -> Answer:
    return {"user_key": made.key, "key_id": made.listed["sk"]}


def _key(item: Mapping[str, Any]) -> Answer:
    shown = _shown(item, "role", "created_at")
    return {"key_id": item["sk"], **shown, "expires_at": item.get("ends_at")}


def _settings(account: str, found: Mapping[str, Any]) -> Answer:
    return {"account_id": account, "requests_per_minute": found.get("requests_per_minute")}
