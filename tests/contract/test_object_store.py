"""`ports.ObjectStore`, on every backend."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from strandline.ports import ConditionFailed, Contended, IfAbsent, IfMatch, ObjectStore, Version
from tests.contract.conftest import Backend

pytestmark = pytest.mark.contract

ODD_KEYS = ["a b+c%20d/é", "東京/ü~@'()*!.md", "%2E%2E/x&y=z?#;:,$"]


@pytest.fixture
def store(backend: Backend) -> ObjectStore:
    return backend.objects()


def test_what_is_not_there(store: ObjectStore) -> None:
    assert store.get("k") is None
    assert list(store.keys("")) == []
    assert list(store.versions("k")) == []
    with pytest.raises(KeyError):
        store.get_unless("k", '"0"')
    with pytest.raises(KeyError):
        store.get_version("k", "nothing")
    store.delete("k")


def test_reads_what_was_written(store: ObjectStore) -> None:
    etag = store.put("k.json", b"one")
    stored = store.get("k.json")
    assert stored is not None
    assert (stored.body, stored.etag) == (b"one", etag)


@pytest.mark.parametrize("body", [b"", b"\x00\xff" * 5, b"x" * 3_000_000], ids=["empty", "binary", "3 MB"])
def test_any_body(store: ObjectStore, body: bytes) -> None:
    store.put("k", body)
    stored = store.get("k")
    assert stored is not None
    assert stored.body == body


@pytest.mark.parametrize("body", [b"", b"x", b"\x00\xff" * 5, b"0123456789" * 10_000], ids=len)
def test_the_start_of_an_object(store: ObjectStore, body: bytes) -> None:
    store.put("k", body)
    assert store.get_start("k", 10) == body[:10]
    assert store.get_start("k", 1) == body[:1]
    assert store.get_start("k", 1_000_000) == body


def test_there_is_no_start_of_what_is_not_there(store: ObjectStore) -> None:
    assert store.get_start("k", 10) is None
    store.put("k", b"x")
    store.delete("k")
    assert store.get_start("k", 10) is None


@pytest.mark.parametrize("key", ODD_KEYS)
def test_odd_keys_stay_themselves(store: ObjectStore, key: str) -> None:
    etag = store.put(key, b"x")
    store.put(key, b"y", when=IfMatch(etag))
    assert list(store.keys("")) == [key]
    assert len(store.versions(key)) == 2
    store.delete(key)
    assert store.get(key) is None


def test_unconditional_put_replaces(store: ObjectStore) -> None:
    store.put("k", b"one")
    store.put("k", b"two")
    assert _body(store, "k") == b"two"


def test_create_once(store: ObjectStore) -> None:
    store.put("k", b"one", when=IfAbsent())
    with pytest.raises(ConditionFailed):
        store.put("k", b"two", when=IfAbsent())
    assert _body(store, "k") == b"one"


def test_a_deleted_key_counts_as_absent(store: ObjectStore) -> None:
    store.put("k", b"one")
    store.delete("k")
    store.put("k", b"two", when=IfAbsent())
    assert _body(store, "k") == b"two"


def test_compare_and_set(store: ObjectStore) -> None:
    first = store.put("k", b"one")
    second = store.put("k", b"two", when=IfMatch(first))
    with pytest.raises(ConditionFailed):
        store.put("k", b"three", when=IfMatch(first))
    assert second != first
    assert _body(store, "k") == b"two"


@pytest.mark.parametrize("deleted", [False, True], ids=["never there", "deleted"])
def test_if_match_on_a_missing_key_never_resurrects(store: ObjectStore, deleted: bool) -> None:
    etag = store.put("k" if deleted else "other", b"one")
    store.delete("k")
    with pytest.raises(ConditionFailed):
        store.put("k", b"two", when=IfMatch(etag))
    assert store.get("k") is None


def test_get_unless(store: ObjectStore) -> None:
    etag = store.put("k", b"one")
    assert store.get_unless("k", etag) is None
    newer = store.put("k", b"two")
    stored = store.get_unless("k", etag)
    assert stored is not None
    assert (stored.body, stored.etag) == (b"two", newer)
    store.delete("k")
    with pytest.raises(KeyError):
        store.get_unless("k", newer)


def test_delete_on_condition(store: ObjectStore) -> None:
    old = store.put("k", b"one")
    new = store.put("k", b"two")
    with pytest.raises(ConditionFailed):
        store.delete("k", when=IfMatch(old))
    assert _body(store, "k") == b"two"
    store.delete("k", when=IfMatch(new))
    assert store.get("k") is None


def test_delete_on_condition_of_nothing(store: ObjectStore) -> None:
    etag = store.put("k", b"one")
    store.delete("k")
    with pytest.raises(ConditionFailed):
        store.delete("k", when=IfMatch(etag))


def test_delete_twice(store: ObjectStore) -> None:
    store.put("k", b"one")
    store.delete("k")
    store.delete("k")
    assert store.get("k") is None


def test_keys_in_utf8_order_below_the_prefix(store: ObjectStore, request: pytest.FixtureRequest) -> None:
    if "local" in request.node.name:
        request.applymarker(pytest.mark.xfail(strict=True, reason="SeaweedFS has an order of its own"))
    keys = ["p/a", "p/a/b", "p/a0", "p/é", "p/東", "p/\U0001f600", "q/a", "P/a"]
    for key in keys:
        store.put(key, b"")
    store.put("p/gone", b"")
    store.delete("p/gone")
    below = sorted((k for k in keys if k.startswith("p/")), key=str.encode)
    assert list(store.keys("p/")) == below
    assert list(store.keys("p/", after="p/a/b")) == below[2:]
    assert list(store.keys("p/", after="p/a/")) == below[1:]
    assert list(store.keys("p/", after="p/zzz")) == below[3:]
    assert list(store.keys("p/", after="z")) == []
    assert list(store.keys("nothing/")) == []


def test_versions_newest_first_with_delete_markers(store: ObjectStore) -> None:
    before = datetime.now(UTC) - timedelta(days=3650)
    store.put("k", b"one")
    store.put("k", b"two")
    store.delete("k")
    store.put("k/longer", b"other")
    store.put("k2", b"other")
    marker, two, one = store.versions("k")
    assert [v.deleted for v in (marker, two, one)] == [True, False, False]
    assert store.get_version("k", two.version_id).body == b"two"
    assert store.get_version("k", one.version_id).body == b"one"
    assert before < one.at <= two.at <= marker.at
    with pytest.raises(KeyError):
        store.get_version("k", marker.version_id)
    with pytest.raises(KeyError):
        store.get_version("k2", one.version_id)


def test_what_is_kept_beside_each_version(store: ObjectStore) -> None:
    etag = store.put("k", b"one", meta={"written-at": "2026-01-01T00:00:00.123Z", "written-by": "a%20b"})
    store.put("k", b"two", when=IfMatch(etag), meta={"written-by": "c"})
    store.put("k", b"three")
    three, two, one = store.versions("k")
    assert store.get_version("k", one.version_id).meta == {
        "written-at": "2026-01-01T00:00:00.123Z",
        "written-by": "a%20b",
    }
    assert store.get_version("k", two.version_id).meta == {"written-by": "c"}
    assert store.get_version("k", three.version_id).meta == {}
    latest = store.get("k")
    assert latest is not None
    assert latest.meta == {}


def test_a_listing_of_versions_says_when(store: ObjectStore) -> None:
    store.put("p/k", b"one")
    store.put("p/k", b"two")
    assert [v.at for v in _below(store, "p/")] == [v.at for v in store.versions("p/k")]


def _below(store: ObjectStore, prefix: str, limit: int = 1000) -> list[Version]:
    """Every version below the prefix, page by page."""
    found: list[Version] = []
    page = store.versions_below(prefix, limit=limit)
    found += page.versions
    while page.next is not None:
        page = store.versions_below(prefix, after=page.next, limit=limit)
        found += page.versions
    return found


@pytest.mark.parametrize("limit", [1, 2, 3, 1000])
def test_every_version_below_a_prefix_once(store: ObjectStore, limit: int) -> None:
    for key in ("p/a", "p/é +", "p/b", "p", "pq", "o/a"):
        for body in (b"one", b"two", b"three"):
            store.put(key, body)
    store.delete("p/b")

    found = _below(store, "p/", limit)

    assert len({(v.key, v.version_id) for v in found}) == len(found) == 10
    assert Counter(v.key for v in found) == {"p/a": 3, "p/é +": 3, "p/b": 4}
    assert {(v.key, v.deleted) for v in found if v.latest} == {
        ("p/a", False),
        ("p/é +", False),
        ("p/b", True),
    }
    assert [v.key for v in found if v.deleted] == ["p/b"]
    assert _below(store, "nothing/", limit) == []


def test_erased_versions_are_gone_for_good(store: ObjectStore) -> None:
    for key in ("p/a", "p/b +é", "q/a"):
        store.put(key, b"one")
        store.put(key, b"two")
    store.delete("p/a")
    kept = _below(store, "q/")

    gone = _below(store, "p/")
    store.erase(gone)
    store.erase(gone)  # again: as good
    store.erase([])

    assert _below(store, "p/") == [] == list(store.versions("p/a"))
    assert list(store.keys("p/")) == []
    with pytest.raises(KeyError):
        store.get_version("p/a", gone[0].version_id)
    assert _below(store, "q/") == kept
    store.put("p/a", b"new", when=IfAbsent())
    assert _body(store, "p/a") == b"new"


def test_erasing_old_versions_leaves_the_object(store: ObjectStore) -> None:
    for body in (b"one", b"two", b"three"):
        store.put("k", body)
    store.erase([v for v in _below(store, "k") if not v.latest])
    assert _body(store, "k") == b"three"
    assert len(store.versions("k")) == 1


def test_erasing_the_latest_version_shows_the_one_before(store: ObjectStore) -> None:
    store.put("k", b"one")
    store.delete("k")
    store.erase([v for v in _below(store, "k") if v.latest])
    assert _body(store, "k") == b"one"


def test_erasing_more_than_a_page(store: ObjectStore) -> None:
    for n in range(12):
        store.put(f"p/{n}", b"")
    while page := store.versions_below("p/", limit=5).versions:
        store.erase(page)
    assert _below(store, "p/") == []


def _body(store: ObjectStore, key: str) -> bytes | None:
    stored = store.get(key)
    return stored.body if stored else None


def _winners(write: Callable[[int], object]) -> int:
    def attempt(n: int) -> bool:
        try:
            write(n)
        except (ConditionFailed, Contended):
            return False
        return True

    with ThreadPoolExecutor(16) as pool:
        return sum(pool.map(attempt, range(16)))


def test_one_winner_of_sixteen_creations(atomic_backend: Backend) -> None:
    store = atomic_backend.objects()
    assert _winners(lambda n: store.put("k", b"%d" % n, when=IfAbsent())) == 1


def test_one_winner_of_sixteen_swaps(atomic_backend: Backend) -> None:
    store = atomic_backend.objects()
    for _ in range(5):
        etag = store.put("k", b"start")
        assert _winners(partial(_swap, store, etag)) == 1


def _swap(store: ObjectStore, etag: str, n: int) -> None:
    store.put("k", b"%d" % n, when=IfMatch(etag))


def test_no_update_is_lost(atomic_backend: Backend) -> None:
    store = atomic_backend.objects()
    store.put("k", b"0")

    def add_one(_: int) -> None:
        while True:
            stored = store.get("k")
            assert stored is not None
            try:
                store.put("k", b"%d" % (int(stored.body) + 1), when=IfMatch(stored.etag))
            except (ConditionFailed, Contended):
                continue
            return

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add_one, range(40)))
    assert _body(store, "k") == b"40"
