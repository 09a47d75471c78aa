"""Learning, beside its stage (`learn.py`): which conversations hold cases, and the task of a lesson.

commit point   create-once PUT of the archive's `learning.json`, where it speaks of a task or a model looks for one:
               whether it is learnt from is what the deployment's switch said at its first attempt, whatever it says
               when that is repeated
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

from strandline.domain.candidates import Candidates
from strandline.domain.contracts import ExtractRequested, LearnRequested, MergeRequested, SessionRef
from strandline.domain.events import task_failed
from strandline.domain.extraction import Dropped, Extraction, Proposal
from strandline.domain.memory_policy import MemoryPolicy
from strandline.domain.memory_types import REGISTRY
from strandline.domain.redaction import scrub
from strandline.domain.times import stamp
from strandline.domain.transcribing import text_of
from strandline.pipeline.announce import announce
from strandline.pipeline.services import Services
from strandline.pipeline.working_memory import Found
from strandline.ports import ConditionFailed, Item, StoreError
from strandline.storage.answered import answered
from strandline.storage.due import Due
from strandline.storage.layout import Life, user_of
from strandline.storage.once import fetch, write_once
from strandline.storage.parsing import memory_path

TASK_TYPE = "session_learn"
REASON_CHARS = 500
KINDS_LISTED = 1_000
"""Experiences that are looked through for kinds of task: one page of a LIST."""


# ---- before the merge


@dataclass(frozen=True)
class Cases:
    """The cases that an archive's metadata names, and what was to be one and is none; where a task has `begun` that it
    judges, if that is not here. Where it names none, and a model is to look for them, the kinds of task that are
    `known`; otherwise None."""

    proposals: Sequence[Proposal] = ()
    dropped: Sequence[Dropped] = ()
    known: tuple[str, ...] | None = None
    begun: int = 0

    def beside(self, found: Extraction, messages: Sequence[Mapping[str, Any]]) -> Extraction:
        """What was extracted of these messages, and these; or without the tasks that a model found and nobody did."""
        if self.known is not None:
            from strandline.domain.learning.found import worked_on  # noqa: PLC0415 - only where a model is configured

            return worked_on(found, messages)
        return found.model_copy(
            update={
                "proposals": (*found.proposals, *self.proposals),
                "dropped": (*found.dropped, *self.dropped),
            }
        )


def cases(
    services: Services,
    request: ExtractRequested,
    policy: MemoryPolicy,
    found: Found,
    *,
    by_model: bool,
) -> Cases:
    """Those of an archive that is to be learnt from; without any, a model that reads it may look for them (`by_model`).
    Raises Unavailable."""
    named = any(map(_speaks_of_a_task, found.messages))
    wanted = policy.admits(REGISTRY["cases"], None) and (named or by_model)
    if not wanted or not _switched_on(services, request):
        return Cases()
    if not named:
        return Cases(known=_known_kinds(services, request, found.messages))
    from strandline.domain.learning.case import case_proposals  # noqa: PLC0415 - few archives hold a case
    from strandline.pipeline.begun import begun  # noqa: PLC0415 - as above

    earlier = begun(services, found.head, request, found.messages)
    return Cases(*case_proposals(found.messages, earlier.messages), begun=earlier.archive)


def _known_kinds(
    services: Services, request: ExtractRequested, messages: Sequence[Mapping[str, Any]]
) -> tuple[str, ...]:
    """By the names of the user's experiences: one LIST, where the index would have to be read and decoded."""
    from strandline.domain.learning.kinds import kinds  # noqa: PLC0415 - only where a model is configured

    prefix = f"{user_of(request.session).memories}experiences/"
    with answered():
        keys = list(islice(services.objects.keys(prefix), KINDS_LISTED))
    paths = (found[1] for key in keys if (found := memory_path(key)))
    return kinds(paths, map(text_of, messages))


def _speaks_of_a_task(message: Mapping[str, Any]) -> bool:
    metadata = message.get("metadata")
    return isinstance(metadata, dict) and not metadata.keys().isdisjoint(("case", "evaluation"))


def _switched_on(services: Services, request: ExtractRequested) -> bool:
    key = Life(request.session).archive_file(request.archive, "learning.json")
    known = fetch(services.objects, key)
    if known is None and not request.rebuild:  # a rebuild may ask for an archive that is not made yet
        body = json.dumps({"learning": services.rules.learning}).encode()
        known = body if write_once(services.objects, key, body) else fetch(services.objects, key)
    return bool(json.loads(known)["learning"]) if known else services.rules.learning


