"""Memories, journal, deleted sessions and ends, spoilt."""

from dataclasses import replace
from typing import Any

from strandline.pipeline import session
from strandline.storage.codec import HeadCodec
from tests.pipeline.world import ALICE, BOB
from tests.sim.healthy import Healthy
from tests.sim.history import Deleted, Forgot, Noted, NotThere, Queued, Read
from tests.sim.spoils import replaced, spoils

# ---- memories


@spoils("each_extraction_is_applied_once")
def a_line_is_there_twice(it: Healthy) -> None:
    key = ALICE.memory("preferences/sport.md")
    body = it.world.body(key)
    it.put(key, body + body.rsplit(b"\n", 2)[1] + b"\n")


@spoils("each_extraction_is_applied_once")
def a_line_is_missing(it: Healthy) -> None:
    key = ALICE.memory("preferences/tea.md")
    it.put(key, it.world.body(key).rsplit(b"\n", 2)[0] + b"\n")


@spoils("each_extraction_is_applied_once")
def a_file_forgets_what_it_has_absorbed(it: Healthy) -> None:
    key = ALICE.memory("preferences/sport.md")
    body = it.world.body(key)
    at = body.index(b"applied:")
    it.put(key, body[:at] + b"applied: []\n" + body[body.index(b"---", at) :])


@spoils("a_file_holds_nothing_else")
def a_line_that_no_archive_gave(it: Healthy) -> None:
    key = ALICE.memory("preferences/sport.md")
    it.put(
        key,
        it.world.body(key) + it.world.body(key).rsplit(b"\n", 2)[1].replace(b"rowing", b"running") + b"\n",
    )


@spoils("a_write_of_a_file_absorbs_something")
def a_file_was_written_for_nothing(it: Healthy) -> None:
    key = ALICE.memory("preferences/sport.md")
    it.new(key, it.world.body(key) + b"\n")


@spoils("an_owners_lines_are_kept")
def an_owners_line_is_lost(it: Healthy) -> None:
    it.history.append(Noted(ALICE, "preferences/tea.md", "my own line"))


@spoils("what_was_deleted_does_not_come_back")
def a_deleted_memory_is_back(it: Healthy) -> None:
    extraction = (
        it.world.body(ALICE.memory("preferences/sport.md")).partition(b"applied:\n- ")[2][:12].decode()
    )
    it.history.append(Forgot(ALICE, "preferences/sport.md", [extraction.strip("'")]))


@spoils("diffs_tell_what_was_applied")
def a_diff_leaves_a_file_out(it: Healthy) -> None:
    key = it.life("s").archive_file(1, "memory_diff.json")

    def less(row: Any) -> None:
        row["operations"]["adds"][0]["after"] = "# Preferences: sport\n"

    it.change_json(key, less)


@spoils("the_memory_index_follows_the_files")
def a_memory_is_deleted_and_still_found(it: Healthy) -> None:
    it.new(ALICE.memory("preferences/later.md"), b"---\nid: mem_1\nversion: 1\n---\n\n# Later\n")


@spoils("the_memory_index_follows_the_files")
def the_index_is_behind_a_file(it: Healthy) -> None:
    key = ALICE.memory("preferences/tea.md")
    it.put(key, it.world.body(key).replace(b"# Preferences: tea", b"# Preferences: tea\n\nmine"))


@spoils("the_message_index_follows_the_archives")
def an_archive_cannot_be_searched(it: Healthy) -> None:
    it.drop(BOB.index("messages"))


# ---- journal


@spoils("the_journal_is_numbered_without_a_gap")
def a_record_of_the_journal_is_lost(it: Healthy) -> None:
    it.change_json(ALICE.journal_head, lambda row: row["records"].pop(1))


@spoils("the_journal_is_numbered_without_a_gap")
def a_change_is_told_of_twice(it: Healthy) -> None:
    def again(row: Any) -> None:
        last = row["records"][-1]
        row["records"].append({**last, "id": f"{row['last'] + 1:012d}{last['id'][12:]}"})
        row["last"] += 1

    it.change_json(ALICE.journal_head, again)


