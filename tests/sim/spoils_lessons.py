"""What is learnt, spoilt. The healthy world has learnt nothing: each of these has it learn first."""

from typing import Any

from strandline.domain.learning.lesson import lesson_id
from strandline.pipeline.append import AppendRequest, run_append
from strandline.pipeline.usage import UsageReport, run_usage
from tests.pipeline.runs import BAD, GOOD, run
from tests.pipeline.world import ALICE
from tests.sim.healthy import Healthy
from tests.sim.history import Acked, Analysed, CommitUnclear, RolledBack, Used
from tests.sim.spoils import spoils

CASE = {"name": "cancel", "task_signature": "Cancel a flight"}
EXPERIENCE = "experiences/cancel-a-flight.md"
LATER = "2026-05-09T07:00:00Z"
PASSED = {"passed": True, "score": 1.0}
MISSED = {"passed": False, "feedback": "nothing was cancelled"}


def taught(it: Healthy) -> None:
    """Session `pupil` had read what session `teacher` has taught."""
    _say(it, "teacher", run(GOOD, asked="rhubarb, please cancel", case=CASE, judged=PASSED, ids="t"))
    it.commit("teacher")
    *said, judged = run(BAD, asked="rhubarb, cancel it", case=CASE, judged=MISSED, ids="p", at=LATER)
    _say(it, "pupil", said)
    run_usage(it.world.services(), UsageReport(ALICE, "pupil", [EXPERIENCE]))
    it.history.append(Used(ALICE, "pupil", _life(it, "pupil"), EXPERIENCE, len(said), it.step))
    it.step += 1
    _say(it, "pupil", [judged])
    it.commit("pupil")
    it.world.heal()


def _say(it: Healthy, name: str, messages: list[Any]) -> None:
    done = run_append(it.world.services(), AppendRequest(ALICE, name, messages))
    it.step += 1
    receipts = [(receipt.id, receipt.seq) for receipt in done.receipts]
    ids, texts = [i for i, _ in receipts], [message.content or "" for message in messages]
    it.history.append(Acked(ALICE, name, done.head.incarnation, receipts, it.step, ids, texts, it.step))


def _life(it: Healthy, name: str) -> str:
    return it.life(name).session.incarnation


def _file(it: Healthy, name: str, file: str) -> str:
    return it.life(name).archive_file(1, file)


def _row(it: Healthy, name: str, kind: str) -> dict[str, Any]:
    rows = it.world.rows("TASKS#")
    return next(row for row in rows if row["resource_id"] == name and row["task_type"] == kind)


@spoils("only_cases_are_learnt_from")
def something_was_learnt_of_no_case(it: Healthy) -> None:
    taught(it)
    it.new(_file(it, "s", "learned.json"), it.world.body(_file(it, "pupil", "learned.json")))


@spoils("only_cases_are_learnt_from")
def a_case_is_passed_over(it: Healthy) -> None:
    taught(it)
    it.change(_file(it, "pupil", "candidates.json"), b'"type": "cases"', b'"type": "coses"')


@spoils("nothing_is_learnt_of_nothing")
def an_experience_has_learnt_of_no_case(it: Healthy) -> None:
    taught(it)
    more = f"applied:\n- {lesson_id(_life(it, 's'), 1)}\n"
    it.change(ALICE.memory(EXPERIENCE), b"applied:\n", more.encode())


@spoils("every_lesson_ends")
def a_lesson_has_no_diff(it: Healthy) -> None:
    taught(it)
    it.drop(_file(it, "pupil", "learn_diff.json"))


@spoils("every_lesson_ends")
def nobody_has_heard_of_a_lesson(it: Healthy) -> None:
    a_lesson_has_no_diff(it)
    row = _row(it, "pupil", "session_learn")
    it.world.items.delete(row["pk"], row["sk"])


