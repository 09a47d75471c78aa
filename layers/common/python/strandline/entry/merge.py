"""The merge function: MergeRequested from its queue, a batch merged together."""

import logging
from collections.abc import Sequence
from functools import partial
from typing import Any

from strandline.domain.contracts import MergeRequested
from strandline.entry.batch import Record, each, give_up_or_raise, records
from strandline.entry.http import Event
from strandline.entry.wiring import library
from strandline.pipeline.merge import Outcome, run_merge

log = logging.getLogger(__name__)

Readable = list[tuple[Record, MergeRequested]]


def handle(event: Event) -> dict[str, Any]:
    """Answers a batch of MergeRequested. What cannot be read fails alone."""
    readable: Readable = []
    unreadable = each(records(event), partial(_read, into=readable))
    outcomes = _merged([request for _, request in readable])
    rows = [(record, (request, found)) for (record, request), found in zip(readable, outcomes, strict=True)]
    return {"batchItemFailures": [*unreadable, *each(rows, _end)]}


def _merged(requests: Sequence[MergeRequested]) -> Sequence[Outcome | Exception]:
    """The batch together; when that breaks down on something unforeseen, each alone, so that one harms no other."""
    try:
        return run_merge(library(), requests)
    except Exception:
        log.exception("a batch of %d merges broke down; each is tried alone", len(requests))
    return [_alone(request) for request in requests]


def _alone(request: MergeRequested) -> Outcome | Exception:
    try:
        return run_merge(library(), [request])[0]
    except Exception as error:
        log.exception("merge of archive %d broke down", request.archive)
        return error


def _read(record: Record, _: Record, *, into: Readable) -> None:
    into.append((record, MergeRequested.model_validate_json(record["body"])))


def _end(record: Record, merged: tuple[MergeRequested, Outcome | Exception]) -> None:
    request, error = merged
    if error is not None:
        give_up_or_raise(library(), record, request, "merge", error)