# ---- after it


def lesson_task(request: MergeRequested) -> str:
    """The id of the task of an archive's lesson."""
    return f"{request.task_id}-learn"


def teaches(candidates: Candidates) -> bool:
    """Whether there is a lesson in an archive: it holds a case, or judges what an earlier one names."""
    return bool(candidates.begun) or any(file.type == "cases" for file in candidates.files)


def ask(services: Services, request: MergeRequested, candidates: Candidates) -> str | None:
    """Asks for the lesson of an archive whose cases are merged, or that judges what an earlier one names; answers its
    task, None where there is nothing to learn. The due marker comes first: it makes the sweep ask again. Raises
    Unavailable."""
    if not teaches(candidates):
        return None
    fields = {**request.model_dump(exclude={"type", "version"}), "task_id": lesson_task(request)}
    wanted = LearnRequested.model_validate(fields)
    with answered("a store did not answer; the memories are merged, and the request comes again"):
        services.due.put(marker(services, wanted))
        _note_once(services, wanted)
        services.learn_queue.send(wanted)
    return wanted.task_id


def marker(services: Services, request: LearnRequested) -> Due:
    """What makes the sweep look at a lesson, should it not have come to its end by then."""
    return Due(services.due_at(), "learn", request.session, archive=request.archive, task_id=request.task_id)


def ask_again(services: Services, request: LearnRequested, ended_at: str | None) -> None:
    """A lesson that has failed is asked for again; `ended_at` is that of its task, as it was seen. Raises
    Unavailable."""
    with answered("a store did not answer; repeat the request"):
        services.due.put(marker(services, request))
        with suppress(ConditionFailed):
            seen = {"ended_at": ended_at, "result": None}
            _note(services, request, when=seen, status="pending", error=None, ended_at=None)
        services.learn_queue.send(request)


def request_of(whose: SessionRef, task: Item) -> LearnRequested:
    """What a lesson's task was opened for."""
    return LearnRequested(session=whose, task_id=task["task_id"], **task["lesson"])


def running(services: Services, request: LearnRequested, attempt: int) -> None:
    """A worker has it."""
    with suppress(StoreError):
        _note(services, request, when={"ended_at": None}, status="running", attempts=attempt)


def completed(services: Services, request: LearnRequested, result: Mapping[str, Any]) -> None:
    with answered():
        now = stamp(services.clock.now())
        _note(
            services, request, status="completed", stage="done", result=dict(result), error=None, ended_at=now
        )


def stumbled(services: Services, request: LearnRequested, reason: str) -> None:
    """An attempt has come to nothing and will be made again."""
    with suppress(StoreError):
        services.tasks.stumbled(request.session, request.task_id, scrub(reason)[:REASON_CHARS])


def failed(services: Services, request: LearnRequested, reason: str) -> None:
    """Nothing was learnt, for good; the memories that were merged stay, and the task can be retried. One that has ended
    already has ended otherwise."""
    cut, at = scrub(reason)[:REASON_CHARS], stamp(services.clock.now())
    with answered():
        try:
            _note(services, request, when={"ended_at": None}, status="failed", error=cut, ended_at=at)
        except ConditionFailed:
            return
    report(services, request, at)


def report(services: Services, request: LearnRequested, at: str) -> None:
    """Tells that a lesson failed at that time, once."""
    announce(services, task_failed(request.session, request.archive, request.task_id, stage="learn", at=at))


def forgotten(services: Services, request: LearnRequested) -> None:
    """Its session was deleted."""
    with answered():
        services.tasks.forget(user_of(request.session), request.task_id, of=request.session)


def _note_once(services: Services, request: LearnRequested) -> None:
    now = stamp(services.clock.now())
    with suppress(ConditionFailed):
        _note(
            services,
            request,
            when={"status": None},
            status="pending",
            attempts=0,
            result=None,
            error=None,
            created_at=now,
        )


def _note(services: Services, request: LearnRequested, *, when: Item | None = None, **values: Any) -> None:
    span = {"archive": request.archive, "first": request.first, "last": request.last}
    fields = {"task_type": TASK_TYPE, "stage": "learn", "lesson": span, **values}
    services.tasks.note(request.session, request.task_id, when=when, **fields)
