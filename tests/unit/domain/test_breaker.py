"""When an auto compaction may be asked for, and how one that failed or succeeded is told from one that is lost."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from strandline.domain.compaction import breaker
from strandline.domain.compaction.state import Baseline, Compaction, ContextState, Decision
from strandline.domain.session import Archive, Head

NOW = datetime(2026, 1, 1, tzinfo=UTC)
AT = "2026-01-01T00:00:00.000Z"
HEAL = 900
ASKED = Compaction("t", 10, AT, max_failures=3, cool_down_seconds=300)
LIVE = Head("a", "u", "s", "i", AT, AT, last_seq=30, live_from=1)
PENDING = replace(LIVE, live_from=11, commit_count=1, pending=(Archive(1, 1, 10, AT, task="t"),))
FAILED = replace(PENDING, pending=(), failed=(Archive(1, 1, 10, AT, reason="prose", task="t"),))
DONE = replace(PENDING, pending=(), completed=1, latest_done=1)


def later(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def after(failures: int) -> ContextState:
    state = ContextState("i", compaction=ASKED)
    for _ in range(failures):
        state = breaker.failed(state, "prose", NOW, over=False)
    return state


@pytest.mark.parametrize(
    ("head", "through", "archives"),
    [(LIVE, 0, 0), (PENDING, 0, 0), (FAILED, 0, 0), (DONE, 10, 1)],
)
def test_the_boundary_is_the_end_of_the_unbroken_run(head: Head, through: int, archives: int) -> None:
    assert (head.covered_through, head.covered_archives) == (through, archives)


def test_an_archive_that_is_done_behind_one_that_is_not_moves_no_boundary() -> None:
    head = replace(
        LIVE, live_from=21, commit_count=3, failed=(Archive(2, 6, 10, AT),), pending=(Archive(3, 11, 20, AT),)
    )
    assert (head.covered_through, head.covered_archives) == (5, 1)
    assert breaker.in_the_way(head) == Archive(2, 6, 10, AT)


def test_the_third_failure_in_a_row_opens_it_for_as_long_as_was_said() -> None:  # B-D7
    two, three = after(2), after(3)
    assert (two.failures, two.retry_at, two.compaction) == (2, None, ASKED)
    assert (three.failures, three.last_error, three.compaction) == (3, "prose", None)
    assert three.retry_at == "2026-01-01T00:05:00.000Z"
    assert breaker.is_open(three, later(299.999)) and not breaker.is_open(three, later(300))


def test_a_failure_with_no_compaction_under_way_counts_nothing() -> None:
    state = ContextState("i", failures=1)
    assert breaker.failed(state, "prose", NOW, over=True) is state


def test_a_trial_that_fails_opens_it_again_and_one_that_succeeds_closes_it() -> None:  # B-D7
    trial = breaker.asked(after(3), ASKED, later(300))
    assert trial.retry_at == "2026-01-01T00:10:00.000Z"  # until it is known how it went
    again = breaker.failed(trial, "prose again", later(310), over=True)
    assert (again.failures, again.retry_at) == (4, "2026-01-01T00:10:10.000Z")
    closed = breaker.moved(trial, DONE)
    assert (closed.failures, closed.last_error, closed.retry_at, closed.compaction) == (0, None, None, None)


def test_asking_while_it_is_closed_opens_nothing() -> None:
    assert breaker.asked(ContextState("i"), ASKED, NOW).retry_at is None


def test_a_boundary_that_has_moved_makes_a_new_generation() -> None:
    decisions = {(10, None): Decision("budget", 5), (11, 0): Decision("snip")}
    baseline = Baseline(100, "f", 0, 12)
    state = breaker.moved(ContextState("i", decisions=decisions, baseline=baseline, sent_through=12), DONE)
    assert (state.generation, state.covered_through, state.sent_through) == (1, 10, 12)
    assert state.decisions == {(11, 0): Decision("snip")}
    assert state.baseline == baseline  # which is of another generation now: it counts for nothing
    assert breaker.moved(state, DONE) is state


def test_a_compaction_that_has_further_to_go_stays_under_way() -> None:
    further = replace(ASKED, through=20)
    head = replace(DONE, live_from=21, commit_count=2, pending=(Archive(2, 11, 20, AT),))
    assert breaker.moved(ContextState("i", compaction=further), head).compaction == further


def test_a_compaction_whose_archive_ends_before_what_was_asked_is_over_with_it() -> None:
    made = Archive(1, 1, 8, AT, by="t", task="t")
    head = replace(LIVE, live_from=9, commit_count=1, completed=1, keyed=(made,))
    assert breaker.moved(ContextState("i", compaction=ASKED), head).compaction is None


@pytest.mark.parametrize(
    ("head", "seconds", "expected"),
    [
        (LIVE, 1019, True),
        (LIVE, 1020, False),  # whoever was to make its archive has died
        (PENDING, 10**6, True),  # the sweep sees to that it ends
        (FAILED, 119, True),  # it is being revived
        (FAILED, 120, False),
    ],
)
def test_how_long_a_compaction_is_waited_for(head: Head, seconds: float, expected: bool) -> None:  # B-D7
    state = ContextState("i", compaction=ASKED)
    assert breaker.under_way(state, head, later(seconds), HEAL) is expected


@pytest.mark.parametrize(
    ("state", "head", "expected"),
    [
        (ContextState("i"), LIVE, "none"),
        (ContextState("i", compaction=ASKED), LIVE, "scheduled"),
        (ContextState("i", compaction=ASKED), PENDING, "running"),
        (after(3), FAILED, "open"),
        (after(2), DONE, "scheduled"),
    ],
)
def test_the_status(state: ContextState, head: Head, expected: str) -> None:
    assert breaker.status(state, head, later(1), HEAL) == expected


def test_what_was_asked_for_by_another_name_is_not_called_off() -> None:
    state = ContextState("i", compaction=ASKED)
    assert breaker.called_off(state, "t").compaction is None
    assert breaker.called_off(state, "another") is state
