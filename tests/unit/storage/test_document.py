"""The compare-and-set document: whatever the store answers, a change is applied once and answered truthfully."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strandline.domain.errors import Aborted, FailedPrecondition, StrandlineError, Unavailable
from strandline.ports import ConditionFailed
from strandline.storage.document import WRITES_KEPT, Change, Retry
from tests.unit.storage.desk import KEY, LOST, RACE, Desk, Notes


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


def test_a_last_attempt_that_is_refused_by_its_own_write_has_written() -> None:
    """The network sent it twice, and the answer is that of the second."""
    desk = Desk(retry=Retry(attempts=1))
    desk.faults.after("put", ConditionFailed("412"))
    assert desk.add("a") == 0
    assert desk.notes() == ("a",)


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
    assert all(0 <= s <= min(0.5, 0.02 * 2**k) for k, s in enumerate(slept))
    assert len(set(slept)) == len(slept)


def test_a_slow_store_is_not_tried_until_the_function_is_killed() -> None:
    """Six seconds a PUT: begun after 0, 6 and 12 seconds, no more after 18."""
    desk = Desk(retry=Retry(attempts=9, base=0.0, seconds=15))
    for nth in range(1, 10):
        desk.faults.before("put", lambda: desk.clock.advance(6), nth=nth)
        desk.faults.before("put", RACE, nth=nth)
    with pytest.raises(Aborted):
        desk.add("a")
    assert desk.calls["put"] == 3


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
