"""Messages and archives, spoilt."""

from dataclasses import replace
from typing import Any

from strandline.domain.compaction.assembly import Room
from strandline.domain.message import hash_id
from strandline.domain.session import Archive
from strandline.pipeline.prompt import Wanted, run_prompt
from tests.pipeline.world import ALICE
from tests.sim.healthy import Healthy
from tests.sim.history import Aborted, Acked, Attempted, Committed, Given, ModelCall, Queued, Read, Seen
from tests.sim.spoils import replaced, spoils

# ---- messages


@spoils("seqs_are_gap_free")
def a_message_is_lost_from_the_tail(it: Healthy) -> None:
    it.change_head("s", lambda h: replace(h, tail=h.tail[:1] + h.tail[2:]))


@spoils("seqs_are_gap_free")
def an_archive_object_is_gone(it: Healthy) -> None:
    it.drop(it.key("/s/" + it.life("s").session.incarnation + "/archives/000000000001/messages"))


@spoils("seqs_are_gap_free")
def live_messages_are_swapped(it: Healthy) -> None:
    it.change_head("s", lambda h: replace(h, tail=h.tail[::-1]))


@spoils("no_message_is_there_twice")
def the_head_takes_a_message_again(it: Healthy) -> None:
    def again(head: Any) -> Any:
        line = head.tail[-1].replace(b'"seq":%d' % head.last_seq, b'"seq":%d' % (head.last_seq + 1))
        return replace(head, tail=(*head.tail, line), last_seq=head.last_seq + 1)

    it.change_head("s", again)


@spoils("acknowledged_messages_are_there")
def an_acknowledged_message_never_came(it: Healthy) -> None:
    it.history.append(Acked(ALICE, "s", it.life("s").session.incarnation, [("z1", 7)], 99, ["z1"]))


@spoils("acknowledged_messages_are_there")
def a_session_is_gone(it: Healthy) -> None:
    for key in it.world.stored("/sessions/big/"):
        it.drop(key)


@spoils("messages_say_what_was_sent")
def a_message_says_something_else(it: Healthy) -> None:
    it.change(ALICE.head("s"), b"one rhubarb", b"two rhubarb")


@spoils("messages_say_what_was_sent")
def a_message_that_nobody_sent(it: Healthy) -> None:
    it.history.records = [r for r in it.history.records if not (isinstance(r, Acked) and "g1" in r.batch_ids)]


@spoils("batches_are_whole")
def an_attempt_that_was_stored_in_part(it: Healthy) -> None:
    replaced(it, "c1", lambda acked: Attempted(ALICE, "s", [*acked.batch_ids, "c4"], acked.at_step))


@spoils("batches_are_whole")
def a_batch_in_another_order(it: Healthy) -> None:
    replaced(it, "c1", lambda acked: Attempted(ALICE, "s", acked.batch_ids[::-1], acked.at_step))


@spoils("reads_agree")
def a_read_saw_what_is_not_there(it: Healthy) -> None:
    it.history.append(Read(ALICE, "s", it.life("s").session.incarnation, 0, 0, [(1, "a1"), (2, "b1")]))


@spoils("reads_agree")
def a_later_read_saw_less(it: Healthy) -> None:
    read = next(it.history.of(Read))
    for started, seen in ((50, read.seqs_and_ids), (60, read.seqs_and_ids[:1])):
        it.history.append(
            replace(read, incarnation="x", started_step=started, ended_step=started + 1, seqs_and_ids=seen)
        )


@spoils("reads_hold_what_was_acknowledged")
def a_read_missed_an_acknowledged_message(it: Healthy) -> None:
    read = next(it.history.of(Read))
    it.history.records = [
        replace(r, seqs_and_ids=r.seqs_and_ids[:1]) if r is read else r for r in it.history.records
    ]


@spoils("contexts_hold_what_was_acknowledged")
def a_model_did_not_see_a_message(it: Healthy) -> None:
    it.history.append(Seen(ALICE, "s", it.life("s").session.incarnation, 80, 81, [(4, "c1"), (5, "c2")]))


@spoils("contexts_hold_what_was_acknowledged")
def a_model_saw_a_gap(it: Healthy) -> None:
    it.history.append(Seen(ALICE, "s", it.life("s").session.incarnation, 80, 81, [(4, "c1"), (6, "c3")]))


@spoils("queued_messages_join")
def a_queued_message_never_came(it: Healthy) -> None:
    it.history.append(Queued(ALICE, "s", ["q1"], 3))


