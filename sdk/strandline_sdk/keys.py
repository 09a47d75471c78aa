"""Users and their keys, by an administrator."""

from typing import Any, cast

from strandline_sdk.connection import Connection, given, segment
from strandline_sdk.model import Task


class Keys(Connection):
    """The part of the client that needs an admin key of the account, or a root key."""

    def register_user(self, account: str, user: str, *, role: str | None = None) -> dict[str, Any]:
        """A user of the account, with its first key as `user_key`; ALREADY_EXISTS when there is one of this name."""
        body = given({"user_id": user, "role": role})
        return cast(dict[str, Any], self._write("POST", f"/admin/accounts/{segment(account)}/users", body))

    def add_key(
        self, account: str, user: str, *, expires_at: str | None = None, reads_only: bool = False
    ) -> dict[str, Any]:
        """One more key as `user_key`, shown here only. It ends at `expires_at`; with `reads_only` it reads the user's
        memories and does nothing else."""
        body = given({"expires_at": expires_at, "reads_only": reads_only})
        return cast(dict[str, Any], self._write("POST", f"{_user(account, user)}/keys", body))

    def remove_user(self, account: str, user: str) -> None:
        """Revokes all keys of a user and unregisters it; what it has stored stays."""
        self._write("DELETE", _user(account, user), None)

    def erase_user(self, user: str) -> Task:
        """Closes a user of the account and erases everything it has; the task's result is the receipt, in a while."""
        return cast(Task, self._write("DELETE", f"/users/{segment(user)}", None))


def _user(account: str, user: str) -> str:
    return f"/admin/accounts/{segment(account)}/users/{segment(user)}"
