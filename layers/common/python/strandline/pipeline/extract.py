"""extract: an archive becomes candidate memory lines, and the working memory takes it in.

in             ExtractRequested
out            `candidates.json`, `abstract.md`, `overview.md` (`working_memory.py`) under the archive;
               SessionCommitted; MergeRequested. ExtractRequested again where a language model has read some of it and
               there is no time for the rest
commit point   create-once PUT of the candidates
on duplicate   candidates and working memory exist: no model is asked again, only MergeRequested is sent again
on crash       before the candidates: the message is delivered again and the work repeated, except for the parts of a
               long archive that a language model has answered (`reading.py`). After: the work continues from the
               versions of the working memory that exist
"""

from collections.abc import Sequence
from contextlib import suppress

from pydantic import ValidationError

from strandline.domain.admission import check
from strandline.domain.candidates import Candidates, Rejected
from strandline.domain.contracts import ArchiveRequest, ExtractRequested, MergeRequested, SessionRef
from strandline.domain.errors import ExtractionFailed
from strandline.domain.events import session_committed
from strandline.domain.extraction import Extraction, Transcript
from strandline.domain.language_model.combine import beside
from strandline.domain.language_model.speakers import spoken
from strandline.domain.memory import extraction_id
from strandline.domain.memory_policy import MemoryPolicy
from strandline.domain.memory_types import REGISTRY
from strandline.domain.memory_types.custom import version
from strandline.domain.message import read_line
from strandline.domain.session import CANCELLED, Head, cancelled, find_archive
from strandline.domain.transcribing import transcribe
from strandline.domain.working_memory.thresholds import Stored
from strandline.pipeline import outcome
from strandline.pipeline.announce import announce
from strandline.pipeline.learning import cases
from strandline.pipeline.memory_types import Pinned, pinned
from strandline.pipeline.reading import read
from strandline.pipeline.services import Services
from strandline.pipeline.working_memory import Found, run_working_memory
from strandline.ports import StoreError
from strandline.storage.answered import answered
from strandline.storage.layout import Life, Rebuild, head_key, user_of
from strandline.storage.once import fetch, write_once


def run_extract(services: Services, request: ExtractRequested, attempt: int = 1) -> Candidates | None:
    """Extracts one archive, once, and passes it on to the merge. `attempt` counts the receives of the request. Answers
    what was extracted; None when there is nothing to pass on (yet).

    Raises ExtractionFailed when there is no valid extraction, Unavailable when a store did not answer. An archive
    whose session was deleted meanwhile is passed over in silence, and so is one whose task was cancelled.
    """
    if request.rebuild:
        return _extract_anew(services, request)
    began = services.clock.now()
    life = Life(request.session)
    candidates, found = read_candidates(services, life, request.archive), None
    if candidates is None:
        head = living_head(services, request)
        if head is None or not _waits(head, request):
            return None
        announce_commit(services, head, request)
        if called_off(services, request, head):
            return None
        found = Found(head, _messages(services, request, head))
        candidates = _extract(services, request, found, attempt)
    if candidates is None:
        _go_on_later(services, request)
        return None
    write_once(
        services.objects, life.archive_file(request.archive, "abstract.md"), candidates.abstract.encode()
    )
    if not run_working_memory(services, request, found, began):
        _go_on_later(services, request)
        return None
    _pass_on(services, request)
    return candidates


def read_candidates(services: Services, life: Life, number: int) -> Candidates | None:
    """The stored candidates of an archive, or None. Raises ExtractionFailed when they cannot be read."""
    body = fetch(services.objects, life.archive_file(number, "candidates.json"))
    try:
        return None if body is None else Candidates.model_validate_json(body)
    except ValidationError:
        raise ExtractionFailed(
            "the archive's candidates cannot be read", final=True
        ) from None  # it would quote them


def first_candidates(services: Services, whose: SessionRef, number: int) -> Candidates | None:
    """The archive's own candidates; None also when they cannot be read."""
    try:
        return read_candidates(services, Life(whose), number)
    except ExtractionFailed:
        return None


def candidates_anew(services: Services, place: Rebuild, whose: SessionRef, number: int) -> Candidates | None:
    """What the archive says in that rebuild; None when it has not been extracted there."""
    body = fetch(services.objects, place.candidates(whose, number))
    return None if body is None else Candidates.model_validate_json(body)


def living_head(services: Services, request: ArchiveRequest) -> Head | None:
    """The head of the very session that a message was sent for; None when that has been deleted."""
    found = services.heads.read(head_key(request.session))
    if found is None or found.value.buried_at or found.value.incarnation != request.session.incarnation:
        return None
    return found.value


def _waits(head: Head, request: ExtractRequested) -> bool:
    """Whether the session has just this archive, and it has not ended well: a request for any other means nothing."""
    archive = find_archive((*head.pending, *head.failed), request.archive)
    return archive is not None and (archive.first, archive.last) == (request.first, request.last)


def announce_commit(services: Services, head: Head, request: ExtractRequested) -> None:
    """Tells of the commit that made the archive. Here, since this is repeated until it succeeds and nobody waits."""
    archive = find_archive((*head.pending, *head.failed), request.archive)
    if archive is not None:
        announce(services, session_committed(request.session, archive, request.task_id))


