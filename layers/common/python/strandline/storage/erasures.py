"""Erasures that are going on. While there is one, its user or account is closed: nothing new is begun there, so what is
erased stays erased, and nobody's later beginning is taken for a remainder.

    pk                    sk                  what
    ERASE#<account>       <user>, or !        how far the erasure of a user, or of the whole account, has come
"""

from dataclasses import asdict, replace

from strandline.domain.erasure import Erasure
from strandline.domain.names import encode
from strandline.ports import ConditionFailed, Items
from strandline.storage.layout import User
from strandline.storage.pages import whole

_LISTS = ("after", "asked_by", "letters")
_ACCOUNT = "!"  # no user's: it would be encoded


class Erasures:
    """Raises StoreError when the table does not answer."""

    def __init__(self, items: Items) -> None:
        self._items = items

    def open(self, erasure: Erasure) -> bool:
        """Begins it; False when one is going on already."""
        try:
            self._items.put(_row(erasure), when={"task_id": None})
        except ConditionFailed:
            return False
        return True

    def get(self, account_id: str, user_id: str) -> Erasure | None:
        """The erasure of a user, or with an empty id of the whole account."""
        row = self._items.get(_pk(account_id), _sk(user_id))
        if row is None:
            return None
        values = {name: value for name, value in row.items() if name not in ("pk", "sk")}
        lists = {name: tuple(row.get(name, ())) for name in _LISTS}
        return Erasure(**{**values, **lists})

    def save(self, now: Erasure) -> Erasure:
        """The next step. Raises ConditionFailed when somebody else has taken it."""
        saved = replace(now, step=now.step + 1)
        same = {"task_id": now.task_id, "step": now.step}
        self._items.put(_row(saved), when=same)
        return saved

    def close(self, erasure: Erasure) -> None:
        """The erasure ends: the user or account may begin anew. Raises ConditionFailed when it had ended already."""
        same = {"task_id": erasure.task_id}
        self._items.delete(_pk(erasure.account_id), _sk(erasure.user_id), when=same)

    def closed(self, user: User) -> bool:
        """Whether the user, or the whole account, is being erased. One request, as a rule of nothing."""
        names = {_ACCOUNT, encode(user.user_id)}
        return any(row["sk"] in names for row in whole(self._items, _pk(user.account_id)))


def _row(erasure: Erasure) -> dict[str, object]:
    values = asdict(erasure)
    lists = {name: list(values[name]) for name in _LISTS}
    return {"pk": _pk(erasure.account_id), "sk": _sk(erasure.user_id), **values, **lists}


def _pk(account_id: str) -> str:
    return f"ERASE#{encode(account_id)}"


def _sk(user_id: str) -> str:
    return encode(user_id) if user_id else _ACCOUNT
