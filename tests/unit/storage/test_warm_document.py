"""The remembered document: tried first, trusted never."""

import pytest

from strandline.domain.errors import FailedPrecondition
from strandline.storage.document import Change
from tests.unit.storage.desk import KEY, LOST, Desk, Notes, adding

# ---- the warm cache -----------------------------------------------------------------------------------------------


def test_a_warm_update_is_one_put() -> None:
    desk = Desk(warm=1)
    desk.add("a")
    desk.requests()
    for n, note in enumerate("bcd", start=1):
        assert desk.add(note) == n
    assert desk.requests() == {"put": 3}
    assert desk.notes() == ("a", "b", "c", "d")


def test_a_stale_warm_value_is_read_again() -> None:
    desk = Desk(warm=1)
    desk.add("a")
    desk.other(2)
    desk.requests()
    assert desk.add("b") == 3
    assert desk.notes() == ("a", "other 1", "other 2", "b")
    assert desk.requests() == {"put": 2, "get": 1}


def test_a_stale_guess_does_not_wait() -> None:
    """Somebody else has written since, perhaps long ago: that is no crowd yet."""
    desk = Desk(warm=1)
    desk.add("a")
    desk.other()
    desk.add("b")
    assert desk.clock.slept == []


def test_a_document_that_others_write_too_is_looked_at_first() -> None:
    """Two functions in turn: one refused PUT, and none with every write."""
    desk = Desk(warm=1)
    desk.add("a")
    desk.other()
    assert desk.add("b") == 2
    desk.requests()
    for n in range(2, 5):
        desk.other()
        assert desk.add("c") == 2 * n
    assert desk.requests() == {"get": 3, "put": 3}


def test_when_the_others_have_stopped_it_is_guessed_again() -> None:
    desk = Desk(warm=1)
    desk.add("a")
    desk.other()
    desk.add("b")
    desk.requests()
    moved = desk.store.bytes["get"]
    desk.add("c")
    assert desk.requests() == {"get": 1, "put": 1}
    assert desk.store.bytes["get"] == moved, "it has not changed: no body"
    desk.add("d")
    assert desk.requests() == {"put": 1}
    assert desk.notes() == ("a", "other 1", "b", "c", "d")


def test_what_is_known_of_others_goes_with_the_cache() -> None:
    desk = Desk(warm=1)
    desk.add("a")
    desk.other()
    desk.add("b")
    desk.documents.update("another", adding("a"))
    desk.add("c")
    desk.requests()
    desk.add("d")
    assert desk.requests() == {"put": 1}


def test_a_warm_value_deleted_underneath_is_not_resurrected() -> None:
    desk = Desk(warm=1)
    desk.add("a")
    desk.store.delete(KEY)
    assert desk.add("b") == 0
    assert desk.notes() == ("b",)


def test_a_lost_answer_to_a_warm_write_is_recognised() -> None:
    desk = Desk(warm=1)
    desk.add("a")
    desk.requests()
    desk.faults.after("put", LOST)
    assert desk.add("b") == 1
    assert desk.add("c") == 2
    assert desk.notes() == ("a", "b", "c")
    assert desk.requests() == {"put": 2, "get": 1}, "warm again after the look"


def test_what_a_warm_value_refuses_is_decided_on_a_fresh_one() -> None:
    desk = Desk(warm=1)
    desk.add("a")
    desk.other()

    def only_second(notes: Notes | None) -> Change[Notes, int]:
        if notes is None or len(notes) != 2:
            raise FailedPrecondition("not yet")
        return Change((*notes, "b"), 2)

    assert desk.documents.update(KEY, only_second) == 2
    assert desk.notes() == ("a", "other 1", "b")


def test_what_a_warm_value_leaves_alone_is_decided_on_a_fresh_one() -> None:
    desk = Desk(warm=1)
    desk.add("a")
    desk.other()

    def clear_others(notes: Notes | None) -> Change[Notes, str]:
        kept = tuple(n for n in notes or () if not n.startswith("other"))
        return Change(None if kept == notes else kept, "cleared")

    desk.documents.update(KEY, clear_others)
    assert desk.notes() == ("a",)


def test_a_bug_in_a_change_is_not_taken_for_a_stale_cache() -> None:
    desk = Desk(warm=1)
    desk.add("a")
    desk.requests()
    with pytest.raises(ZeroDivisionError):
        desk.documents.update(KEY, lambda notes: Change(notes, 1 // 0))
    assert desk.requests() == {}


def test_the_cache_keeps_the_newest_used() -> None:
    desk = Desk(warm=2)
    for key in ("a", "b", "a", "c"):
        desk.documents.update(key, adding(key))
    desk.requests()
    for key in ("a", "c"):
        desk.documents.update(key, adding(key))
    assert desk.requests() == {"put": 2}
    desk.documents.update("b", adding("b"))
    assert desk.requests() == {"get": 1, "put": 1}


def test_read_warm_moves_no_body_while_nothing_changes() -> None:
    desk = Desk(warm=1)
    desk.add("a")
    moved = desk.store.bytes["get"]
    first, second = desk.documents.read_warm(KEY), desk.documents.read_warm(KEY)
    assert first == second
    assert first is not None
    assert first.value == ("a",)
    assert desk.store.bytes["get"] == moved
    desk.other()
    third = desk.documents.read_warm(KEY)
    assert third is not None
    assert third.value == ("a", "other 1")
    desk.store.delete(KEY)
    assert desk.documents.read_warm(KEY) is None
    assert desk.documents.read_warm(KEY) is None
