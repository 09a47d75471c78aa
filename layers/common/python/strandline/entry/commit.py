"""The commit function: CommitRequested from its queue."""

from typing import Any

from strandline.domain.contracts import CommitRequested
from strandline.domain.errors import NotFound
from strandline.domain.session import Skip
from strandline.entry import telemetry
from strandline.entry.batch import Record, each, records
from strandline.entry.http import Event
from strandline.entry.wiring import services
from strandline.pipeline.commit import Committed, run_commit


def handle(event: Event) -> dict[str, Any]:
    """Answers a batch of CommitRequested."""
    return {"batchItemFailures": each(records(event), _commit)}


def _commit(record: Record, _: Record) -> None:
    with telemetry.message("commit", record):
        request = CommitRequested.model_validate_json(record["body"])
        telemetry.note_session(request.session)
        try:
            done = run_commit(services(), request.session, request.keep_recent_count)
        except NotFound:
            telemetry.note(reason="session_gone")
        else:
            _tell(done)


def _tell(done: Committed | Skip) -> None:
    if isinstance(done, Skip):
        telemetry.note(reason=done.reason)
        telemetry.count(skipped=1)
    else:
        telemetry.note(archive=done.archive.number, task=done.task_id)
        telemetry.count(commits=1)
