"""How an archive ends: done or failed, once, wherever that is decided.

The head decides, so an attempt that comes too late changes nothing; the marker object and the task follow the head, and
each may be repeated. Nothing of an archive is removed: `failed.json` says why it first failed, even when a retry has
added `done.json`.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from strandline.domain import session
from strandline.domain.contracts import ExtractRequested, MergeRequested
from strandline.domain.events import task_failed
from strandline.domain.redaction import scrub
from strandline.domain.session import CANCELLED, Archive, Head
from strandline.domain.times import stamp
from strandline.pipeline.announce import announce
from strandline.pipeline.breaker import attempt_failed
from strandline.pipeline.services import Services
from strandline.ports import StoreError
from strandline.storage.answered import answered
from strandline.storage.document import Change
from strandline.storage.layout import Life, Rebuild, head_key, user_of
from strandline.storage.once import write_once

if TYPE_CHECKING:  # a function loads what it uses
    from strandline.domain.extraction import Usage

REASON_CHARS = 500

Request = ExtractRequested | MergeRequested


@dataclass(frozen=True)
class Told:
    """What else the result of a completed task says: where its diff is, what a language model has cost, and the task of
    the lesson of the archive, if there is one."""

    diff_uri: str
    usage: "Usage | None" = None
    learn_task: str | None = None


def complete(services: Services, request: Request, extracted: dict[str, int], told: Told) -> bool:
    """The archive is done: its memories are merged. `extracted` counts the files added or updated by type.

    Answers False when its session has been deleted meanwhile.
    """
    if _settle(services, request, extracted, reason=None) is None:
        return False
    span = {"archive": request.archive, "first_seq": request.first, "last_seq": request.last}
    _mark(services, request, "done.json", {**span, "memories": extracted})
    result = {
        "session_id": request.session.session_id,
        "archive": request.archive,
        "memories_extracted": extracted,
        "memory_diff_uri": told.diff_uri,
        "tokens": tokens(told.usage),
        "learn_task_id": told.learn_task,
    }
    with answered():
        services.tasks.complete(request.session, request.task_id, result)
    return True


def tokens(usage: "Usage | None") -> dict[str, Any] | None:
    """What the task says about the cost of a language model; None where none was asked."""
    if usage is None:
        return None
    spent = {"input": usage.input_tokens, "output": usage.output_tokens, "calls": usage.calls}
    return {"model": ", ".join(usage.models), **spent}


def stumble(services: Services, request: Request, reason: str) -> bool:
    """An attempt has come to nothing: its owner may see why. Answers whether another is to be made; not when the
    context waits for the archive and too many have failed in a row."""
    if _of_a_rebuild(request):
        return True
    with suppress(StoreError):
        services.tasks.stumbled(request.session, request.task_id, scrub(reason)[:REASON_CHARS])
    return not attempt_failed(services, request, reason, over=False)


def fail(services: Services, request: Request, stage: str, reason: str) -> None:
    """The archive has failed for good: its text stays in the context, and its task can be retried.

    An archive that is done stays done, and so does its task; one that has failed already keeps its reason. Of a
    rebuild it is only noted.
    """
    place = _of_a_rebuild(request)
    if place:
        row = json.dumps({"error": scrub(reason)[:REASON_CHARS]}, ensure_ascii=False).encode()
        write_once(services.objects, place.failed(request.session, request.archive), row)
        return
    head = _settle(services, request, {}, reason=scrub(reason)[:REASON_CHARS])
    failed = session.find_archive(head.failed, request.archive) if head else None
    if failed is None:
        return
    report(services, request, failed, stage)
    cut = failed.reason or ""
    attempt_failed(services, request, cut, over=True)
    with answered():
        services.tasks.fail(request.session, request.task_id, request.archive, stage=stage, reason=cut)


def _of_a_rebuild(request: Request) -> Rebuild | None:
    name = request.rebuild if isinstance(request, ExtractRequested) else ""
    return Rebuild(user_of(request.session), name) if name else None


def report(services: Services, request: Request, failed: Archive, stage: str) -> None:
    """Records once that an archive failed, with an event unless its owner wished it."""
    at = failed.failed_at or failed.at
    row = {"archive": request.archive, "stage": stage, "error": failed.reason or "", "failed_at": at}
    _mark(services, request, "failed.json", row)
    if failed.reason != CANCELLED:
        announce(services, task_failed(request.session, request.archive, request.task_id, stage=stage, at=at))


def _mark(services: Services, request: Request, name: str, row: Mapping[str, Any]) -> None:
    key = Life(request.session).archive_file(request.archive, name)
    write_once(services.objects, key, json.dumps(row, ensure_ascii=False).encode())


def _settle(
    services: Services, request: Request, extracted: dict[str, int], *, reason: str | None
) -> Head | None:
    now = stamp(services.clock.now())
    change = partial(_change, request=request, extracted=extracted, reason=reason, now=now)
    return services.heads.update(head_key(request.session), change)


def _change(
    head: Head | None, *, request: Request, extracted: dict[str, int], reason: str | None, now: str
) -> Change[Head, Head | None]:
    if head is None or head.buried_at or head.incarnation != request.session.incarnation:
        return Change(None, None)
    settled = session.settle(head, request.archive, extracted=extracted, reason=reason, now=now)
    return Change(None if settled is head else settled, settled)
