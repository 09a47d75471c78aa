"""Documents in layers: what is read and written when, and what is removed."""

import pytest

from strandline.domain import layers
from strandline.domain.errors import Corrupt, Unavailable
from strandline.domain.layers import Layer
from strandline.ports import Ambiguous
from strandline.storage import layered
from strandline.storage.document import Change, Versioned
from strandline.storage.layered import LayeredDocuments
from strandline.storage.layout import User, layers_of
from strandline.storage.vectors import Rows, Vectors, VectorsCodec
from tests.fakes import FakeClock, FakeIds, MemoryObjects

KEY = User("acme", "alice").vectors("memories")
Store = LayeredDocuments[Vectors, Rows]


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three vectors of two bytes are a layer."""
    monkeypatch.setattr(layers, "HEAD_WEIGHT", 100)


@pytest.fixture
def objects() -> MemoryObjects:
    return MemoryObjects()


def store(objects: MemoryObjects) -> Store:
    return LayeredDocuments(objects, VectorsCodec(), FakeClock(), FakeIds())


def rows(*numbers: int) -> Rows:
    return {f"{number:08d}".encode(): bytes((number, 0)) for number in numbers}


def add(to: Store, *numbers: int) -> None:
    to.update(KEY, lambda now: Change((now or Vectors("m")).with_rows(rows(*numbers), ()), None))


def keys(objects: MemoryObjects) -> list[str]:
    return sorted(objects.keys(layers_of(KEY)))


def read(by: Store) -> Versioned[Vectors]:
    found = by.read(KEY)
    assert found is not None
    return found


def test_a_small_one_is_one_object(objects: MemoryObjects) -> None:
    add(store(objects), 1, 2)
    assert (read(store(objects)).value, keys(objects)) == (Vectors("m", rows(1, 2)), [])
    assert objects.calls == {"get": 2, "put": 1, "list": 1}


def test_a_heavy_head_becomes_a_layer_before_the_head_names_it(objects: MemoryObjects) -> None:
    first = store(objects)
    add(first, 1, 2)
    objects.faults.after("put", Ambiguous("down"))  # the layer
    add(first, 3)
    (layer,) = keys(objects)
    assert layer.startswith(f"{layers_of(KEY)}000000000002-")
    assert dict(read(store(objects)).value.rows) == rows(1, 2, 3)
    assert objects.calls["put"] == 4  # twice the same layer


def test_a_warm_reader_gets_only_the_layers_that_are_new(objects: MemoryObjects) -> None:
    writer, reader = store(objects), store(objects)
    add(writer, 1, 2, 3)
    read(reader)
    add(writer, 4, 5, 6)
    before = objects.calls["get"]
    assert dict(reader.read_warm(KEY).value.rows) == rows(1, 2, 3, 4, 5, 6)  # type: ignore[union-attr]
    assert objects.calls["get"] == before + 2
    objects.bytes.clear()
    reader.read_warm(KEY)
    assert (objects.calls["get"], objects.bytes["get"]) == (before + 3, 0)


def merged(objects: MemoryObjects) -> Store:
    """A writer who has just made one layer of four."""
    writer = store(objects)
    for number in range(0, 12, 3):
        add(writer, number, number + 1, number + 2)
    assert len(keys(objects)) == 4
    return writer


def test_layers_that_went_into_another_are_removed(objects: MemoryObjects) -> None:
    writer = merged(objects)
    writer.tidy(KEY)
    (layer,) = keys(objects)
    assert layer.startswith(f"{layers_of(KEY)}000000000004-")
    assert dict(read(store(objects)).value.rows) == rows(*range(12))
    lists = objects.calls["list"]
    writer.tidy(KEY)
    assert objects.calls["list"] == lists, "there is nothing to look for"


def test_a_reader_of_an_older_head_reads_again(objects: MemoryObjects) -> None:
    writer, reader = store(objects), store(objects)
    for number in (0, 3, 6):
        add(writer, number, number + 1, number + 2)

    def merge() -> None:
        add(writer, 9, 10, 11)
        writer.tidy(KEY)

    objects.faults.after("get", merge)  # when the reader has the head
    assert dict(read(reader).value.rows) == rows(*range(12))


def test_what_somebody_is_about_to_name_is_not_removed(objects: MemoryObjects) -> None:
    writer, other = merged(objects), store(objects)
    base = read(other)
    assert base.stamp.revision == 4
    settled = other._prepared(KEY, base, base.value.with_rows(rows(20, 21, 22), ()), base.stamp.next("w"))
    assert [str(layer.name)[:12] for layer in settled.layers] == ["000000000004", "000000000005"]
    writer.tidy(KEY)
    other.write(KEY, base, settled, "w")
    assert dict(read(store(objects)).value.rows) == rows(*range(12), 20, 21, 22)


def test_what_a_crash_left_is_removed_with_the_next(objects: MemoryObjects) -> None:
    writer, dead = store(objects), store(objects)
    add(writer, 0, 1, 2)
    base = read(dead)
    dead._prepared(KEY, base, base.value.with_rows(rows(90, 91, 92), ()), base.stamp.next("w"))
    assert len(keys(objects)) == 2
    for number in (3, 6, 9):
        add(writer, number, number + 1, number + 2)
    writer.tidy(KEY)
    assert len(keys(objects)) == 1


def test_a_layer_that_is_lost_is_no_index(objects: MemoryObjects) -> None:
    add(store(objects), 1, 2, 3)
    objects.delete(keys(objects)[0])
    with pytest.raises(Corrupt):
        store(objects).read(KEY)


def test_a_head_that_goes_meanwhile(objects: MemoryObjects) -> None:
    add(store(objects), 1, 2, 3)
    (layer,) = keys(objects)

    def erase() -> None:
        objects.delete(KEY)
        objects.delete(layer)

    objects.faults.after("get", erase)
    with pytest.raises(Unavailable):
        store(objects).read(KEY)


def test_the_warm_ones_are_those_used_last_that_fit(
    objects: MemoryObjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layered, "WARM_BYTES", 2 * layered._ENTRY_BYTES + 10_000)
    one = store(objects)
    others = [User("acme", name).vectors("memories") for name in ("a", "b", "c")]
    for key in others:
        one.update(key, lambda _: Change(Vectors("m", rows(1)), None))
    assert [key for key in others if one._cache.get(key)] == others[1:]
    one.update(others[0], lambda _: Change(Vectors("m", rows(*range(100))), None))
    assert [key for key in others if one._cache.get(key)] == others[:1], "one that does not fit is kept alone"


def test_a_layer_is_named_or_to_be_named() -> None:
    plain = Vectors("m", rows(1), (Layer(rows(2), "n"),))
    assert plain.without(()) is plain
    assert plain.with_rows({}, rows(3).keys()) is plain
    assert plain.without(rows(2).keys()) == Vectors("m", rows(1), ())  # an empty layer is none
