"""The session head: small, exact cases. `tests/property/test_session.py` runs it through random lives."""

from datetime import UTC, datetime

import pytest

from strandline.domain import session
from strandline.domain.errors import Aborted
from strandline.domain.gravestone import bury
from strandline.domain.message import Draft, MessageIn, draft, read_line
from strandline.domain.session import IDS_KEPT, SPILL_BYTES, Archive, CommitPlan, Head, Receipt, Segment, Skip

NOW, LATER = "2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"


def new_head() -> Head:
    return Head(
        account_id="a", user_id="u", session_id="s", incarnation="0" * 32, created_at=NOW, updated_at=NOW
    )


def message(message_id: str, tokens: int = 2, text: str = "hello") -> Draft:
    given = MessageIn(role="user", content=text)
    return draft(given, message_id=message_id, now=datetime(2026, 1, 1, tzinfo=UTC), tokens=tokens)


def filled(count: int, *, tokens: int = 2) -> Head:
    head, _ = session.append(new_head(), [message(f"m{n}", tokens) for n in range(1, count + 1)], now=NOW)
    return head


def test_seqs_count_from_one_without_gap() -> None:
    head, receipts = session.append(new_head(), [message("a"), message("b")], now=LATER)
    head, more = session.append(head, [message("c")], now=LATER)
    assert [*receipts, *more] == [Receipt("a", 1, False), Receipt("b", 2, False), Receipt("c", 3, False)]
    assert [read_line(line)["seq"] for line in head.tail] == [1, 2, 3]
    assert (head.live_count, head.pending_tokens, head.last_message_at) == (3, 6, LATER)
    assert head.tail_bytes == sum(map(len, head.tail))


def test_a_known_id_is_acknowledged_and_not_stored_again() -> None:  # B-A7
    head = filled(3)
    same, receipts = session.append(head, [message("m2"), message("m3")], now=LATER)
    assert same is head
    assert receipts == [Receipt("m2", 2, True), Receipt("m3", 3, True)]


def test_an_id_twice_in_one_batch() -> None:
    head, receipts = session.append(
        filled(1), [message("a"), message("m1"), message("a"), message("b")], now=NOW
    )
    assert [(r.seq, r.duplicate) for r in receipts] == [(2, False), (1, True), (2, True), (3, False)]
    assert head.last_seq == 3


def test_ids_are_known_for_the_newest_messages() -> None:
    head = new_head()
    for start in range(1, 1201, 100):
        head, _ = session.append(head, [message(f"m{n}") for n in range(start, start + 100)], now=NOW)
    assert head.last_seq == 1200
    oldest = head.last_seq - IDS_KEPT + 1
    for seq in (oldest, oldest + 1, head.last_seq - 999, head.last_seq):
        assert session.find(head, message(f"m{seq}").id_hash) == seq
    assert session.find(head, message(f"m{oldest - 1}").id_hash) is None
    assert IDS_KEPT >= 1000


def test_a_hash_is_found_only_where_an_id_begins() -> None:
    head = filled(2)
    across = (head.ids * 2)[4:12]
    assert session.find(head, across) is None


def test_ids_are_known_after_they_were_archived() -> None:
    head = filled(3)
    head = _committed(head, keep=0)
    same, receipts = session.append(head, [message("m1")], now=LATER)
    assert same is head
    assert receipts == [Receipt("m1", 1, True)]


@pytest.mark.parametrize(("head", "current"), [(None, 0), (filled(3), 3)])
def test_an_expected_seq(head: Head | None, current: int) -> None:  # B-A10
    session.expect(head, None)
    session.expect(head, current)
    with pytest.raises(Aborted) as aborted:
        session.expect(head, current + 1)
    assert aborted.value.details == {"last_seq": current}


def test_when_the_tail_is_full() -> None:
    head = filled(1)
    room = SPILL_BYTES - head.tail_bytes
    assert not session.full(head, room)
    assert session.full(head, room + 1)
    assert not session.full(new_head(), 10 * SPILL_BYTES), "there is nothing to spill"


def test_a_spill_moves_the_tail_into_a_segment() -> None:
    head = filled(3)
    segment = session.tail_segment(head)
    assert segment == Segment(1, 3, 6, head.tail_bytes)
    spilled = session.spill(head, segment)
    assert (spilled.segments, spilled.tail, spilled.tail_bytes) == ((segment,), (), 0)
    assert (spilled.live_count, spilled.pending_tokens, spilled.ids) == (3, 6, head.ids)
    assert session.spill(spilled, segment) == spilled, "twice is once"


def test_a_spill_keeps_what_came_after() -> None:
    head = filled(2)
    segment = session.tail_segment(head)
    grown, _ = session.append(head, [message("late")], now=LATER)
    spilled = session.spill(grown, segment)
    assert spilled.segments == (segment,)
    assert [read_line(line)["id"] for line in spilled.tail] == ["late"]
    assert spilled.tail_bytes == len(spilled.tail[0])
    assert spilled.tail_from == 3


def test_a_spill_of_a_tail_that_was_archived_meanwhile_is_nothing() -> None:
    head = filled(3)
    segment = session.tail_segment(head)
    for keep in (0, 1, 2):
        archived = _committed(head, keep=keep)
        assert session.spill(archived, segment) == archived


@pytest.mark.parametrize(
    ("count", "keep", "plan"),
    [
        (0, 0, Skip("no_messages")),
        (0, 5, Skip("no_messages")),
        (3, 3, Skip("all_within_keep_window")),
        (3, 10_000, Skip("all_within_keep_window")),
        (3, 0, CommitPlan(1, 1, 3)),
        (4, 2, CommitPlan(1, 1, 2)),
    ],
)
def test_what_a_commit_archives(count: int, keep: int, plan: CommitPlan | Skip) -> None:  # B-B1
    assert session.plan_commit(filled(count) if count else new_head(), keep) == plan


