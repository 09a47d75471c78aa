"""A table in memory."""

import json
import marshal
from collections import Counter
from threading import Lock
from typing import Any

from strandline.ports import BY_KEY, Below, ConditionFailed, Item, Order, Page
from tests.fakes.faults import Faults

MAX_ITEM_BYTES = 400 * 1024


class MemoryItems:
    """`ports.Items`. Operations for `faults` and `calls`: get, put, update, add, delete, query."""

    def __init__(self) -> None:
        self.faults = Faults()
        self._rows: dict[tuple[str, str], dict[str, Any]] = {}
        self._lock = Lock()

    @property
    def calls(self) -> Counter[str]:
        return self.faults.calls

    def rows(self) -> list[Item]:
        """Everything in the table, by key: for a test to look at, not counted."""
        with self._lock:
            return [_copy(self._rows[key]) for key in sorted(self._rows)]

    def get(self, pk: str, sk: str) -> Item | None:
        def read() -> Item | None:
            with self._lock:
                row = self._rows.get((pk, sk))
                return None if row is None else _copy(row)

        return self.faults.run("get", read)

    def put(self, item: Item, *, when: Item | None = None) -> None:
        self.faults.run("put", lambda: self._write(item["pk"], item["sk"], item, when, whole=True))

    def update(
        self, pk: str, sk: str, values: Item, *, first: Item | None = None, when: Item | None = None
    ) -> None:
        if not values or {"pk", "sk"} & values.keys():
            raise ValueError("an update sets at least one attribute, and never the key")
        row = {**values, "pk": pk, "sk": sk}
        self.faults.run("update", lambda: self._write(pk, sk, row, when, whole=False, first=first))

    def add(self, pk: str, sk: str, name: str, number: int, *, values: Item) -> int:
        def grow() -> int:
            with self._lock:
                row = self._rows.get((pk, sk), {"pk": pk, "sk": sk})
                total: int = row.get(name, 0) + number
                self._rows[pk, sk] = _valid(row | dict(values) | {name: total})
                return total

        return self.faults.run("add", grow)

    def delete(self, pk: str, sk: str, *, when: Item | None = None) -> None:
        def remove() -> None:
            with self._lock:
                _check(self._rows.get((pk, sk), {}), when)
                self._rows.pop((pk, sk), None)

        self.faults.run("delete", remove)

    def query(self, pk: str, *, between: tuple[str, str], limit: int, order: Order = BY_KEY) -> Page:
        by = order.by

        def read() -> Page:
            with self._lock:
                rows = [row for key, row in self._rows.items() if key[0] == pk and by in row]
                found = [row for row in rows if between[0] <= row[by] <= between[1]]
                found.sort(key=lambda row: (row[by], row["sk"]), reverse=order.newest_first)
                items = [_copy(row) for row in found[:limit]]
            # like DynamoDB: a page that reaches the limit says "more" without looking further
            return Page(items, items[-1][by] if len(items) == limit else None)

        return self.faults.run("query", read)

    def _write(
        self, pk: str, sk: str, values: Item, when: Item | None, *, whole: bool, first: Item | None = None
    ) -> None:
        with self._lock:
            known = self._rows.get((pk, sk), {})
            _check(known, when)
            self._rows[pk, sk] = _valid(dict(values) if whole else {**(first or {}), **known, **values})


def _check(row: Item, when: Item | None) -> None:
    for name, value in (when or {}).items():
        found = row.get(name)
        if isinstance(value, Below):
            if name in row and not (type(found) is int and found < value.number):
                raise ConditionFailed(f"{name} is {found!r}, not below {value.number}")
            continue
        if found != value or type(found) is not type(value):  # 1 is not True in a table
            raise ConditionFailed(f"{name} is {found!r}, not {value!r}")


def _copy(row: dict[str, Any]) -> dict[str, Any]:
    """The row again, with nothing in common: its values are plain, so the fastest way will do."""
    copied: dict[str, Any] = marshal.loads(marshal.dumps(row))
    return copied


def _valid(row: dict[str, Any]) -> dict[str, Any]:
    """A row of its own, as a table would hold it."""
    _validate(row)
    plain = marshal.dumps(row)
    if len(plain) > MAX_ITEM_BYTES // 16:  # a row that is near the limit is looked at closely
        _validate_size(row)
    copied: dict[str, Any] = marshal.loads(plain)
    return copied


def _validate(row: dict[str, Any]) -> None:
    if not all(isinstance(row[k], str) and row[k] for k in ("pk", "sk")):
        raise ValueError("a key is a string and not empty")
    _validate_value(row)


def _validate_size(row: dict[str, Any]) -> None:
    if len(json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass")) > MAX_ITEM_BYTES:
        raise ValueError("an item holds at most 400 KiB")


def _validate_value(value: Any) -> None:
    match value:
        case dict():
            for entry in value.values():
                _validate_value(entry)
        case list() | tuple():
            for entry in value:
                _validate_value(entry)
        case None | bool() | str() | int():
            return
        case _:
            raise TypeError(f"an item does not hold {type(value).__name__}")
