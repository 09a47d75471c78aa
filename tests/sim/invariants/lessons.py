"""Lessons: what each archive teaches, and what is told of it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from strandline.domain.candidates import CandidateFile, Candidates
from strandline.domain.learning.case import Case, case_path
from strandline.domain.learning.lesson import Lesson, Place, Titles, gathered, lesson, lesson_id
from strandline.domain.learning.run import RULES
from strandline.domain.learning.task import Task, tasks_of
from strandline.domain.memory import Memory, extraction_id
from strandline.domain.message import read_line
from tests.sim.history import Acked, Analysed, History, Used
from tests.sim.invariants.memories import changed, taken_back
from tests.sim.invariants.raw import Raw, Session, memory_of
from tests.sim.outside import seen_in


def _spoken(session: Session, number: int) -> Sequence[bytes]:
    """The lines of an archive that speaks of a task, or of how one came out; none of any other."""
    first, last = session.ranges[number]
    lines = [m.line for m in session.archived if first <= m.seq <= last]
    return lines if any(b'"metadata"' in line for line in lines) else ()


def tasks(session: Session, number: int) -> Sequence[Task]:
    """The tasks that an archive names, or judges though an earlier one names them."""
    own = [read_line(line) for line in _spoken(session, number)]
    return tasks_of([*_begun(session, own), *own])[0]


def _begun(session: Session, own: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
    """What earlier archives hold of the task that is judged before these messages name one."""
    told = [message["metadata"].keys() for message in own if message.get("metadata")]
    if not told or "case" in told[0]:
        return ()
    before = [read_line(m.line) for m in session.archived if m.seq < own[0]["seq"]]
    spoken = [n for n, message in enumerate(before) if message.get("metadata")]
    return before[spoken[-1] :] if spoken and "case" in before[spoken[-1]]["metadata"] else ()


def _named_in(session: Session, task: Task) -> int:
    return next(number for number, (_, last) in session.ranges.items() if task.first <= last)


def _to_teach(session: Session, number: int) -> Sequence[Task]:
    """Those of its tasks whose case was wanted where it was named."""
    return [task for task in tasks(session, number) if teaches(session, _named_in(session, task))]


def teaches(session: Session, number: int) -> bool:
    """Whether it is to be learnt from: it holds a task, its session wants it, and its first attempt was allowed to."""
    wanted = (session.head.memory_policy or {}).get("memory_types")
    known = session.file(number, "learning.json")
    admits = wanted is None or "experiences" in wanted
    return bool(tasks(session, number)) and admits and known is not None and known["learning"]


def only_cases_are_learnt_from(raw: Raw, _: History) -> Iterator[str]:
    """An archive without a case teaches nothing; nor does one whose session does not want it, or that came while the
    deployment did not learn. Of any other that is done each task is a case."""
    for session in raw.sessions:
        for number in session.ranges:
            held = tasks(session, number)
            wanted = teaches(session, number)
            left = [name for name in ("learned.json", "learn_diff.json") if _says(session, number, name)]
            silent = not _spoken(session, number)
            if (silent and session.file(number, "learning.json") is not None) or (left and not wanted):
                yield f"{session}: archive {number} holds the tasks {held}, left of it is {left}"
            known = session.candidates.get(number)
            named = sorted(file.path for file in known.files if file.type == "cases") if known else []
            named_here = [task for task in held if _named_in(session, task) == number]
            right = sorted(case_path(task.name) for task in named_here) if wanted else []
            if known and named != right:
                yield f"{session}: the cases of archive {number} are {named}, its tasks {right}"


def _says(session: Session, number: int, name: str) -> bool:
    """Whether the file is there; one that a rollback has put there, so that nothing is learnt, has no files."""
    row = session.file(number, name)
    return row is not None and bool(row.get("files", True))


def ids(session: Session, number: int) -> tuple[str, str]:
    life = session.head.incarnation
    return extraction_id(life, number), lesson_id(life, number)


def every_lesson_ends(raw: Raw, history: History) -> Iterator[str]:
    """What is to be learnt is learnt, or its task says why it was not; and a task that says so is right."""
    lessons = {
        (row.get("incarnation"), row["lesson"]["archive"]): row
        for row in raw.partition("TASKS")
        if "lesson" in row
    }
    for session in raw.sessions:
        for number in session.done:
            row, learnt = lessons.get((session.head.incarnation, number)), number in session.learned
            if row is not None and learnt != (row["status"] == "completed"):
                yield f"{session}: archive {number} is learnt: {learnt}, its task is {row['status']}"
            known = row or learnt or session.owner in taken_back(history)
            if teaches(session, number) and not known and not _told(raw, session, number, "TaskFailed"):
                yield f"{session}: archive {number} has taught nothing, and nobody knows why"


def commits_name_their_lessons(raw: Raw, _: History) -> Iterator[str]:
    """The task of a commit names that of its lesson, where there is one, and none where there is not."""
    lessons = {(row["pk"], row["task_id"]) for row in raw.partition("TASKS") if "lesson" in row}
    for row in raw.partition("TASKS"):
        session, result = raw.by_life.get(str(row.get("incarnation"))), row.get("result") or {}
        if (
            session and "learn_task_id" in result
        ):  # one that the sweep has ended tells of nothing but its archive
            named, right = result["learn_task_id"], f"{row['task_id']}-learn"
            if named not in (None, right) or (named is None and (row["pk"], right) in lessons):
                yield f"{session}: the commit of archive {row['archive']} names the lesson {named}"
            if named and not teaches(session, row["archive"]):
                yield f"{session}: the commit of archive {row['archive']} names a lesson, and has none"


def a_lesson_is_of_the_stored_case(raw: Raw, history: History) -> Iterator[str]:
    """What an archive teaches is what its runs say of their cases as they were stored once they had taken it in."""
    for session in raw.sessions:
        for number, learned in session.learned.items():
            if session.owner in taken_back(history) and not learned.files:
                continue
            cases = [_versions(raw, session, task) for task in _to_teach(session, number)]
            told = [_taught(session, number, each, learned) for each in product(*cases)]
            if learned.files not in told:
                yield f"{session}: archive {number} teaches {learned.files}, its cases {told}"


def _versions(raw: Raw, session: Session, task: Task) -> Sequence[tuple[Task, Memory]]:
    """The task with each version of its case that has taken in the archive that names it."""
    key = session.owner.memory(case_path(task.name))
    known = [memory_of(body) for body in raw.versions.get(key, ()) if body is not None]
    extraction, _ = ids(session, _named_in(session, task))
    return [(task, each) for each in known if extraction in each.applied and not each.deleted_at]


def _taught(
    session: Session, number: int, cases: Sequence[tuple[Task, Memory]], learned: Candidates
) -> tuple[CandidateFile, ...]:
    teaches_as = lesson_id(session.head.incarnation, number)
    place = Place(session.head.session_id, number, teaches_as, session.ranges[number][0])
    found = []
    for task, stored in cases:
        each = lesson(place, task, Case.stored(case_path(task.name), stored), {})
        used = _used(learned, each)
        each = lesson(place, task, each.case, used)
        seen = None if learned.extractor == RULES else seen_in(each.attempt("", {}))
        found.append(each if seen is None else each.seen_by(seen, {}))
    return gathered(found)


def _used(learned: Candidates, of: Lesson) -> Titles:
    """The experiences that a lesson says its run had read."""
    titles = {file.path: file.title for file in learned.files}
    files = [file for file in learned.files if file.path == of.trajectory]
    used = (link.path for file in files for link in file.links if link.type == "used" and not link.back)
    return {path: titles[path] for path in used}


def learn_diffs_tell_what_was_learnt(raw: Raw, history: History) -> Iterator[str]:
    """A learn diff lists each file that the archive has changed by what it taught, its trajectories as added; and
    MemoryChanged tells of just these, each once."""
    for session in raw.sessions if not (taken_back(history) or changed(history)) else ():
        prefix = f"viking://user/{session.owner.user_id}/memories/"
        for number, learned in session.learned.items():
            record = session.file(number, "learn_diff.json")["operations"]
            added, updated = ([each["uri"] for each in record[how]] for how in ("adds", "updates"))
            right = sorted(f"{prefix}{file.path}" for file in learned.files)
            of_runs = {uri for uri in right if uri.startswith(f"{prefix}trajectories/")}
            if sorted((*added, *updated)) != right or not of_runs <= set(added):
                yield f"{session}: archive {number} taught {right}, its diff adds {added}, updates {updated}"
            told = _told(raw, session, number, "MemoryChanged")
            if [uri for event in told for uri in (*event["added"], *event["updated"])] != [*added, *updated]:
                yield f"{session}: archive {number} taught {[*added, *updated]}, told is {told}"


def _told(raw: Raw, session: Session, number: int, kind: str) -> list[dict[str, object]]:
    """What the journal tells of the lesson of an archive of this very life."""
    mine = {
        f"{r.task_id}-learn"
        for r in raw.sent
        if r.archive == number and r.session.incarnation == session.head.incarnation
    }
    return [e for e in raw.journals.get(session.owner, ()) if e["type"] == kind and e.get("task_id") in mine]


def failed_lessons_are_told_of(raw: Raw, _: History) -> Iterator[str]:
    """Of a lesson that has failed TaskFailed tells."""
    for row in raw.partition("TASKS"):
        session = raw.by_life.get(str(row.get("incarnation")))
        if session is None or "lesson" not in row:
            continue
        told = _told(raw, session, row["lesson"]["archive"], "TaskFailed")
        if row["status"] == "failed" and not told:
            yield f"{session}: the lesson {row['task_id']} has failed, and nobody was told"


def what_was_read_is_counted(raw: Raw, history: History) -> Iterator[str]:
    """An experience that a session had read before the last message of a run was sent counts how the run came out; and
    none counts a run that has not read it."""
    for session in raw.sessions:
        uses = session.uses
        for number, learned in session.learned.items():
            for task in _to_teach(session, number) if learned.files else ():
                used = set(_used_by(learned, session, number, task))
                heard = _heard(history, session, task)
                if not heard <= used and session.owner not in taken_back(history):
                    yield f"{session}: a run of archive {number} had read {heard}, its lesson knows of {used}"
                seen = {path for seq, path in uses if task.first - 1 <= seq < task.last}
                if not used <= seen:
                    yield f"{session}: a run of archive {number} is said to have read {used}, reported is {seen}"


def _used_by(learned: Candidates, session: Session, number: int, task: Task) -> Iterator[str]:
    """What a run's trajectory says that it had read."""
    for file in learned.files:
        if file.type == "trajectories" and any(value.seq_to == task.last for value in file.values):
            yield from (link.path for link in file.links if link.type == "used" and not link.back)


