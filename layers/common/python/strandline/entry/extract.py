"""The extract function: ExtractRequested from its queue."""

from typing import Any

from strandline.domain.candidates import Candidates
from strandline.domain.contracts import ExtractRequested
from strandline.entry import telemetry
from strandline.entry.batch import Record, each, give_up_or_raise, receives, records
from strandline.entry.http import Event
from strandline.entry.wiring import services
from strandline.pipeline.extract import run_extract


def handle(event: Event) -> dict[str, Any]:
    """Answers a batch of ExtractRequested."""
    return {"batchItemFailures": each(records(event), _extract)}


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
    if candidates.usage is not None:
        spent = candidates.usage
        telemetry.count(
            model_calls=spent.calls,
            model_input_tokens=spent.input_tokens,
            model_output_tokens=spent.output_tokens,
        )