@spoils("known_ids_are_the_newest")
def the_head_has_forgotten_an_id(it: Healthy) -> None:
    it.set_head("s", ids=hash_id("other") * 6)


# ---- archives


@spoils("archives_follow_each_other")
def an_archive_of_nothing(it: Healthy) -> None:
    head = it.world.head("s")
    it.set_head(
        "s", failed=(Archive(3, head.live_from, head.live_from - 1, head.updated_at, "no"),), commit_count=3
    )


@spoils("seqs_are_gap_free")
def an_archive_that_overlaps_the_one_before(it: Healthy) -> None:
    it.set_head("s", live_from=it.world.head("s").live_from + 1)


@spoils("copies_agree")
def a_segment_says_something_else(it: Healthy) -> None:
    it.new(
        it.life("s").segment(4, 6),
        it.world.body(it.key("s/" + it.life("s").session.incarnation + "/archives/000000000001/messages")),
    )


@spoils("copies_agree")
def an_archive_is_cut(it: Healthy) -> None:
    key = it.key(f"{it.life('s').archive(1)}messages")
    it.put(key, it.world.body(key)[:-1])


@spoils("left_over_objects_are_of_the_next_commit_at_most")
def an_archive_of_a_commit_that_cannot_have_been(it: Healthy) -> None:
    it.new(it.life("s").messages(5, 1, 2), it.world.body(it.key(f"{it.life('s').archive(1)}messages")))


@spoils("answered_commits_are_there")
def a_commit_was_told_another_range(it: Healthy) -> None:
    done = next(it.history.of(Committed))
    it.history.append(replace(done, last=done.last + 1))


@spoils("counters_equal_a_recount")
def memories_are_counted_twice(it: Healthy) -> None:
    it.change_head(
        "s", lambda h: replace(h, memories_extracted={k: 2 * n for k, n in h.memories_extracted.items()})
    )


@spoils("segments_say_what_they_hold")
def a_segment_has_other_tokens(it: Healthy) -> None:
    it.change_head(
        "big", lambda h: replace(h, segments=tuple(replace(s, tokens=s.tokens + 1) for s in h.segments))
    )


@spoils("no_write_is_lost")
def a_head_was_written_over_unseen(it: Healthy) -> None:
    entries = it.world.objects._entries[ALICE.head("s")]
    entries.insert(-1, entries[-1])


@spoils("a_model_is_asked_once")
def a_model_is_asked_again_for_nothing(it: Healthy) -> None:
    it.history.append(next(it.history.of(ModelCall)))


@spoils("what_is_immutable_is_written_once")
def a_diff_is_written_again(it: Healthy) -> None:
    key = it.life("s").archive_file(1, "memory_diff.json")
    it.new(key, it.world.body(key))


@spoils("who_is_told_aborted_has_written_nothing")
def an_aborted_append_was_written(it: Healthy) -> None:
    it.history.append(Aborted(ALICE, "s", ["c2"], 9))


@spoils("who_archives_is_told")
def nobody_was_told_of_an_archive(it: Healthy) -> None:
    it.history.records = [
        r for r in it.history.records if not (isinstance(r, Committed) and r.session_id == "big")
    ]


@spoils("tool_outputs_are_there")
def a_tool_output_is_gone(it: Healthy) -> None:
    it.change(ALICE.head("s"), b'"content":"one', b'"tool_output_ref":"tr_1","content":"one')
    it.set_head("s", tail_bytes=sum(map(len, it.world.head("s").tail)))


# ---- contexts


def _given(it: Healthy, step: int, window: int = 10_000) -> Given:
    made = run_prompt(it.world.services(), ALICE, "s", Wanted(Room(window), memories=None))
    return Given(
        ALICE, "s", it.life("s").session.incarnation, step, step, it.world.head("s").last_seq, made, window
    )


@spoils("contexts_are_whole")
def a_context_is_over_its_room(it: Healthy) -> None:
    it.history.append(replace(_given(it, 1), window=1))


@spoils("contexts_are_whole")
def a_context_leaves_out_what_was_said(it: Healthy) -> None:
    given = _given(it, 1)
    it.history.append(replace(given, last=given.last + 1))


@spoils("contexts_do_not_go_back")
def a_context_begins_earlier_than_the_one_before(it: Healthy) -> None:
    later = _given(it, 2)
    ahead = replace(later.made.state, generation=later.made.state.generation + 1)
    it.history.append(replace(later, started_step=1, ended_step=1, made=replace(later.made, state=ahead)))
    it.history.append(later)