@spoils("commits_name_their_lessons")
def a_commit_does_not_name_its_lesson(it: Healthy) -> None:
    taught(it)
    row = _row(it, "pupil", "session_commit")
    it.world.items.update(row["pk"], row["sk"], {"result": {**row["result"], "learn_task_id": None}})


@spoils("a_lesson_is_of_the_stored_case")
def a_lesson_is_of_what_was_said(it: Healthy) -> None:
    taught(it)
    it.change(_file(it, "pupil", "learned.json"), b'"value": "rhubarb, please cancel"', b'"value": "rhubarb"')


@spoils("each_lesson_is_taken_in_once")
def a_lesson_is_taken_in_twice(it: Healthy) -> None:
    taught(it)
    lesson = lesson_id(_life(it, "pupil"), 1)
    it.change(ALICE.memory(EXPERIENCE), b"applied:\n", f"applied:\n- {lesson}\n".encode())


@spoils("runs_are_counted_once")
def a_run_is_counted_twice(it: Healthy) -> None:
    taught(it)
    it.change(
        ALICE.memory(EXPERIENCE),
        b"  failure:\n    merge: sum\n    value: 1",
        b"  failure:\n    merge: sum\n    value: 2",
    )


@spoils("links_stand_on_both_sides")
def a_link_stands_on_one_side(it: Healthy) -> None:
    taught(it)
    it.change(ALICE.memory(EXPERIENCE), b"- used: ", b"- caused_by: ")


@spoils("what_is_learnt_follows_from_the_runs")
def an_experience_remembers_another_time(it: Healthy) -> None:
    taught(it)
    it.change(ALICE.memory(EXPERIENCE), b"updated_at: '2026-05", b"updated_at: '2026-06")


@spoils("learn_diffs_tell_what_was_learnt")
def a_learn_diff_leaves_something_out(it: Healthy) -> None:
    taught(it)
    it.change_json(_file(it, "pupil", "learn_diff.json"), lambda row: row["operations"]["updates"].pop())


@spoils("learn_diffs_tell_what_was_learnt")
def what_was_learnt_is_kept_quiet(it: Healthy) -> None:
    taught(it)

    def quiet(row: Any) -> None:
        told = next(each for each in row["records"] if str(each.get("task_id")).endswith("-learn"))
        told["updated"] = []

    it.change_json(ALICE.journal_head, quiet)


@spoils("failed_lessons_are_told_of")
def a_failed_lesson_is_kept_quiet(it: Healthy) -> None:
    _say(it, "teacher", run(GOOD, asked="rhubarb, please cancel", case=CASE, judged=PASSED, ids="t"))
    it.world.commit("teacher")
    it.history.append(CommitUnclear(ALICE, "teacher"))
    it.world.extract_next()
    it.world.merge_next()
    key = it.key("/teacher/" + _life(it, "teacher") + "/archives/000000000001/messages")
    stored = it.world.objects._entries.pop(key)
    it.world.settle()
    it.world.objects._entries[key] = stored
    it.world.heal()
    it.change_json(ALICE.journal_head, lambda row: row["records"][-1].update(task_id="another"))


@spoils("what_was_read_is_counted")
def a_reading_is_not_counted(it: Healthy) -> None:
    taught(it)
    used = next(it.history.of(Used))
    it.history.append(
        Used(ALICE, "pupil", used.incarnation, "experiences/other.md", used.seq, used.ended_step)
    )


@spoils("what_was_read_is_counted")
def a_reading_is_counted_that_was_none(it: Healthy) -> None:
    taught(it)
    it.change_json(it.life("pupil").usage, lambda row: row["uses"].clear())


@spoils("a_run_is_analysed_once")
def a_model_is_asked_twice_what_a_run_teaches(it: Healthy) -> None:
    taught(it)
    it.history.records += [Analysed(it.life("pupil").archive(1))] * 2


@spoils("what_was_taken_back_stays_away")
def what_was_taken_back_is_there(it: Healthy) -> None:
    it.history.append(RolledBack(ALICE, "s", _life(it, "s"), [1]))
