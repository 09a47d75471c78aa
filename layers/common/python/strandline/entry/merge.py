"""The merge function: MergeRequested from its queue, a batch merged together."""

from functools import partial
from typing import Any

from strandline.domain.contracts import MergeRequested
from strandline.entry.batch import Record, each, give_up_or_raise, records
from strandline.entry.http import Event
from strandline.entry.wiring import library
from strandline.pipeline.merge import Outcome, run_merge

Readable = list[tuple[Record, MergeRequested]]


def handle(event: Event) -> dict[str, Any]:
    """Answers a batch of MergeRequested. What cannot be read fails alone."""
    readable: Readable = []
    unreadable = each(records(event), partial(_read, into=readable))
    outcomes = run_merge(library(), [request for _, request in readable])
    rows = [(record, (request, found)) for (record, request), found in zip(readable, outcomes, strict=True)]
    return {"batchItemFailures": [*unreadable, *each(rows, _end)]}


def _read(record: Record, _: Record, *, into: Readable) -> None:
    into.append((record, MergeRequested.model_validate_json(record["body"])))


def _end(record: Record, merged: tuple[MergeRequested, Outcome]) -> None:
    request, error = merged
    if error is not None:
        give_up_or_raise(library(), record, request, "merge", error)
