"""What a warm function remembers of objects that are written once."""

from strandline.ports import Stored
from strandline.storage.warm import Warm
from tests.fakes import FakeClock, MemoryObjects


def body(found: Stored | None) -> bytes | None:
    return found.body if found else None


def test_it_is_read_once_and_again_after_a_minute() -> None:
    clock, objects = FakeClock(), MemoryObjects()
    warm = Warm(objects, 1_000, clock)
    assert warm.get("a") is None
    objects.put("a", b"secret")
    assert [body(warm.get("a")) for _ in range(3)] == [b"secret"] * 3
    assert objects.calls["get"] == 2
    objects.put("a", b"[redacted:password]")
    clock.advance(60)
    assert body(warm.get("a")) == b"secret"
    clock.advance(1)
    assert body(warm.get("a")) == b"[redacted:password]"


def test_the_oldest_give_way_and_what_is_too_large_is_not_kept() -> None:
    objects = MemoryObjects()
    warm = Warm(objects, 100, FakeClock())
    for name in "abcde":
        objects.put(name, b"x" * 25)
        warm.get(name)
    objects.put("large", b"x" * 26)
    before = objects.calls["get"]
    for name in "edcb":
        warm.get(name)
    assert objects.calls["get"] == before
    warm.get("a")
    warm.get("large")
    warm.get("large")
    assert objects.calls["get"] == before + 3
