"""The commit function: CommitRequested from its queue."""

import logging
from typing import Any

from strandline.domain.contracts import CommitRequested
from strandline.domain.errors import NotFound
from strandline.entry.batch import Record, each, records
from strandline.entry.http import Event
from strandline.entry.wiring import services
from strandline.pipeline.commit import run_commit

log = logging.getLogger(__name__)


def handle(event: Event) -> dict[str, Any]:
    """Answers a batch of CommitRequested."""
    return {"batchItemFailures": each(records(event), _commit)}


def _commit(record: Record, _: Record) -> None:
    request = CommitRequested.model_validate_json(record["body"])
    try:
        run_commit(services(), request.session, request.keep_recent_count)
    except NotFound:
        log.info("message %s names a session that is gone", record["messageId"])
