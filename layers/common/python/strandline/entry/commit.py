"""The commit function: CommitRequested from its queue.

An automatic commit is given up on its last receive: its task fails with the reason.
"""

import logging
from typing import Any

from strandline.domain.contracts import CommitRequested
from strandline.domain.errors import NotFound
from strandline.domain.failure import kind_of
from strandline.domain.session import Skip
from strandline.entry import telemetry
from strandline.entry.batch import Record, each, reason, receives, records
from strandline.entry.http import Event
from strandline.entry.wiring import services
from strandline.pipeline.auto_commit import give_up, run_auto_commit
from strandline.pipeline.commit import Committed, run_commit

log = logging.getLogger(__name__)


def handle(event: Event) -> dict[str, Any]:
    """Answers a batch of CommitRequested."""
    return {"batchItemFailures": each(records(event), _commit)}


def _commit(record: Record, _: Record) -> None:
    with telemetry.message("commit", record):
        request = CommitRequested.model_validate_json(record["body"])
        telemetry.note_session(request.session)
        _by_itself(record, request) if request.task_id else _as_told(request)


def _as_told(request: CommitRequested) -> None:
    try:
        done = run_commit(services(), request.session, request.keep_recent_count)
    except NotFound:
        telemetry.note(reason="session_gone")
    else:
        _tell(done)


def _by_itself(record: Record, request: CommitRequested) -> None:
    try:
        done = run_auto_commit(services(), request)
    except Exception as error:
        if receives(record) < services().rules.max_receives:
            raise
        log.warning("an automatic commit is given up: %s", kind_of(error))
        telemetry.note(error=kind_of(error))
        telemetry.count(given_up=1)
        give_up(services(), request, reason(error))
    else:
        _tell(done)


def _tell(done: Committed | Skip) -> None:
    if isinstance(done, Skip):
        telemetry.note(reason=done.reason)
        telemetry.count(skipped=1)
    else:
        telemetry.note(archive=done.archive.number, task=done.task_id)
        telemetry.count(commits=1)
