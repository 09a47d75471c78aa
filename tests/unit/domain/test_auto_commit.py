"""When a session is committed by itself: the decision on a head, case by case."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from strandline.domain.auto_commit import (
    AutoCommit,
    AutoCommitPolicy,
    Triggers,
    committed,
    decide,
    next_look,
    policy_of,
    stumbled,
    unmarked,
    wants_marker,
)
from strandline.domain.errors import InvalidArgument
from strandline.domain.session import Head
from strandline.domain.times import stamp

START = datetime(2026, 1, 1, tzinfo=UTC)
QUIET = {
    "pending_token_threshold": 0,
    "message_count_threshold": 0,
    "idle_timeout_seconds": 0,
    "keep_recent_count": 0,
}
IDLE, NEVER_OLD = Triggers(idle=True), Triggers(idle=True, max_age_seconds=0)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def head(live: int = 3, tokens: int = 30, **policy: int) -> Head:
    """A session of so many live messages, the first and the last written at the start."""
    return Head(
        account_id="a",
        user_id="u",
        session_id="s",
        incarnation="i",
        created_at=stamp(START),
        updated_at=stamp(START),
        auto_commit_policy=AutoCommitPolicy.from_dict(QUIET | policy).to_dict(),
        last_seq=live,
        pending_tokens=tokens,
        last_message_at=stamp(START) if live else None,
        live_since=stamp(START) if live else None,
    )


@pytest.mark.parametrize(
    ("live", "tokens", "fires"),
    [(3, 20, False), (4, 20, True), (1, 20, False), (3, 21, True), (0, 0, False)],
)
def test_a_threshold_is_passed_only_beyond_it(live: int, tokens: int, fires: bool) -> None:  # B-B6
    policy = {"message_count_threshold": 3, "pending_token_threshold": 20, "keep_recent_count": 1}
    found = decide(head(live, tokens, **policy), START, IDLE)
    assert found == (AutoCommit("threshold", 1) if fires else None)


def test_a_threshold_of_zero_never_fires() -> None:  # B-B6
    assert decide(head(10_000, 10_000_000), START, NEVER_OLD) is None


def test_nothing_is_due_while_all_of_it_would_be_kept() -> None:
    assert decide(head(2, 999, pending_token_threshold=5, keep_recent_count=2), START, IDLE) is None
    assert decide(head(3, 999, pending_token_threshold=5, keep_recent_count=2), START, IDLE) is not None


def test_without_a_policy_nothing_is_ever_due() -> None:  # B-A1
    off = replace(head(999, 999_999), auto_commit_policy=None)
    assert decide(off, at(10**9), IDLE) is None
    assert next_look(off, START, IDLE) is None
    assert wants_marker(off, START, IDLE) is None


@pytest.mark.parametrize(("seconds", "fires"), [(59, False), (60, True), (10**6, True)])
def test_an_idle_session_is_archived_whole(seconds: int, fires: bool) -> None:  # B-B8
    quiet = head(idle_timeout_seconds=60, keep_recent_count=2)
    assert decide(quiet, at(seconds), NEVER_OLD) == (AutoCommit("idle", 0) if fires else None)


def test_idle_is_off_in_a_deployment_that_says_so() -> None:
    quiet = head(idle_timeout_seconds=60)
    assert decide(quiet, at(600), Triggers(idle=False)) is None
    assert next_look(quiet, START, Triggers(idle=False)) == at(604_800)
    assert next_look(quiet, START, Triggers(idle=False, max_age_seconds=0)) is None


def test_what_never_idles_is_committed_at_its_greatest_age() -> None:
    chat = replace(head(idle_timeout_seconds=3_600), last_message_at=stamp(at(604_799)))
    assert decide(chat, at(604_799), IDLE) is None
    assert decide(chat, at(604_800), IDLE) == AutoCommit("age", 0)
    assert next_look(chat, at(604_799), IDLE) == at(604_800)


@pytest.mark.parametrize(("seconds", "fires"), [(99, False), (100, True)])
def test_a_pause_between_two_automatic_commits(seconds: int, fires: bool) -> None:  # B-B10
    busy = head(9, message_count_threshold=1, min_commit_interval_seconds=100)
    assert decide(busy, START, IDLE) is not None
    assert (decide(committed(busy, stamp(START)), at(seconds), IDLE) is not None) is fires
    by_hand = replace(busy, last_commit_at=stamp(START))
    assert decide(by_hand, at(1), IDLE) is not None


def test_a_pause_holds_for_idle_too_and_the_sweep_comes_after_it() -> None:
    quiet = committed(head(idle_timeout_seconds=60, min_commit_interval_seconds=500), stamp(START))
    assert decide(quiet, at(499), NEVER_OLD) is None
    assert next_look(quiet, at(60), NEVER_OLD) == at(500)
    assert decide(quiet, at(500), NEVER_OLD) == AutoCommit("idle", 0)


def test_the_first_look_is_the_earliest_of_what_may_come_due() -> None:
    assert wants_marker(head(idle_timeout_seconds=60), START, IDLE) == at(60)
    assert wants_marker(head(), START, IDLE) == at(604_800)
    assert wants_marker(replace(head(idle_timeout_seconds=60), mark="m"), START, IDLE) is None


def test_what_is_written_down_of_a_commit() -> None:  # B-B12
    failed = stumbled(replace(head(), mark="m"), "no answer", stamp(at(1)))
    assert (failed.auto_commit_last_error, failed.auto_commit_last_error_at) == ("no answer", stamp(at(1)))
    done = committed(failed, stamp(at(2)))
    assert (done.auto_commit_last_error, done.auto_commit_last_error_at) == (None, None)
    assert (done.last_auto_commit_at, done.mark) == (stamp(at(2)), "m")
    assert committed(replace(head(0), mark="m"), stamp(at(2))).mark is None


def test_only_an_empty_session_forgets_its_own_marker() -> None:
    empty, full = replace(head(0), mark="m"), replace(head(1), mark="m")
    without = unmarked(empty, "m", START, IDLE)
    assert without is not None and without.mark is None
    assert unmarked(empty, "n", START, IDLE) is empty
    assert unmarked(full, "m", START, IDLE) is None


@pytest.mark.parametrize(
    "given", [{"x": 1}, 42, "abc", [], True, {"keep_recent_count": "1"}, {"keep_recent_count": True}]
)
def test_what_is_no_policy(given: Any) -> None:  # B-B11
    with pytest.raises(InvalidArgument):
        AutoCommitPolicy.from_dict(given)


def test_a_null_field_is_told_how_to_switch_it_off() -> None:  # B-B11
    with pytest.raises(InvalidArgument, match="auto_commit_policy=null"):
        AutoCommitPolicy.from_dict({"message_count_threshold": None})


@pytest.mark.parametrize(
    ("given", "kept"), [(10_000_000, 50_000), (-5, 0), (8.9, 8), (float("inf"), 50_000), (0, 0)]
)
def test_values_are_clamped(given: float, kept: int) -> None:  # B-B11
    assert AutoCommitPolicy.from_dict({"pending_token_threshold": given}).pending_token_threshold == kept


@pytest.mark.parametrize(("keep", "count", "accepted"), [(50, 50, False), (49, 50, True), (500, 0, True)])
def test_a_window_that_every_write_would_pass(keep: int, count: int, accepted: bool) -> None:  # B-B11
    given = {"keep_recent_count": keep, "message_count_threshold": count}
    if accepted:
        assert (
            AutoCommitPolicy.from_dict(given).to_dict() | given == AutoCommitPolicy.from_dict(given).to_dict()
        )
    else:
        with pytest.raises(InvalidArgument, match="keep_recent_count"):
            AutoCommitPolicy.from_dict(given)


def test_a_policy_of_another_version_is_read_as_far_as_it_is_known() -> None:
    stored = {"message_count_threshold": 3, "added_later": {"x": 1}}
    read = policy_of(Head("a", "u", "s", "i", "then", "then", auto_commit_policy=stored))
    assert read == AutoCommitPolicy(message_count_threshold=3)
