"""The erase function: the api's four routes that erase, under the one role that may; EraseRequested from its queue."""

import logging
from typing import Any

from strandline.domain.contracts import EraseRequested
from strandline.entry import api, telemetry
from strandline.entry.batch import Record, each, reason, receives, records
from strandline.entry.http import Event
from strandline.entry.wiring import library
from strandline.pipeline.erase import run_erase, trouble

log = logging.getLogger(__name__)


def handle(event: Event, context: Any) -> dict[str, Any]:
    """Answers one HTTP API event, or a batch of EraseRequested."""
    if "Records" in event:
        return {"batchItemFailures": each(records(event), _erase)}
    return api.handle(event, context)


def _erase(record: Record, _: Record) -> None:
    """An erasure is never given up: on its last receive the task says what is wrong, and the sweep sends another."""
    with telemetry.message("erase", record):
        request = EraseRequested.model_validate_json(record["body"])
        telemetry.note_session(request.session)
        telemetry.note(scope=request.scope)
        try:
            run_erase(library(), request)
        except Exception as error:
            if receives(record) >= library().rules.max_receives:
                trouble(library(), request, reason(error))
            raise