def _committed(head: Head, *, keep: int, tokens: int = 2) -> Head:
    plan = session.plan_commit(head, keep)
    assert isinstance(plan, CommitPlan)
    archived = session.archive(head, plan, tokens=tokens * (plan.last - plan.first + 1), now=LATER)
    assert archived is not None
    return archived


def test_counters_right_after_a_commit() -> None:  # B-B2
    head = _committed(filled(3), keep=0)
    assert (head.live_count, head.last_seq, head.commit_count, head.pending_tokens) == (0, 3, 1, 0)
    assert head.last_commit_at == LATER
    assert head.pending == (Archive(1, 1, 3, LATER),)
    head, _ = session.append(head, [message("fourth")], now=LATER)
    assert (head.live_count, head.last_seq, head.commit_count) == (1, 4, 1)


def test_of_two_commits_with_one_plan_the_second_no_longer_fits() -> None:  # B-B3
    head = filled(3)
    plan = CommitPlan(1, 1, 3)
    once = session.archive(head, plan, tokens=6, now=LATER)
    assert once is not None
    assert session.archive(once, plan, tokens=6, now=LATER) is None


@pytest.mark.parametrize(
    "plan", [CommitPlan(2, 1, 3), CommitPlan(1, 2, 3), CommitPlan(1, 1, 4), CommitPlan(0, 1, 3)]
)
def test_a_plan_that_does_not_fit(plan: CommitPlan) -> None:
    assert session.archive(filled(3), plan, tokens=6, now=LATER) is None


def test_a_message_that_came_while_a_commit_ran_is_live() -> None:  # B-B4
    grown, _ = session.append(filled(3), [message("late")], now=LATER)
    head = session.archive(grown, CommitPlan(1, 1, 3), tokens=6, now=LATER)
    assert head is not None
    assert [read_line(line)["id"] for line in head.tail] == ["late"]
    assert (head.live_from, head.pending_tokens, head.tail_bytes) == (4, 2, len(head.tail[0]))


def test_a_commit_within_a_segment_keeps_the_rest_of_it() -> None:
    head = filled(4)
    head = session.spill(head, session.tail_segment(head))
    head, _ = session.append(head, [message("m5")], now=NOW)
    head = _committed(head, keep=3)
    assert (head.live_from, head.live_count, head.segments[0].last) == (3, 3, 4)
    assert len(head.tail) == 1
    head = _committed(head, keep=1)
    assert (head.live_from, head.segments) == (5, ())


# ---- archives: pending, done, failed, retried ----------------------------------------------------------------------


def test_an_archive_that_is_done() -> None:
    head = _committed(filled(2), keep=0)
    done = session.settle(head, 1, extracted={"events": 2}, reason=None, now=LATER)
    assert (done.pending, done.failed, done.completed, done.latest_done) == ((), (), 1, 1)
    assert done.memories_extracted == {"events": 2}
    again = session.settle(done, 1, extracted={"events": 2}, reason=None, now=LATER)
    assert again == done, "a redelivery counts nothing twice"  # B-B16


def test_archives_settle_in_any_order() -> None:
    head = filled(1)
    for n in (2, 3):
        head, _ = session.append(_committed(head, keep=0), [message(f"m{n}")], now=NOW)
    head = _committed(head, keep=0)
    for number in (3, 1, 2):
        head = session.settle(head, number, extracted={"events": 1}, reason=None, now=LATER)
        assert head.latest_done == 3
    assert (head.completed, head.pending, head.memories_extracted) == (3, (), {"events": 3})


def test_a_failed_archive_can_be_retried_and_done() -> None:  # B-B15
    head = _committed(filled(2), keep=0)
    failed = session.settle(head, 1, extracted={}, reason="bad", now=LATER)
    assert failed.failed == (Archive(1, 1, 2, LATER, "bad", failed_at=LATER),)
    assert (failed.pending, failed.completed, failed.latest_done) == ((), 0, 0)
    assert session.settle(failed, 1, extracted={}, reason="worse", now=LATER) == failed, (
        "failed once is failed"
    )
    pending = session.retry(failed, 1, now=LATER)
    assert (pending.pending, pending.failed) == ((Archive(1, 1, 2, LATER),), ())
    done = session.settle(pending, 1, extracted={}, reason=None, now=LATER)
    assert (done.completed, done.pending, done.failed) == (1, (), ())


def test_an_archive_merged_after_it_was_called_failed_is_done() -> None:
    head = _committed(filled(2), keep=0)
    head = session.settle(head, 1, extracted={}, reason="too many receives", now=LATER)
    head = session.settle(head, 1, extracted={"events": 1}, reason=None, now=LATER)
    assert (head.completed, head.failed, head.memories_extracted) == (1, (), {"events": 1})


def test_what_is_not_failed_cannot_be_retried() -> None:
    head = _committed(filled(2), keep=0)
    done = session.settle(head, 1, extracted={}, reason=None, now=LATER)
    for untouched in (head, done, new_head()):
        assert session.retry(untouched, 1, now=LATER) == untouched
        assert session.settle(untouched, 9, extracted={}, reason=None, now=LATER) == untouched


def test_nothing_said_is_left_of_a_buried_session() -> None:
    head = _committed(filled(3), keep=1)
    buried = bury(head, now=LATER)
    assert (buried.tail, buried.segments, buried.ids, buried.pending) == ((), (), b"", ())
    assert (buried.incarnation, buried.buried_at, buried.live_count) == (head.incarnation, LATER, 0)
