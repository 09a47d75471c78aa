"""What is stored for one user, store by store: found page by page to be counted, then removed page by page for good.

objects   everything below the user's prefix, all versions and delete markers
rows      the user's partitions of the table
entry     the user's line in the register of its account; last, since an account's users are found by it
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from strandline.ports import Item, Items, ObjectStore, Version
from strandline.storage.accounts import Accounts
from strandline.storage.layout import User
from strandline.storage.pages import page
from strandline.storage.parsing import area
from strandline.storage.records import is_receipt, partitions

ROWS_AT_ONCE = 100

Cursor = tuple[str, ...]
START: Cursor = ()


@dataclass(frozen=True)
class Held:
    """One page: how many of what, by `<store>/<kind>`, and where to go on, or None."""

    counts: Mapping[str, int]
    next: Cursor | None


class Holding(Protocol):
    """Raises StoreError when the store does not answer; everything may be repeated."""

    def page(self, user: User, after: Cursor, /) -> Held:
        """What there is behind `after`."""

    def remove(self, user: User, after: Cursor, /) -> Cursor | None:
        """Removes a page of what there is behind `after`; answers where to go on, None when nothing is left."""


def holdings(objects: ObjectStore, items: Items, accounts: Accounts) -> Sequence[Holding]:
    """Everything a user may have, in the order in which it is erased."""
    return (*(Rows(items, kind) for kind in partitions(User("a", "u"))), Objects(objects), Entry(accounts))


class Objects:
    """Counted are current objects and all versions, by the area below the user's prefix."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    def page(self, user: User, after: Cursor, /) -> Held:
        found = self._store.versions_below(user.prefix, after=(after[0], after[1]) if after else None)
        counts: Counter[str] = Counter()
        for version in found.versions:
            counts[f"versions/{area(version.key)}"] += 1
            if version.latest and not version.deleted:
                counts[f"objects/{area(version.key)}"] += 1
        return Held(counts, found.next)

    def remove(self, user: User, _after: Cursor, /) -> Cursor | None:
        return START if erase_page(self._store, user.prefix) else None


def erase_page(store: ObjectStore, prefix: str) -> Sequence[Version]:
    """Removes a page of versions below the prefix, and answers them: always from its beginning, as what was removed is
    no place to go on from.

    A key loses its old versions first: none of them may be seen as the current one, not for a moment.
    """
    found = store.versions_below(prefix)
    old = [version for version in found.versions if not version.latest]
    cut = found.next[0] if found.next else None  # this key has older versions behind the page
    latest = [version for version in found.versions if version.latest and version.key != cut]
    if not old and not latest:
        latest = list(found.versions)
    store.erase(old)
    store.erase(latest)
    return [*old, *latest]


class Rows:
    """One kind of items, a partition for each user. Receipts of erasures stay until they expire."""

    def __init__(self, items: Items, kind: str) -> None:
        self._items = items
        self._kind = kind

    def page(self, user: User, after: Cursor, /) -> Held:
        rows, following = self._read(user, after)
        return Held({f"items/{self._kind}": len(rows)}, following)

    def remove(self, user: User, after: Cursor, /) -> Cursor | None:
        rows, following = self._read(user, after)
        for row in rows:
            self._items.delete(row["pk"], row["sk"])
        return following

    def _read(self, user: User, after: Cursor, /) -> tuple[list[Item], Cursor | None]:
        found = page(self._items, partitions(user)[self._kind], after[0] if after else None, ROWS_AT_ONCE)
        rows = [row for row in found.items if not is_receipt(row)]
        return rows, (found.next,) if found.next else None


class Entry:
    """The user's line in the register of its account, if it was registered."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts

    def page(self, user: User, _after: Cursor, /) -> Held:
        return Held({"items/register": int(self._accounts.user(user) is not None)}, None)

    def remove(self, user: User, _after: Cursor, /) -> Cursor | None:
        self._accounts.remove_user(user)
        return None
