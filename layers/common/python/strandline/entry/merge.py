"""The merge function: MergeRequested from its queue, a batch merged together."""

import logging
from collections.abc import Sequence
from functools import partial
from typing import Any

from strandline.domain.contracts import MergeRequested
from strandline.domain.failure import kind_of
from strandline.entry import telemetry
from strandline.entry.batch import Record, each, give_up_or_raise, let_go, records
from strandline.entry.http import Event
from strandline.entry.wiring import library
from strandline.pipeline.merge import Outcome, run_merge

log = logging.getLogger(__name__)

Readable = list[tuple[Record, MergeRequested]]


def handle(event: Event) -> dict[str, Any]:
    """Answers a batch of MergeRequested. What cannot be read fails alone."""
    readable: Readable = []
    hopeless: list[Record] = []
    failures = each(records(event), partial(_read, into=readable), hopeless)
    outcomes = _merged(readable) if readable else []
    rows = [(record, (request, found)) for (record, request), found in zip(readable, outcomes, strict=True)]
    failures += each(rows, _end, hopeless)
    let_go(lambda: library().merge_queue, hopeless)
    return {"batchItemFailures": failures}


def _merged(readable: Readable) -> Sequence[Outcome | Exception]:
    """The batch together; when that breaks down on something unforeseen, each alone, so that one harms no other."""
    requests = [request for _, request in readable]
    trace = readable[0][0]["attributes"].get("AWSTraceHeader")
    files = library().memories
    before = (files.writes, files.conflicts)
    with telemetry.work("merge", trace=trace, tasks=[request.task_id for request in requests]):
        outcomes = _together(requests)
        telemetry.count(
            archives=sum(outcome is None for outcome in outcomes),
            files=files.writes - before[0],
            conflicts=files.conflicts - before[1],
        )
        return outcomes


def _together(requests: Sequence[MergeRequested]) -> Sequence[Outcome | Exception]:
    try:
        return run_merge(library(), requests)
    except Exception as error:  # noqa: BLE001 - each is tried alone
        log.error("a batch of %d merges broke down: %s", len(requests), kind_of(error))
    return [_alone(request) for request in requests]


def _alone(request: MergeRequested) -> Outcome | Exception:
    try:
        return run_merge(library(), [request])[0]
    except Exception as error:  # noqa: BLE001 - it is this request's outcome
        return error


def _read(record: Record, _: Record, *, into: Readable) -> None:
    into.append((record, MergeRequested.model_validate_json(record["body"])))


def _end(record: Record, merged: tuple[MergeRequested, Outcome | Exception]) -> None:
    request, error = merged
    with telemetry.message("merge", record):
        telemetry.note_session(request.session)
        telemetry.note(archive=request.archive, task=request.task_id)
        if error is not None:
            give_up_or_raise(library(), record, request, "merge", error)
