"""The compare-and-set document: whatever the store answers, a change is applied once and answered truthfully."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strandline.domain.errors import Aborted, FailedPrecondition, StrandlineError, Unavailable
from strandline.ports import Ambiguous, Contended
from strandline.storage.document import WRITES_KEPT, Change, Documents, Retry, Stamp
from tests.fakes import FakeClock, FakeIds, MemoryObjects

KEY = "notes.json"
LOST = Ambiguous("no answer")
RACE = Contended("409")
Notes = tuple[str, ...]


class NotesCodec:
    """A list of notes, as JSON."""

    content_type = "application/json"

    def encode(self, value: Notes, stamp: Stamp) -> bytes:
        return json.dumps({"revision": stamp.revision, "writes": stamp.writes, "notes": value}).encode()

    def decode(self, body: bytes) -> tuple[Notes, Stamp]:
        row = json.loads(body)
        return tuple(row["notes"]), Stamp(row["revision"], tuple((w, r) for w, r in row["writes"]))


class Desk:
    """A store with faults, documents over it, and another writer whom no fault hits."""

    def __init__(self, *, warm: int = 0, retry: Retry | None = None) -> None:
        self.store = MemoryObjects()
        self.clock = FakeClock()
        self.documents = Documents(self.store, NotesCodec(), self.clock, FakeIds(1), warm=warm, retry=retry)
        self.faults, self.calls = self.store.faults, self.store.calls
        quiet = MemoryObjects()
        quiet._entries = self.store._entries
        self._other = Documents(quiet, NotesCodec(), self.clock, FakeIds(2))
        self._others = 0

    def add(self, note: str) -> int:
        """Appends a note; answers how many notes there were when it landed."""
        return self.documents.update(KEY, adding(note))

    def other(self, times: int = 1) -> None:
        """The other writer adds as many notes."""
        for _ in range(times):
            self._others += 1
            self._other.update(KEY, adding(f"other {self._others}"))

    def notes(self) -> Notes:
        found = self._other.read(KEY)
        return found.value if found else ()

    def requests(self) -> dict[str, int]:
        """Requests since the last look."""
        counted = dict(self.calls)
        self.calls.clear()
        return counted


def adding(note: str) -> Callable[[Notes | None], Change[Notes, int]]:
    def change(notes: Notes | None) -> Change[Notes, int]:
        return Change((*(notes or ()), note), len(notes or ()))

    return change


def test_the_first_write() -> None:
    desk = Desk()
    assert desk.add("a") == 0
    assert desk.notes() == ("a",)
    assert desk.requests() == {"get": 1, "put": 1}


def test_revisions_count_up_and_name_their_writes() -> None:
    desk = Desk()
    for note in "abc":
        desk.add(note)
    found = desk.documents.read(KEY)
    assert found is not None
    assert found.stamp.revision == 3
    assert [revision for _, revision in found.stamp.writes] == [1, 2, 3]
    assert len({write_id for write_id, _ in found.stamp.writes}) == 3


def test_another_writer_between_read_and_write() -> None:
    desk = Desk()
    desk.add("a")
    desk.requests()
    desk.faults.before("put", desk.other)
    assert desk.add("b") == 2
    assert desk.notes() == ("a", "other 1", "b")
    assert desk.requests() == {"get": 2, "put": 2}


def test_another_writer_creates_first() -> None:
    desk = Desk()
    desk.faults.before("put", desk.other)
    assert desk.add("a") == 1
    assert desk.notes() == ("other 1", "a")


def test_the_answer_is_that_of_the_attempt_that_landed() -> None:
    desk = Desk()
    desk.faults.before("put", desk.other)
    desk.faults.after("put", LOST, nth=2)
    assert desk.add("a") == 1
    assert desk.notes() == ("other 1", "a")


@pytest.mark.parametrize("on_top", [0, 1, 5, WRITES_KEPT - 1])
def test_a_lost_answer_is_recognised_under_later_writes(on_top: int) -> None:
    desk = Desk()
    desk.add("a")
    desk.requests()
    desk.faults.after("put", lambda: desk.other(on_top))
    desk.faults.after("put", LOST)
    assert desk.add("b") == 1, "the answer is that of the attempt that landed"
    assert desk.notes()[:2] == ("a", "b")
    assert desk.notes().count("b") == 1
    assert desk.requests() == {"get": 2, "put": 1}


def test_the_write_id_is_known_for_so_many_writes_only() -> None:
    """Behind the window nobody can say whether it has happened: it is not applied again."""
    desk = Desk()
    desk.faults.after("put", lambda: desk.other(WRITES_KEPT))
    desk.faults.after("put", LOST)
    with pytest.raises(Unavailable):
        desk.add("a")
    assert desk.notes().count("a") == 1


def test_a_lost_creation_is_recognised() -> None:
    desk = Desk()
    desk.faults.after("put", LOST)
    assert desk.add("a") == 0
    assert desk.notes() == ("a",)


def test_a_write_that_never_arrived_is_repeated() -> None:
    desk = Desk()
    desk.faults.before("put", LOST)
    assert desk.add("a") == 0
    assert desk.notes() == ("a",)


def test_a_race_in_flight_is_repeated() -> None:
    desk = Desk()
    for nth in (1, 2, 3):
        desk.faults.before("put", RACE, nth=nth)
    assert desk.add("a") == 0
    assert desk.notes() == ("a",)
    assert desk.calls["put"] == 4


def test_attempts_spent_means_nothing_written() -> None:
    desk = Desk(retry=Retry(attempts=5))
    for nth in range(1, 6):
        desk.faults.before("put", desk.other if nth % 2 else RACE, nth=nth)
    with pytest.raises(Aborted) as aborted:
        desk.add("a")
    assert aborted.value.retryable
    assert desk.calls["put"] == 5
    assert "a" not in desk.notes()
    assert desk.add("a") == 3


def test_no_answer_to_the_end() -> None:
    desk = Desk(retry=Retry(attempts=4))
    for nth in range(1, 5):
        desk.faults.before("put", LOST, nth=nth)
    with pytest.raises(Unavailable) as unavailable:
        desk.add("a")
    assert unavailable.value.retryable
    assert desk.notes() == ()


def test_one_unclear_attempt_makes_the_end_unclear() -> None:
    """The first write may still arrive: saying "nothing was written" would be a guess."""
    desk = Desk(retry=Retry(attempts=3))
    desk.faults.late("put")
    desk.faults.before("put", RACE, nth=2)
    desk.faults.before("put", RACE, nth=3)
    with pytest.raises(Unavailable):
        desk.add("a")
    desk.faults.land()
    assert desk.notes() == ("a",)


@pytest.mark.parametrize("operation", ["update", "read", "read_warm"])
def test_a_store_that_does_not_answer_a_read(operation: str) -> None:
    desk = Desk(warm=1)
    desk.add("a")
    desk.faults.before("get", LOST)
    desk.faults.before("put", desk.other)  # the warm write fails, so that an update must read
    call: dict[str, Callable[[], object]] = {
        "update": lambda: desk.add("b"),
        "read": lambda: desk.documents.read(KEY),
        "read_warm": lambda: desk.documents.read_warm(KEY),
    }
    with pytest.raises(Unavailable):
        call[operation]()


@pytest.mark.parametrize("exists", [False, True], ids=["creation", "change"])
@pytest.mark.parametrize("lands", ["before the second try", "after the second try"])
def test_a_late_landing_does_not_double(exists: bool, lands: str) -> None:
    desk = Desk()
    before = ("a",) if exists else ()
    for note in before:
        desk.add(note)
    desk.faults.late("put")
    when = desk.faults.before if lands == "before the second try" else desk.faults.after
    when("put", desk.faults.land, nth=2)
    assert desk.add("b") == len(before)
    desk.other()
    assert desk.notes() == (*before, "b", "other 1")


def test_waits_are_jittered_and_bounded() -> None:
    retry = Retry(attempts=9, base=0.02, cap=0.5)
    desk = Desk(retry=retry)
    for nth in range(1, 10):
        desk.faults.before("put", RACE, nth=nth)
    with pytest.raises(Aborted):
        desk.add("a")
    slept = desk.clock.slept
    assert len(slept) == 8
    assert all(0 <= s <= min(0.5, 0.02 * 2**k) for k, s in enumerate(slept, start=1))
    assert len(set(slept)) == len(slept)


def test_a_success_at_once_does_not_wait() -> None:
    desk = Desk()
    desk.add("a")
    assert desk.clock.slept == []


# ---- the change's own refusals ----------------------------------------------------------------------------------


def _refuse(_: Notes | None) -> Change[Notes, int]:
    raise FailedPrecondition("no")


@pytest.mark.parametrize("warm", [0, 1])
def test_a_refused_change_writes_nothing(warm: int) -> None:
    desk = Desk(warm=warm)
    desk.add("a")
    desk.requests()
    with pytest.raises(FailedPrecondition):
        desk.documents.update(KEY, _refuse)
    assert desk.requests() == {"get": 1}
    assert desk.notes() == ("a",)


def test_a_change_that_wants_nothing_writes_nothing() -> None:
    desk = Desk()
    desk.add("a")
    desk.requests()
    assert desk.documents.update(KEY, lambda _: Change(None, "same")) == "same"
    assert desk.requests() == {"get": 1}


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


class Kill(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("landed", [False, True])
def test_a_kill_is_not_swallowed(landed: bool) -> None:
    desk = Desk(warm=1)
    desk.add("a")
    (desk.faults.after if landed else desk.faults.before)("put", Kill())
    with pytest.raises(Kill):
        desk.add("b")
    assert desk.notes() == (("a", "b") if landed else ("a",))


# ---- everything at once -------------------------------------------------------------------------------------------

FATES = st.sampled_from(["fine", "fine", "before", "after", "race", "late", "land", "other", "other on top"])


def _plan(desk: Desk, nth: int, fate: str) -> None:
    plans: dict[str, Callable[[], None]] = {
        "fine": lambda: None,
        "before": lambda: desk.faults.before("put", LOST, nth=nth),
        "after": lambda: desk.faults.after("put", LOST, nth=nth),
        "race": lambda: desk.faults.before("put", RACE, nth=nth),
        "late": lambda: desk.faults.late("put", nth=nth),
        "land": lambda: desk.faults.before("put", desk.faults.land, nth=nth),
        "other": lambda: desk.faults.before("put", desk.other, nth=nth),
        "other on top": lambda: _lost_under(desk, nth),
    }
    plans[fate]()


def _lost_under(desk: Desk, nth: int) -> None:
    desk.faults.after("put", lambda: desk.other(3), nth=nth)
    desk.faults.after("put", LOST, nth=nth)


@given(fates=st.lists(FATES, max_size=24), warm=st.sampled_from([0, 1]), attempts=st.integers(1, 5))
def test_any_order_of_faults(fates: list[str], warm: int, attempts: int) -> None:
    """Acknowledged: exactly once, and where it says. Aborted: not at all. Unavailable: at most once."""
    desk = Desk(warm=warm, retry=Retry(attempts=attempts))
    for nth, fate in enumerate(fates, start=1):
        _plan(desk, nth, fate)
    outcomes: dict[str, int | type[StrandlineError]] = {}
    for note in ("a", "b", "c", "d", "e", "f"):
        try:
            outcomes[note] = desk.add(note)
        except (Aborted, Unavailable) as error:
            outcomes[note] = type(error)
    desk.faults.land()
    notes = desk.notes()
    for note, outcome in outcomes.items():
        if isinstance(outcome, int):
            assert notes.count(note) == 1
            assert notes[outcome] == note
        else:
            assert notes.count(note) <= (outcome is Unavailable)
    assert sorted(n for n in notes if n.startswith("other")) == sorted(
        f"other {n}" for n in range(1, desk._others + 1)
    )
