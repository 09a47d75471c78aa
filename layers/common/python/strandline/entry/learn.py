"""The learn function: LearnRequested from its queue."""

import logging
from typing import Any

from strandline.domain.contracts import LearnRequested
from strandline.domain.errors import ExtractionFailed
from strandline.domain.failure import kind_of
from strandline.entry import telemetry
from strandline.entry.batch import Record, each, let_go, reason, receives, records
from strandline.entry.http import Event
from strandline.entry.wiring import library
from strandline.pipeline import learning
from strandline.pipeline.learn import run_learn
from strandline.pipeline.services import Services

log = logging.getLogger(__name__)


def handle(event: Event) -> dict[str, Any]:
    """Answers a batch of LearnRequested."""
    hopeless: list[Record] = []
    failures = each(records(event), _learn, hopeless)
    let_go(lambda: library().learn_queue, hopeless)
    return {"batchItemFailures": failures}


def _learn(record: Record, _: Record) -> None:
    with telemetry.message("learn", record):
        request = LearnRequested.model_validate_json(record["body"])
        telemetry.note_session(request.session)
        telemetry.note(archive=request.archive, task=request.task_id)
        try:
            run_learn(library(), request, receives(record))
        except Exception as error:  # noqa: BLE001 - raised again, or nothing is learnt
            give_up_or_raise(library(), record, request, error)
        else:
            telemetry.count(lessons=1)


def give_up_or_raise(services: Services, record: Record, request: LearnRequested, error: Exception) -> None:
    """Ends the lesson's task when nothing more can come of the request; raises the error, its reason noted on the task,
    when it should come again."""
    final = isinstance(error, ExtractionFailed) and error.final
    if not final and receives(record) < services.rules.max_receives:
        learning.stumbled(services, request, reason(error))
        raise error
    log.warning("the lesson of archive %d given up: %s", request.archive, kind_of(error))
    telemetry.note(error=kind_of(error))
    telemetry.count(given_up=1)
    learning.failed(services, request, reason(error))
