"""merge: the candidates of archives become lines in memory files.

in             up to 10 MergeRequested of one user (the queue is FIFO, its group is the user)
out            memory files, indexes, vectors where an embedder is configured, `memory_diff.json`, MemoryChanged, the
               archive done, the task completed; LearnRequested where there is a case
commit point   CAS PUT per memory file, then create-once PUT of the archive's diff
on duplicate   a file names the extractions it has absorbed, so nothing is applied twice; when the diff exists, only
               the steps after it are completed
on crash       the message is delivered again: files that have absorbed the extraction stay, the others follow. The diff
               is then computed from the files: what they are with and without this extraction. Should the message not
               come again, a due marker makes the sweep bring the index in step with the files
once           a configured language model is asked about sessions that meet on a file (`settling.py`)
isolation      each archive has its own diff, result and failure; a file that cannot be written holds back only the
               archives with lines for it
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from strandline.domain.address import diff_uri
from strandline.domain.candidates import Candidates
from strandline.domain.contracts import MergeRequested
from strandline.domain.errors import ExtractionFailed, StrandlineError, Unavailable
from strandline.domain.events import memories_merged
from strandline.domain.extraction import Usage
from strandline.domain.language_model.combine import total
from strandline.domain.memory import Memory, living
from strandline.domain.memory_policy import MemoryPolicy
from strandline.domain.merging import Addition
from strandline.domain.message import read_line
from strandline.domain.ranking import Document
from strandline.domain.settlement import Settlement
from strandline.domain.times import stamp
from strandline.domain.transcribing import text_of
from strandline.pipeline import learning
from strandline.pipeline.absorbing import absorb_all
from strandline.pipeline.announce import announce
from strandline.pipeline.catalogue import forget_messages, index_messages, reindex, tidy
from strandline.pipeline.diff import Effect, Effects, diff
from strandline.pipeline.documents import message_documents, message_group
from strandline.pipeline.embedding import PATIENCE, embed
from strandline.pipeline.expiry import watch
from strandline.pipeline.extract import called_off, living_head, read_candidates
from strandline.pipeline.library import Library
from strandline.pipeline.links import completed
from strandline.pipeline.marking import behind_the_files
from strandline.pipeline.outcome import Told, complete
from strandline.pipeline.settling import settle
from strandline.storage.layout import Life, User, user_of
from strandline.storage.once import fetch, write_once
from strandline.storage.working_memories import OVERVIEW, WorkingMemories


@dataclass
class Job:
    """One archive on its way through the merge: how long its memories are to live, its messages (None: removed with
    their session), its diff, once there is one, `effects` and settlements by path, and the error that stopped it, if
    any."""

    request: MergeRequested
    candidates: Candidates
    ttl_seconds: int | None = None
    messages: Sequence[dict[str, Any]] | None = None
    diff: bytes | None = None
    effects: dict[str, Effect] = field(default_factory=dict)
    settled: dict[str, Settlement] = field(default_factory=dict)
    error: StrandlineError | ExtractionFailed | None = None

    @property
    def life(self) -> Life:
        return Life(self.request.session)

    @property
    def diff_key(self) -> str:
        return self.life.archive_file(self.request.archive, "memory_diff.json")


Outcome = StrandlineError | ExtractionFailed | None


def run_merge(services: Library, requests: Sequence[MergeRequested]) -> list[Outcome]:
    """Merges these archives, users one after the other; answers for each request its error, or None.

    An error that is retryable is the queue's business; nothing of the request is lost or doubled by repeating it.
    """
    outcomes: list[Outcome] = [None] * len(requests)
    until = services.clock.now() + PATIENCE
    by_owner: dict[User, list[int]] = {}
    for position, request in enumerate(requests):
        by_owner.setdefault(user_of(request.session), []).append(position)
    for owner, positions in by_owner.items():
        merged = _merge_user(services, owner, [requests[p] for p in positions], until)
        for position, outcome in zip(positions, merged, strict=True):
            outcomes[position] = outcome
    return outcomes


def _merge_user(
    services: Library, owner: User, requests: Sequence[MergeRequested], until: datetime
) -> list[Outcome]:
    loaded = [_load(services, request) for request in requests]
    jobs = list({job.diff_key: job for job in loaded if isinstance(job, Job)}.values())
    fresh = [job for job in jobs if job.diff is None]
    if fresh:
        _apply(services, owner, fresh, until)
    for job in jobs:
        if job.error is None:
            job.error = _attempt(partial(_finish, services, owner, job))
    errors = {job.diff_key: job.error for job in jobs}
    return [errors[entry.diff_key] if isinstance(entry, Job) else entry for entry in loaded]


def _load(services: Library, request: MergeRequested) -> Job | Outcome:
    """The job; None when its session was deleted or its task cancelled; the error when it cannot be had."""
    try:
        candidates = read_candidates(services, Life(request.session), request.archive)
        if candidates is not None:
            return _job(services, request, candidates)
        if living_head(services, request) is None:
            return None
    except (StrandlineError, ExtractionFailed) as error:
        return error
    return ExtractionFailed("the archive's candidates are not in the bucket", final=True)


def _job(services: Library, request: MergeRequested, candidates: Candidates) -> Job | None:
    job = Job(request, candidates, services.rules.memory_ttl_seconds)
    job.diff = fetch(services.objects, job.diff_key)
    if job.diff is not None:
        return _with_messages(services, job) if "rolled_back_at" in json.loads(job.diff) else job
    head = living_head(services, request)
    if head and called_off(services, request, head):
        return None
    policy = MemoryPolicy.model_validate(head.memory_policy or {}) if head else MemoryPolicy()
    job.ttl_seconds = policy.ttl_seconds or job.ttl_seconds
    return _founded(services, job)


def _founded(services: Library, job: Job) -> Job:
    """The job with those of its candidates that the archive bears out: the last look before anything is written."""
    if _with_messages(services, job).messages is None:
        return job  # the session is being deleted: its memories stay, as its extraction has checked them
    texts = {message["seq"]: text_of(message) for message in job.messages or ()}
    job.candidates = job.candidates.founded(texts)
    return job


def _with_messages(services: Library, job: Job) -> Job:
    request = job.request
    lines = services.log.archived(request.session, request.archive, request.first, request.last)
    job.messages = None if lines is None else [read_line(line) for line in lines]
    return job


def _attempt(step: partial[None]) -> StrandlineError | None:
    try:
        step()
    except StrandlineError as error:
        return error
    return None


def _apply(services: Library, owner: User, jobs: Sequence[Job], until: datetime) -> None:
    """Writes the files, then the indexes. Errors are noted on the jobs they concern."""
    error = _attempt(partial(_write_all, services, owner, jobs, until))
    for job in jobs:
        job.error = job.error or error


def _write_all(services: Library, owner: User, jobs: Sequence[Job], until: datetime) -> None:
    began = services.clock.now()
    base = services.indexes.read_warm(owner.index("memories"))
    additions: dict[str, list[tuple[Job, Addition]]] = {}
    for job in jobs:
        for addition in job.candidates.additions():
            additions.setdefault(addition.path, []).append((job, addition))
    with behind_the_files(services, owner, sorted(additions)) as known:
        for path in sorted(additions):
            known.update(_write_file(services, owner, Group(path, additions[path]), began))
        known.update(completed(services, owner, _effects(jobs, known)))
        if known:
            reindex(services, owner, known, base=base, known=known)
            watch(services, owner, known, base)
    index_messages(services, owner, dict(_documents(jobs)))
    for kind in ("memories", "messages"):
        embed(services, owner, kind, until)
        tidy(services, owner, kind)


def _effects(jobs: Iterable[Job], written: Iterable[str]) -> Mapping[str, list[Effect]]:
    """What was done to each of these files."""
    return {path: [job.effects[path] for job in jobs if path in job.effects] for path in written}


@dataclass(frozen=True)
class Group:
    """What a batch adds to one file."""

    path: str
    additions: Sequence[tuple[Job, Addition]]


def _write_file(services: Library, owner: User, group: Group, began: datetime) -> Mapping[str, Memory | None]:
    """One file, all the additions to it in one write. Answers it as written; nothing when it could not be."""
    path = group.path
    try:
        met = [(job.request, addition) for job, addition in group.additions]
        settled = settle(services, path, met, began)
        change = partial(
            absorb_all,
            additions=[addition for _, addition in group.additions],
            ends=settled.ends if settled else (),
            ttls={addition.extraction: job.ttl_seconds for job, addition in group.additions},
            now=stamp(services.clock.now()),
        )
        memory, effects = services.memories.update(owner.memory(path), change)
    except StrandlineError as error:
        for job, _ in group.additions:
            job.error = error
        return {}
    for job, addition in group.additions:
        job.effects[path] = effects[addition.extraction]
        if settled:
            job.settled[path] = settled
    return {path: living(memory)}


def _documents(jobs: Iterable[Job]) -> Iterator[tuple[str, list[Document]]]:
    for job in jobs:
        if job.messages is not None:
            session = job.request.session
            group = message_group(session.incarnation, job.request.archive)
            yield group, list(message_documents(group, session.session_id, job.messages))


def _finish(services: Library, owner: User, job: Job) -> None:
    """The diff, once; then what follows from it."""
    if job.diff is None:
        job.diff = _write_diff(services, owner, job)
    elif (
        job.messages is not None
    ):  # it was taken back before it was merged: what was said is found all the same
        index_messages(services, owner, dict(_documents([job])))
    record = json.loads(job.diff)
    _announce(services, job.request, record["operations"])
    uri = diff_uri(owner.user_id, job.request.session.session_id, job.request.archive)
    by_type = record["summary"]["by_type"]
    lesson = learning.ask(services, job.request, job.candidates)
    told = Told(uri, _spent(services, job), lesson)
    if not complete(services, job.request, by_type, told):
        forget_messages(services, owner, job.request.session.incarnation)


def _spent(services: Library, job: Job) -> Usage | None:
    """What a language model has cost: the extraction, and the working memory since the archive before."""
    if services.settler is None:  # there is no model
        return job.candidates.usage
    kept = WorkingMemories(services.objects).read(job.life.archive_file(job.request.archive, OVERVIEW))
    spent = [usage for usage in (job.candidates.usage, kept and kept.usage) if usage and usage.calls]
    return total(spent) if spent else None


def _announce(services: Library, request: MergeRequested, operations: Mapping[str, Any]) -> None:
    added, updated = ([each["uri"] for each in operations[how]] for how in ("adds", "updates"))
    now = stamp(services.clock.now())
    for happening in memories_merged(request, added=added, updated=updated, at=now):
        announce(services, happening)


def _write_diff(services: Library, owner: User, job: Job) -> bytes:
    body = diff(
        job.candidates, Effects(job.effects, job.settled), owner, life=job.life, number=job.request.archive
    )
    if write_once(services.objects, job.diff_key, body):
        return body
    stored = fetch(services.objects, job.diff_key)
    if stored is None:
        raise Unavailable("the diff just written is not there; its session is being deleted")
    return stored
