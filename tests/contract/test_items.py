"""`ports.Items`, on every backend."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from strandline.ports import Below, ConditionFailed, Item, Items, Order, Page
from tests.contract.conftest import Backend

pytestmark = pytest.mark.contract

VALUES: dict[str, Any] = {
    "text": "emoji 😀, U+0000 \x00, U+2028 \u2028",
    "empty": "",
    "null": None,
    "yes": True,
    "no": False,
    "zero": 0,
    "number": -(10**37),
    "list": ["", None, 1, [True, {}], {"k": [2]}],
    "nothing": [],
    "map": {"k": {"deep": [None, {}]}, "#:x y.z": 1, "S": {}},
    "size": "a reserved word",
}


@pytest.fixture
def table(backend: Backend) -> Items:
    return backend.items()


def _item(sk: str = "s", pk: str = "p", **values: Any) -> dict[str, Any]:
    return {"pk": pk, "sk": sk, **values}


def test_what_is_not_there(table: Items) -> None:
    assert table.get("p", "s") is None
    assert table.query("p", between=("", "~"), limit=5) == Page([], None)
    table.delete("p", "s")


def test_every_value_comes_back_as_it_was(table: Items) -> None:
    table.put(_item(**VALUES))
    found = table.get("p", "s")
    assert found is not None
    assert found == _item(**VALUES)
    assert {name: type(value) for name, value in found.items()} == {
        name: type(value) for name, value in _item(**VALUES).items()
    }


@pytest.mark.parametrize("value", [1.5, b"bytes", {1, 2}], ids=["float", "bytes", "set"])
def test_what_an_item_does_not_hold(table: Items, value: object) -> None:
    with pytest.raises(TypeError):
        table.put(_item(v=[value]))


def test_put_replaces_the_whole_item(table: Items) -> None:
    table.put(_item(a=1, b=2))
    table.put(_item(b=3))
    assert table.get("p", "s") == _item(b=3)


def test_update_leaves_the_other_attributes(table: Items) -> None:
    table.put(_item(a=1, b=2, c=3))
    table.update("p", "s", {"b": None, "d": {"e": []}, "size": "word"})
    assert table.get("p", "s") == _item(a=1, b=None, c=3, d={"e": []}, size="word")


def test_update_sets_first_what_is_not_there(table: Items) -> None:
    table.update("p", "s", {"a": 1}, first={"a": 0, "b": "new", "none": None})
    assert table.get("p", "s") == _item(a=1, b="new", none=None)
    table.update("p", "s", {"c": 2}, first={"a": 9, "b": "late", "none": 9, "d": 4})
    assert table.get("p", "s") == _item(a=1, b="new", none=None, c=2, d=4)


def test_update_creates(table: Items) -> None:
    table.update("p", "s", {"a": 1})
    assert table.get("p", "s") == _item(a=1)


def test_add_begins_at_nothing_and_answers_the_sum(table: Items) -> None:
    assert table.add("p", "s", "n", 3, values={"expires_at": 1}) == 3
    assert table.add("p", "s", "n", 2, values={"expires_at": 9}) == 5
    assert table.add("p", "s", "n", -10, values={}) == -5
    assert table.get("p", "s") == _item(n=-5, expires_at=9)


def test_add_leaves_the_other_attributes(table: Items) -> None:
    table.put(_item(size=1, a="x", b=[1]))
    assert table.add("p", "s", "size", 1, values={"a": None}) == 2
    assert table.get("p", "s") == _item(size=2, a=None, b=[1])


def test_delete(table: Items) -> None:
    table.put(_item(a=1))
    table.put(_item("t"))
    table.delete("p", "s")
    table.delete("p", "s")
    assert table.get("p", "s") is None
    assert table.get("p", "t") == _item("t")


HOLDS: list[tuple[Item | None, Item]] = [
    (_item(a=1), {"a": 1}),
    (_item(a=1, b="x"), {"a": 1, "b": "x"}),
    (_item(a=1), {"b": None}),
    (_item(a=None), {"a": None}),
    (_item(a=True), {"a": True}),
    (_item(a={"k": [1]}), {"a": {"k": [1]}}),
    (_item(a=""), {"a": ""}),
    (_item(a=1), {"pk": "p"}),
    (None, {"pk": None}),
    (None, {"a": None}),
    (_item(a=1), {}),
    (None, {"a": Below(0)}),
    (_item(b=1), {"a": Below(0)}),
    (_item(a=1), {"a": Below(2)}),
    (_item(a=-5, b="x"), {"a": Below(0), "b": "x"}),
]
FAILS: list[tuple[Item | None, Item]] = [
    (_item(a=1), {"a": 2}),
    (_item(a=1, b="x"), {"a": 1, "b": "y"}),
    (_item(a=1), {"a": "1"}),
    (_item(a=0), {"a": None}),
    (_item(a=""), {"a": None}),
    (_item(a=1), {"pk": None}),
    (None, {"a": 1}),
    (_item(b=1), {"a": 1}),
    (_item(a=2), {"a": Below(2)}),
    (_item(a=3), {"a": Below(2)}),
    (_item(a=None), {"a": Below(2)}),
    (_item(a=1, b="x"), {"a": Below(2), "b": "y"}),
]


@pytest.mark.parametrize(("stored", "when"), HOLDS)
def test_a_condition_that_holds(table: Items, stored: Item | None, when: Item) -> None:
    for write in _writes(table, when):
        _reset(table, stored)
        write()
        assert table.get("p", "s") != stored or stored is None


@pytest.mark.parametrize(("stored", "when"), FAILS)
def test_a_condition_that_does_not_hold(table: Items, stored: Item | None, when: Item) -> None:
    for write in _writes(table, when):
        _reset(table, stored)
        with pytest.raises(ConditionFailed):
            write()
        assert table.get("p", "s") == stored


def test_one_is_not_true(atomic_backend: Backend) -> None:
    """moto compares them as Python does."""
    table = atomic_backend.items()
    table.put(_item(a=1))
    with pytest.raises(ConditionFailed):
        table.delete("p", "s", when={"a": True})


def _writes(table: Items, when: Item) -> list[Callable[[], None]]:
    return [
        lambda: table.put(_item(new=1), when=when),
        lambda: table.update("p", "s", {"new": 1}, when=when),
        lambda: table.delete("p", "s", when=when),
    ]


def _reset(table: Items, stored: Item | None) -> None:
    if stored is None:
        table.delete("p", "s")
    else:
        table.put(stored)


def test_query_is_a_closed_range_of_one_partition(table: Items) -> None:
    keys = ["a", "b", "b#1", "c", "é", "東", "\U0001f600"]
    for sk in keys:
        table.put(_item(sk))
    table.put(_item("b", pk="other"))
    assert _sks(table.query("p", between=("b", "c"), limit=10)) == ["b", "b#1", "c"]
    assert _sks(table.query("p", between=("b", "b"), limit=10)) == ["b"]
    assert _sks(table.query("p", between=("\x01", "\U0010ffff"), limit=10)) == keys
    assert _sks(table.query("p", between=("a", "é"), limit=10, order=Order(newest_first=True))) == [
        "é",
        "c",
        "b#1",
        "b",
        "a",
    ]
    assert _sks(table.query("p", between=("", "b"), limit=10)) == ["a", "b"]
    assert _sks(table.query("p", between=("c", "b"), limit=10)) == []


def test_pages(table: Items) -> None:
    for n in range(7):
        table.put(_item(f"{n:02d}"))
    first = table.query("p", between=("00", "99"), limit=3)
    assert (_sks(first), first.next) == (["00", "01", "02"], "02")
    last = table.query("p", between=("05", "99"), limit=3)
    assert (_sks(last), last.next) == (["05", "06"], None)
    newest = table.query("p", between=("00", "99"), limit=3, order=Order(newest_first=True))
    assert (_sks(newest), newest.next) == (["06", "05", "04"], "04")


def test_the_second_order_holds_what_has_its_attribute(table: Items) -> None:
    for sk, listed_at in (("a", "3"), ("b", "1"), ("c", "2")):
        table.put({"pk": "p", "sk": sk, "listed_at": listed_at})
    table.put({"pk": "p", "sk": "d"})

    newest = Order("listed_at", newest_first=True)
    page = table.query("p", between=("0", "9"), limit=2, order=newest)

    assert (_sks(page), page.next) == (["a", "c"], "2")
    assert _sks(table.query("p", between=("0", "2"), limit=5, order=newest)) == ["c", "b"]
    assert _sks(table.query("p", between=("0", "9"), limit=5, order=Order("listed_at"))) == ["b", "c", "a"]


def _sks(page: Page) -> list[str]:
    return [item["sk"] for item in page.items]


def test_one_winner_of_sixteen_claims(atomic_backend: Backend) -> None:
    table = atomic_backend.items()

    def claim(n: int) -> bool:
        try:
            table.put(_item(owner=n), when={"pk": None})
        except ConditionFailed:
            return False
        return True

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(claim, range(16))) == 1


def test_no_addition_is_lost(atomic_backend: Backend) -> None:
    """Every caller hears another sum, so that each knows which part is its own."""
    table = atomic_backend.items()
    with ThreadPoolExecutor(8) as pool:
        sums = list(pool.map(lambda _: table.add("p", "s", "n", 2, values={"v": 1}), range(40)))
    assert sorted(sums) == list(range(2, 82, 2))
    assert table.get("p", "s") == _item(n=80, v=1)


def test_no_update_is_lost(atomic_backend: Backend) -> None:
    table = atomic_backend.items()
    table.put(_item(n=0))

    def add_one(_: int) -> None:
        while True:
            item = table.get("p", "s")
            assert item is not None
            try:
                table.update("p", "s", {"n": item["n"] + 1}, when={"n": item["n"]})
            except ConditionFailed:
                continue
            return

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add_one, range(40)))
    assert table.get("p", "s") == _item(n=40)
