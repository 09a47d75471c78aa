"""The extract function: ExtractRequested from its queue."""

import logging
from typing import Any

from strandline.domain.contracts import ExtractRequested
from strandline.entry.batch import Record, each, give_up_or_raise, receives, records
from strandline.entry.http import Event
from strandline.entry.wiring import services
from strandline.pipeline.extract import run_extract

log = logging.getLogger(__name__)


def handle(event: Event) -> dict[str, Any]:
    """Answers a batch of ExtractRequested."""
    return {"batchItemFailures": each(records(event), _extract)}


def _extract(record: Record, _: Record) -> None:
    request = ExtractRequested.model_validate_json(record["body"])
    try:
        run_extract(services(), request, receives(record))
    except Exception as error:
        log.exception("extract of archive %d failed", request.archive)
        give_up_or_raise(services(), record, request, "extract", error)
