"""The queue edge: a batch in, the ids of what must come again out.

A message is given up on its last receive: its archive fails with the reason and can be retried by its owner. What
cannot be read at all goes to the dead-letter queue by itself.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from strandline.domain.contracts import CommitRequested, ExtractRequested, MergeRequested
from strandline.domain.errors import ExtractionFailed, NotFound, StrandlineError
from strandline.entry.http import Event
from strandline.entry.wiring import library
from strandline.pipeline import outcome
from strandline.pipeline.commit import run_commit
from strandline.pipeline.extract import run_extract
from strandline.pipeline.merge import run_merge
from strandline.storage.layout import user_of

log = logging.getLogger(__name__)

Record = Mapping[str, Any]


def handle_commit(event: Event) -> dict[str, Any]:
    """Answers a batch of CommitRequested."""
    return _each(event["Records"], _commit)


def handle_extract(event: Event) -> dict[str, Any]:
    """Answers a batch of ExtractRequested."""
    return _each(event["Records"], _extract)


def handle_merge(event: Event) -> dict[str, Any]:
    """Answers a batch of MergeRequested, merged together."""
    readable: list[tuple[Record, MergeRequested]] = []
    failed = _each(event["Records"], partial(_read_merge, into=readable))
    outcomes = run_merge(library(), [request for _, request in readable]) if readable else []
    ended = zip(readable, outcomes, strict=True)
    rest = _each([(*pair, error) for pair, error in ended], _settle_merge, key=lambda row: row[0])
    return {"batchItemFailures": [*failed["batchItemFailures"], *rest["batchItemFailures"]]}


def _each(
    rows: Sequence[Any], work: Callable[[Any], None], *, key: Callable[[Any], Record] = lambda row: row
) -> dict[str, Any]:
    """Does the work for each row; answers the partial-batch response with the rows where it raised."""
    failures = []
    for row in rows:
        record = key(row)
        try:
            work(row)
        except Exception:
            log.exception("message %s failed, receive %d", record["messageId"], _receives(record))
            failures.append({"itemIdentifier": record["messageId"]})
    return {"batchItemFailures": failures}


def _receives(record: Record) -> int:
    return int(record["attributes"]["ApproximateReceiveCount"])


def _commit(record: Record) -> None:
    request = CommitRequested.model_validate_json(record["body"])
    try:
        run_commit(library(), user_of(request.session), request.session.session_id, request.keep_recent_count)
    except NotFound:
        log.info("message %s names a session that is gone", record["messageId"])


def _extract(record: Record) -> None:
    request = ExtractRequested.model_validate_json(record["body"])
    try:
        run_extract(library(), request, _receives(record))
    except (ExtractionFailed, StrandlineError) as error:
        _give_up_or_raise(record, request, "extract", error)


def _read_merge(record: Record, *, into: list[tuple[Record, MergeRequested]]) -> None:
    into.append((record, MergeRequested.model_validate_json(record["body"])))


def _settle_merge(row: tuple[Record, MergeRequested, Exception | None]) -> None:
    record, request, error = row
    if error is not None:
        _give_up_or_raise(record, request, "merge", error)


def _give_up_or_raise(record: Record, request: outcome.Request, stage: str, error: Exception) -> None:
    final = isinstance(error, ExtractionFailed) and error.final
    if not final and _receives(record) < library().rules.max_receives:
        raise error
    log.warning("%s of archive %d given up: %s", stage, request.archive, type(error).__name__)
    outcome.fail(library(), request, stage, str(error))
