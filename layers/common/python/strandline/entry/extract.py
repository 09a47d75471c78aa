"""The extract function: ExtractRequested and SummariseRequested from its queue."""

import json
from typing import Any

from strandline.domain.candidates import Candidates
from strandline.domain.contracts import ExtractRequested, SummariseRequested
from strandline.domain.errors import ExtractionFailed
from strandline.domain.failure import kind_of
from strandline.entry import telemetry
from strandline.entry.batch import Record, each, give_up_or_raise, receives, records
from strandline.entry.http import Event
from strandline.entry.wiring import services
from strandline.pipeline.extract import run_extract
from strandline.pipeline.working_memory import run_summarise


def handle(event: Event) -> dict[str, Any]:
    """Answers a batch of ExtractRequested and SummariseRequested."""
    return {"batchItemFailures": each(records(event), _take)}


def _take(record: Record, row: Record) -> None:
    if _type_of(record) == "SummariseRequested":
        _summarise(record)
    else:
        _extract(record, row)


def _type_of(record: Record) -> Any:
    """What a message says it is; None where it cannot be read, which is for the contract to say."""
    try:
        body = json.loads(record["body"])
    except ValueError:
        return None
    return body.get("type") if isinstance(body, dict) else None


def _summarise(record: Record) -> None:
    """What can never succeed, or has been tried often enough, is let go: it is asked for again, or done when the
    messages are archived."""
    with telemetry.message("extract", record):
        request = SummariseRequested.model_validate_json(record["body"])
        telemetry.note_session(request.session)
        try:
            through = run_summarise(services(), request)
        except ExtractionFailed as error:
            if not error.final and receives(record) < services().rules.max_receives:
                raise
            telemetry.note(error=kind_of(error))
            telemetry.count(given_up=1)
            return
        telemetry.count(**({"skipped": 1} if through is None else {"summarised": 1}))


def _extract(record: Record, _: Record) -> None:
    with telemetry.message("extract", record):
        request = ExtractRequested.model_validate_json(record["body"])
        telemetry.note_session(request.session)
        telemetry.note(archive=request.archive, task=request.task_id)
        try:
            _tell(run_extract(services(), request, receives(record)))
        except Exception as error:  # noqa: BLE001 - raised again, or the archive has failed
            give_up_or_raise(services(), record, request, "extract", error)


def _tell(candidates: Candidates | None) -> None:
    if candidates is None:
        telemetry.note(reason="nothing_to_pass_on")
        telemetry.count(skipped=1)
        return
    telemetry.note(extractor=candidates.extractor)
    telemetry.count(extracted=1, rejected_claims=len(candidates.rejected))
