"""learn: what a conversation teaches becomes trajectories and experiences.

in             LearnRequested, sent when the archive's cases are merged
out            `learned.json` under the archive; trajectory, experience and case files with links both ways, indexes,
               `learn_diff.json`, MemoryChanged, the lesson's task completed
commit point   CAS PUT per trajectory, experience and case file, then create-once PUT of the archive's learn diff
on duplicate   the lesson is there: nothing is analysed again, and each file has absorbed it once. With the diff there
               only what follows it is made sure of. A model, where one is configured, is asked once for each run
on crash       the message comes again: files that have absorbed the lesson stay, the others follow, so links end up on
               both sides. The due marker that was put before the request makes the sweep ask again
trained on     the case as it is stored, re-read after its merge, never as the conversation put it. Where it is gone by
               then, nothing is learnt
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pydantic import ValidationError

from strandline.domain.address import archive_uri
from strandline.domain.candidates import Candidates
from strandline.domain.contracts import LearnRequested
from strandline.domain.errors import ExtractionFailed, Unavailable
from strandline.domain.events import memories_merged
from strandline.domain.extraction import Usage
from strandline.domain.learning.case import Case, case_path
from strandline.domain.learning.found import found_tasks
from strandline.domain.learning.lesson import Lesson, Place, gathered, lesson, lesson_id, spent
from strandline.domain.learning.run import RULES
from strandline.domain.learning.standing import is_aside
from strandline.domain.learning.task import Task, tasks_of
from strandline.domain.memory import Memory, extraction_id, living
from strandline.domain.memory_policy import MemoryPolicy
from strandline.domain.merging import Addition
from strandline.domain.message import read_line
from strandline.domain.session import Head, find_archive
from strandline.domain.times import stamp
from strandline.pipeline import learning
from strandline.pipeline.absorbing import Absorbed, absorb_all
from strandline.pipeline.analysing import analysed
from strandline.pipeline.announce import announce
from strandline.pipeline.begun import Begun, begun
from strandline.pipeline.catalogue import read_file, reindex, tidy
from strandline.pipeline.diff import Effect, Effects, diff
from strandline.pipeline.embedding import PATIENCE, embed
from strandline.pipeline.expiry import watch
from strandline.pipeline.extract import living_head, read_candidates
from strandline.pipeline.had_read import had_read
from strandline.pipeline.library import Library
from strandline.pipeline.links import completed
from strandline.pipeline.marking import behind_the_files
from strandline.pipeline.outcome import tokens
from strandline.pipeline.related import Stored, asking_the_same, left
from strandline.storage.answered import answered
from strandline.storage.document import Change
from strandline.storage.layout import Life, User, user_of
from strandline.storage.once import fetch, write_once


def run_learn(services: Library, request: LearnRequested, attempt: int = 1) -> None:
    """Learns from one archive, once. `attempt` counts the receives of the request.

    Raises ExtractionFailed where nothing can be learnt, Unavailable or Aborted: repeating is safe. An archive whose
    session was deleted meanwhile is passed over in silence.
    """
    head = living_head(services, request)
    if head is None:
        learning.forgotten(services, request)
        return
    life = Life(request.session)
    known = read_learned(services, life, request.archive)
    if known is None:
        learning.running(services, request, attempt)
        known = _kept(services, request, _learned(services, request, head))
    record = fetch(services.objects, _diff_key(request))
    if record is None:
        record = _written(services, request, head, known)
    _ended(services, request, record, known.usage)


def read_learned(services: Library, life: Life, number: int) -> Candidates | None:
    """What an archive has taught; None while that is not known. Raises ExtractionFailed when it cannot be read."""
    body = fetch(services.objects, life.archive_file(number, "learned.json"))
    try:
        return None if body is None else Candidates.model_validate_json(body)
    except ValidationError:
        raise ExtractionFailed("what the archive has taught cannot be read", final=True) from None


def unlearn(services: Library, life: Life, number: int) -> None:
    """An archive that has taught nothing yet never will."""
    nothing = _candidates(life, number, ())
    write_once(
        services.objects,
        life.archive_file(number, "learned.json"),
        nothing.model_dump_json(indent=1).encode(),
    )


# ---- what it teaches


def _learned(services: Library, request: LearnRequested, head: Head) -> Candidates:
    with answered():
        lines = services.log.archived(request.session, request.archive, request.first, request.last)
    if lines is None:
        raise ExtractionFailed("the archive's messages are not in the bucket", final=True)
    messages = [read_line(line) for line in lines]
    merged = read_candidates(services, Life(request.session), request.archive)
    files = merged.files if merged else ()
    earlier = begun(services, head, request, messages) if merged and merged.begun else Begun()
    _settled(head, earlier.archive)
    tasks = tasks_of([*earlier.messages, *messages])[0] or found_tasks(messages, files)
    lessons = list(_lessons(services, request, tasks, earlier.archive))
    return _candidates(Life(request.session), request.archive, lessons)


def _settled(head: Head, number: int) -> None:
    """The archive that names a task must have come to its end before another one teaches it. Raises Unavailable while
    it has not, ExtractionFailed where it has failed."""
    if find_archive(head.failed, number):
        why = f"archive {number}, which names the task, has failed; retry that first"
        raise ExtractionFailed(why, final=True)  # nothing but that can help
    if find_archive(head.pending, number):
        raise Unavailable(f"archive {number}, which names the task, is not merged yet")


def _candidates(life: Life, number: int, lessons: Sequence[Lesson]) -> Candidates:
    return Candidates(
        extraction=lesson_id(life.session.incarnation, number),
        extractor=lessons[0].run.by if lessons else RULES,
        session_id=life.session.session_id,
        archive=number,
        abstract="",
        files=gathered(lessons),
        rejected=(),
        usage=spent(lessons),
    )


def _lessons(
    services: Library, request: LearnRequested, tasks: Iterable[Task], earlier: int
) -> Iterator[Lesson]:
    """One for each task whose case has taken in the archive that names it: this one, or an `earlier`."""
    owner = user_of(request.session)
    incarnation = request.session.incarnation
    teaches = lesson_id(incarnation, request.archive)
    place = Place(request.session.session_id, request.archive, teaches, request.first)
    for task in tasks:
        path = case_path(task.name)
        stored = read_file(services, owner, path)
        named_in = request.archive if task.first >= request.first else earlier
        if stored is not None and extraction_id(incarnation, named_in) in stored.applied:
            case = Case.stored(path, stored)
            found = lesson(place, task, case, dict(had_read(services, request.session, task)))
            there = read_file(services, owner, case.experience)
            placed = _placed(services, owner, found, Stored(case, stored, there))
            yield analysed(services, owner, placed, there)


def _placed(services: Library, owner: User, found: Lesson, stored: Stored) -> Lesson:
    """The lesson with the experiences that its own stands to."""
    same, before = asking_the_same(services, owner, stored), left(services, owner, stored)
    return replace(found, related=same, left=before)


def _kept(services: Library, request: LearnRequested, learned: Candidates) -> Candidates:
    """Stores what was learnt, and answers what is stored: another worker may have been first."""
    life = Life(request.session)
    key = life.archive_file(request.archive, "learned.json")
    if write_once(services.objects, key, learned.model_dump_json(indent=1).encode()):
        return learned
    return read_learned(services, life, request.archive) or learned


# ---- what becomes of it


def _written(services: Library, request: LearnRequested, head: Head, learned: Candidates) -> bytes:
    owner = user_of(request.session)
    policy = MemoryPolicy.model_validate(head.memory_policy or {})
    ttl = policy.ttl_seconds or services.rules.memory_ttl_seconds
    effects = _absorbed(services, owner, list(learned.additions()), ttl)
    made = Effects(effects, {})
    body = diff(learned, made, owner, life=Life(request.session), number=request.archive)
    if write_once(services.objects, _diff_key(request), body):
        return body
    stored = fetch(services.objects, _diff_key(request))
    if stored is None:
        raise Unavailable("the diff just written is not there; its session is being deleted")
    return stored


def _absorbed(
    services: Library, owner: User, additions: Sequence[Addition], ttl: int | None
) -> dict[str, Effect]:
    """Writes the files, then the index; what the lesson did to each, by path."""
    base = services.indexes.read_warm(owner.index("memories"))
    now = stamp(services.clock.now())
    effects: dict[str, Effect] = {}
    with behind_the_files(services, owner, [addition.path for addition in additions]) as known:
        for addition in _held_back(additions, known):
            change = partial(_taken_in, addition=addition, ttl=ttl, now=now)
            memory, made = services.memories.update(owner.memory(addition.path), change)
            effects |= dict.fromkeys([addition.path], *made.values()) if made else {}
            known[addition.path] = living(memory)
        known.update(completed(services, owner, {path: [effect] for path, effect in effects.items()}))
        if known:
            reindex(services, owner, known, base=base, known=known)
            watch(services, owner, known, base)
    embed(services, owner, "memories", services.clock.now() + PATIENCE)
    tidy(services, owner, "memories")
    return effects


def _held_back(additions: Sequence[Addition], known: Mapping[str, Memory | None]) -> Iterator[Addition]:
    """First what other experiences are told, of which one may have been deleted meanwhile; then the others, without
    links to that. `known` are the files as they were written so far."""
    asides = [addition for addition in additions if is_aside(addition.values)]
    yield from asides
    gone = {addition.path for addition in asides if known[addition.path] is None}
    for addition in additions:
        if addition not in asides:
            yield replace(addition, links=tuple(link for link in addition.links if link.path not in gone))


def _taken_in(
    memory: Memory | None, *, addition: Addition, ttl: int | None, now: str
) -> Change[Memory, Absorbed]:
    if (
        is_aside(addition.values) and living(memory) is None
    ):  # it was deleted: that it was read, or how it stands to others, begins nothing
        return Change(None, (memory, {}))
    return absorb_all(memory, additions=[addition], ends=(), ttls={addition.extraction: ttl}, now=now)


def _diff_key(request: LearnRequested) -> str:
    return Life(request.session).archive_file(request.archive, "learn_diff.json")


def _ended(services: Library, request: LearnRequested, record: bytes, usage: Usage | None) -> None:
    """What follows from the diff: it is told of, and the task is completed."""
    done: Mapping[str, Any] = json.loads(record)
    operations = done["operations"]
    added, updated = ([each["uri"] for each in operations[how]] for how in ("adds", "updates"))
    now = stamp(services.clock.now())
    for happening in memories_merged(request, added=added, updated=updated, at=now):
        announce(services, happening)
    session = request.session
    place = archive_uri(session.user_id, session.session_id, request.archive)
    result = {
        "session_id": session.session_id,
        "archive": request.archive,
        "learned": done["summary"]["by_type"],
        "learn_diff_uri": f"{place}/learn_diff.json",
        "tokens": tokens(usage),
    }
    learning.completed(services, request, result)