def _heard(history: History, session: Session, task: Task) -> set[str]:
    """What was reported, and answered, before the last message of a run was sent."""
    life = session.head.incarnation
    acked = [
        a for a in history.of(Acked) if a.incarnation == life and task.last in {seq for _, seq in a.receipts}
    ]
    sent = min((a.started_step or 0 for a in acked), default=0)
    mine = (use for use in history.of(Used) if use.incarnation == life)
    return {use.path for use in mine if use.ended_step < sent and task.first - 1 <= use.seq}


def a_run_is_analysed_once(raw: Raw, history: History) -> Iterator[str]:
    """A model is asked once about each run of an archive, and again for each lesson that died, failed, or was learnt
    twice at once."""
    allowed = 1 + history.runs_lost("learn")
    runs = {s.life.archive(n): len(tasks(s, n)) for s in raw.sessions for n in s.learned}
    for archive, times in Counter(asked.archive for asked in history.of(Analysed)).items():
        if times > allowed * runs.get(archive, times):
            yield f"{archive}: a model was asked {times} times what it teaches, at most {allowed} were needed"


INVARIANTS = (
    only_cases_are_learnt_from,
    every_lesson_ends,
    commits_name_their_lessons,
    a_lesson_is_of_the_stored_case,
    learn_diffs_tell_what_was_learnt,
    failed_lessons_are_told_of,
    what_was_read_is_counted,
    a_run_is_analysed_once,
)