@spoils("commits_are_told_of_once")
def a_commit_is_told_of_wrongly(it: Healthy) -> None:
    it.change(BOB.journal_head, b'"last_seq":1', b'"last_seq":2')


@spoils("changes_are_told_of_once")
def a_change_is_told_of_wrongly(it: Healthy) -> None:
    it.change(BOB.journal_head, b"preferences/tea.md", b"preferences/cat.md")


@spoils("failures_are_told_of")
def a_failure_is_kept_quiet(it: Healthy) -> None:
    it.change(ALICE.journal_head, b"TaskFailed", b"TaskEnding")


@spoils("the_bus_has_every_event")
def the_bus_was_down(it: Healthy) -> None:
    del it.world.bus.published[2]


# ---- lives


@spoils("nothing_is_left_of_a_deleted_session")
def a_late_object_of_a_deleted_session(it: Healthy) -> None:
    gone = next(it.history.of(Deleted))
    it.new(
        f"{ALICE.prefix}sessions/again/{gone.incarnation}/segments/000000000001-000000000001.jsonl", b"{}\n"
    )


@spoils("no_old_head_quotes_a_deleted_session")
def a_version_of_a_deleted_head(it: Healthy) -> None:
    entries = it.world.objects._entries[ALICE.head("again")]
    codec = HeadCodec()
    head, stamp = codec.decode(entries[-1].body or b"")
    old = codec.encode(replace(head, incarnation="gone"), replace(stamp, revision=stamp.revision - 1))
    del entries[:-1]
    entries.insert(0, replace(entries[-1], body=old))


@spoils("no_task_of_a_deleted_session")
def a_task_of_a_deleted_session(it: Healthy) -> None:
    row = next(row for row in it.world.rows("TASKS#") if row["resource_id"] == "s")
    it.world.items.put({**row, "sk": "x", "task_id": "x", "incarnation": "gone", "expires_at": None})


@spoils("the_list_shows_living_sessions")
def a_session_is_not_in_the_list(it: Healthy) -> None:
    it.world.items.delete("SESSIONS#acme/alice", "s")


@spoils("the_list_shows_living_sessions")
def the_list_is_behind_a_commit(it: Healthy) -> None:
    it.world.items.update("SESSIONS#acme/alice", "s", {"commit_count": 1})


@spoils("no_message_of_a_deleted_session_is_found")
def an_old_index_quotes_a_deleted_session(it: Healthy) -> None:
    it.world.objects._entries[ALICE.index("messages")].insert(
        0, it.world.objects._entries[BOB.index("messages")][-1]
    )
    for key in [key for key in it.world.objects._entries if key.startswith(BOB.prefix)]:
        it.drop(key)
    for row in [row for row in it.world.items.rows() if row["pk"].endswith("/bob")]:
        it.world.items.delete(row["pk"], row["sk"])
    it.history.records = [r for r in it.history.records if getattr(r, "owner", ALICE) == ALICE]


@spoils("a_deleted_session_stays_deleted")
def a_deleted_session_is_read(it: Healthy) -> None:
    gone = next(it.history.of(Deleted))
    it.history.append(Read(ALICE, "again", gone.incarnation, 1_000, 1_001, [(1, "f1")]))


@spoils("a_deleted_session_stays_deleted")
def an_append_joins_a_deleted_session(it: Healthy) -> None:
    gone = next(it.history.of(Deleted))
    replaced(it, "f1", lambda acked: replace(acked, started_step=(gone.ended_step or 0) + 1))


@spoils("what_was_queued_before_a_delete_went_with_it")
def a_queued_message_outlives_its_session(it: Healthy) -> None:
    gone = next(it.history.of(Deleted))
    it.history.records = [replace(r, at_seconds=60.0) if r is gone else r for r in it.history.records]
    it.history.append(Queued(ALICE, "again", ["g1"], 3, at_seconds=10.0))