def called_off(services: Services, request: ExtractRequested | MergeRequested, head: Head) -> bool:
    """Whether the owner has cancelled the task; its note is made to agree, should a crash have kept it from that."""
    if not cancelled(head, request.archive):
        return False
    outcome.fail(services, request, "cancel", CANCELLED)
    return True


def _extract(services: Services, request: ExtractRequested, found: Found, attempt: int) -> Candidates | None:
    """The candidates, stored; None when a part of the archive is still to be read."""
    with suppress(StoreError):
        services.tasks.running(request.session, request.task_id, stage="extract", attempts=attempt)
    candidates = _proposed(services, request, found)
    return candidates and _keep(services, request, candidates)


def _extract_anew(services: Services, request: ExtractRequested) -> Candidates | None:
    """Extracts one archive for a rebuild, once, and keeps with that what came of it. Nothing is passed on."""
    place = Rebuild(user_of(request.session), request.rebuild)
    key = place.candidates(request.session, request.archive)
    head = living_head(services, request) if fetch(services.objects, key) is None else None
    if head is None:
        return None
    first = first_candidates(services, request.session, request.archive)
    found = Found(head, _messages(services, request, head))
    candidates = _proposed(services, request, found, first)
    if candidates is None:
        _go_on_later(services, request)
        return None
    kept = candidates.model_copy(update={"abstract": ""})  # those are the session's own
    write_once(services.objects, key, kept.model_dump_json(indent=1).encode())
    return candidates


def _messages(services: Services, request: ExtractRequested, head: Head) -> Sequence[Stored]:
    """The messages of the archive; for a rebuild also those that would be its own, were it made now."""
    with answered():
        lines = services.log.archived(request.session, request.archive, request.first, request.last)
        if lines is None and request.rebuild and request.archive == head.commit_count + 1:
            lines = services.log.live(head, request.first, request.last)
    if lines is None:
        raise ExtractionFailed("the archive's messages are not in the bucket", final=True)
    return [read_line(line) for line in lines]


def _proposed(
    services: Services, request: ExtractRequested, found: Found, first: Candidates | None = None
) -> Candidates | None:
    """What the archive says; None when a part of it is still to be read. A rebuild keeps the cases of what it said
    `first`: what was learnt from them stays as it is."""
    session_id = request.session.session_id
    turns = tuple(transcribe(found.messages))
    policy = MemoryPolicy.model_validate(found.head.memory_policy or {})
    own = pinned(services, request)
    types = policy.chosen((*REGISTRY.values(), *own.types))
    transcript = Transcript(session_id=session_id, archive=request.archive, turns=turns, types=types)
    by_model = first is None and _is_read(services, transcript)
    held = cases(services, request, policy, found, by_model=by_model)
    transcript = transcript.model_copy(update={"kinds": held.known})
    extraction = _extraction(services, request, transcript)
    if extraction is None:
        return None
    identity = extraction_id(request.session.incarnation, request.archive)
    checked = check(held.beside(extraction, found.messages), transcript, policy, identity)
    checked = checked.model_copy(update={"begun": held.begun})
    return _versioned(checked.with_cases_of(first) if first else checked, own, request)


def _versioned(candidates: Candidates, own: Pinned, request: ExtractRequested) -> Candidates:
    """With the versions of the user's own types, and with what was wrong with others."""
    wrong = [
        Rejected(reason=f"its declaration is not valid: {why}", memory_type=name, **_whole(request))
        for name, why in own.problems.items()
    ]
    versions = {kind.name: version(kind) for kind in own.types}
    return candidates.model_copy(update={"types": versions, "rejected": (*candidates.rejected, *wrong)})


def _whole(request: ExtractRequested) -> dict[str, int]:
    return {"seq_from": request.first, "seq_to": request.last}


def _extraction(services: Services, request: ExtractRequested, transcript: Transcript) -> Extraction | None:
    """By the rules, which cost nothing and come first, and by the language model if there is one."""
    found = services.model.extract(transcript)
    if services.language_model is None or not _is_read(services, transcript):
        return found
    facts = read(services, services.language_model, request, transcript)
    return beside(found, facts) if facts else None


def _is_read(services: Services, transcript: Transcript) -> bool:
    """Whether a language model reads it: there is one, and somebody spoke."""
    return services.ports.language_model is not None and any(spoken(transcript))


def _keep(services: Services, request: ExtractRequested, candidates: Candidates) -> Candidates:
    """Stores the candidates, and answers those that are stored: another worker may have been first."""
    life = Life(request.session)
    body = candidates.model_dump_json(indent=1).encode()
    if write_once(services.objects, life.archive_file(request.archive, "candidates.json"), body):
        return candidates
    return read_candidates(services, life, request.archive) or candidates


def _go_on_later(services: Services, request: ExtractRequested) -> None:
    """Some part has been read and kept, so this ends: each delivery leaves one less to read."""
    with answered("the extract queue did not answer"):
        services.extract_queue.send(request)


def _pass_on(services: Services, request: ExtractRequested) -> None:
    fields = request.model_dump(exclude={"type", "version"})
    with answered("the merge queue did not answer"):
        services.merge_queue.send(MergeRequested.model_validate(fields))
