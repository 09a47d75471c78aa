"""What only the fakes can do: fail as planned, count, and deliver again."""

import pytest

from strandline.domain.contracts import CommitRequested, SessionRef
from strandline.ports import Ambiguous, Contended, IfAbsent
from tests.fakes import MemoryItems, MemoryObjects, MemoryQueue


def _message(user: str, keep: int) -> CommitRequested:
    ref = SessionRef(account_id="a", user_id=user, session_id="s", incarnation="i")
    return CommitRequested(session=ref, keep_recent_count=keep)


def test_a_fault_hits_the_nth_call_of_its_operation_once() -> None:
    store = MemoryObjects()
    store.put("k", b"0")
    store.faults.before("put", Contended("race"), nth=2)
    store.put("k", b"1")
    store.get("k")
    with pytest.raises(Contended):
        store.put("k", b"2")
    store.put("k", b"3")
    assert store.calls == {"put": 4, "get": 1}


def test_before_after_and_late() -> None:
    store = MemoryObjects()
    store.faults.before("put", Ambiguous("down"))
    with pytest.raises(Ambiguous):
        store.put("a", b"")
    store.faults.after("put", Ambiguous("lost"))
    with pytest.raises(Ambiguous):
        store.put("b", b"")
    store.faults.late("put")
    with pytest.raises(Ambiguous):
        store.put("c", b"", when=IfAbsent())
    assert list(store.keys("")) == ["b"]
    store.faults.land()
    store.faults.land()
    assert list(store.keys("")) == ["b", "c"]
    assert len(store.versions("c")) == 1


def test_another_writer_comes_first() -> None:
    table = MemoryItems()
    table.faults.before("put", lambda: table.update("p", "s", {"a": 1}))
    table.put({"pk": "p", "sk": "s", "b": 2}, when={"a": 1})
    assert table.rows() == [{"pk": "p", "sk": "s", "b": 2}]


def test_requests_and_bytes_are_counted() -> None:
    store = MemoryObjects(page=2)
    for key in "abc":
        store.put(key, b"1234")
    store.get("a")
    etag = store.put("a", b"12")
    assert store.get_unless("a", etag) is None
    listing = store.keys("")
    next(listing)
    assert store.calls["list"] == 1, "a page is fetched when it is needed"
    list(listing)
    assert store.calls == {"put": 4, "get": 2, "list": 2}
    assert store.bytes == {"put": 14, "get": 4}


def test_what_a_table_hands_out_is_a_copy() -> None:
    table = MemoryItems()
    values = {"pk": "p", "sk": "s", "list": [1]}
    table.put(values)
    values["list"] = []
    found = table.get("p", "s")
    assert found is not None
    found["list"].append(2)
    assert table.rows() == [{"pk": "p", "sk": "s", "list": [1]}]


@pytest.mark.parametrize("item", [{"pk": "", "sk": "s"}, {"pk": "p", "sk": "s", "v": "x" * 400 * 1024}])
def test_what_dynamodb_would_refuse(item: dict[str, str]) -> None:
    with pytest.raises(ValueError):
        MemoryItems().put(item)


def test_a_message_comes_again_until_it_is_done() -> None:
    queue = MemoryQueue()
    queue.send(_message("u", 1))
    (first,) = queue.receive()
    assert queue.receive() == []
    queue.back(first)
    (second,) = queue.receive()
    assert second.received == 2
    queue.done(second)
    assert len(queue) == 0
    assert queue.sent == [_message("u", 1)]


def test_a_fifo_group_waits_for_its_message_in_flight() -> None:
    queue = MemoryQueue(fifo=True)
    for user, keep in (("u", 1), ("u", 2), ("v", 3)):
        queue.send(_message(user, keep))
    (first,) = queue.receive(1)
    assert [d.group for d in queue.receive()] == ["a/v"]
    queue.done(first)
    assert [d.message for d in queue.receive()] == [_message("u", 2)]