@spoils("who_deletes_is_told")
def the_only_delete_heard_of_no_session(it: Healthy) -> None:
    gone = next(it.history.of(Deleted))
    it.history.append(NotThere(ALICE, "again", gone.incarnation))


@spoils("deletions_are_told_of_once")
def a_deletion_is_kept_quiet(it: Healthy) -> None:
    it.change(ALICE.journal_head, b"SessionDeleted", b"SessionRetired")


@spoils("no_tenants_byte_under_anothers_prefix")
def a_tenants_words_under_anothers_prefix(it: Healthy) -> None:
    it.new(ALICE.replay("x"), b"a quince")


@spoils("no_tenants_byte_under_anothers_prefix")
def a_tenants_words_in_an_old_version_of_anothers(it: Healthy) -> None:
    entries = it.world.objects._entries
    entries[ALICE.index("memories")].insert(0, entries[BOB.index("memories")][-1])


@spoils("no_tenants_byte_under_anothers_prefix")
def a_tenants_words_in_anothers_item(it: Healthy) -> None:
    it.world.items.put({"pk": "REPLAYS#acme/alice", "sk": "x", "answer": "quince"})


@spoils("no_tenants_byte_under_anothers_prefix")
def an_object_of_nobodys(it: Healthy) -> None:
    it.new("v1/acme/carol/used.json", b'{"revision":1}')


@spoils("appends_do_not_join_an_ended_life")
def a_message_of_a_deleted_session_comes_back(it: Healthy) -> None:
    gone = next(it.history.of(Deleted))
    replaced(it, "f1", lambda a: replace(a, receipts=[("f1", 1), ("g1", 2)]))
    replaced(it, "g1", lambda a: replace(a, incarnation=gone.incarnation, receipts=[("g1", 2)]))


# ---- ends


@spoils("no_archive_is_pending")
def an_archive_is_pending(it: Healthy) -> None:
    it.change_head("bad", lambda h: replace(h, pending=h.failed, failed=()))


@spoils("a_failed_archive_says_why")
def nobody_knows_why_it_failed(it: Healthy) -> None:
    it.drop(it.key("failed.json"))


@spoils("tasks_agree_with_archives")
def a_task_is_left_running(it: Healthy) -> None:
    set_task(it, status="running")


@spoils("tasks_agree_with_archives")
def a_task_has_failed_and_its_archive_is_done(it: Healthy) -> None:
    set_task(it, status="failed")


def set_task(it: Healthy, **values: str) -> None:
    row = next(row for row in it.world.rows("TASKS#") if row["status"] == "completed")
    it.world.items.update(row["pk"], row["sk"], {**values, "expires_at": None})


@spoils("a_task_that_has_ended_stays_so")
def a_task_was_opened_by_what_came_late(it: Healthy) -> None:
    it.world.items.turns = [("t", "completed", "running"), ("t", "running", "completed")]  # type: ignore[attr-defined]


@spoils("every_archive_has_its_task")
def an_archive_has_two_tasks(it: Healthy) -> None:
    row = next(row for row in it.world.rows("TASKS#") if row["resource_id"] == "s")
    for identity in "xy":
        it.world.items.put({**row, "sk": identity, "task_id": identity, "expires_at": None})


@spoils("nothing_is_due")
def a_marker_that_nothing_needs(it: Healthy) -> None:
    it.world.items.put(
        {"pk": "DUE#1", "sk": "x", "kind": "heal", "session": it.life("s").session.model_dump()}
    )


@spoils("gravestones_go")
def a_gravestone_stays(it: Healthy) -> None:
    session.delete(it.world.services(), BOB, "s")
    gone = it.life("s", BOB).session.incarnation
    it.history.append(Deleted(BOB, "s", gone, 500, 501))
    for row in it.world.rows("DUE#"):
        it.world.items.delete(row["pk"], row["sk"])
