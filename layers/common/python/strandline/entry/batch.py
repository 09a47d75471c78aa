"""The queue edge: a batch comes in, the ids of the messages to be delivered again go out.

A message that fails on its last receive is given up: its archive fails with the reason, and its owner can retry it. A
message that cannot be read at all reaches the dead-letter queue by failing each receive. On a FIFO queue it is made
visible again at once, each time, since its whole group waits while it is hidden.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from pydantic import ValidationError

from strandline.domain.errors import ExtractionFailed, StrandlineError
from strandline.domain.failure import kind_of
from strandline.entry import telemetry
from strandline.entry.http import Event
from strandline.pipeline import outcome
from strandline.pipeline.services import Services
from strandline.ports import Queue, StoreError

log = logging.getLogger(__name__)

Record = Mapping[str, Any]
T = TypeVar("T")


def records(event: Event) -> list[tuple[Record, Record]]:
    """The event's records as rows of `each`."""
    return [(record, record) for record in event["Records"]]


def each(
    rows: Iterable[tuple[Record, T]], work: Callable[[Record, T], None], hopeless: list[Record] | None = None
) -> list[dict[str, str]]:
    """Does the work for each row; answers the failures of a partial-batch response: the records where it raised. Those
    that no repeat will mend are added to `hopeless`."""
    failures = []
    for record, row in rows:
        try:
            work(record, row)
        except Exception as error:  # noqa: BLE001 - whatever it is, the message comes again
            log.error(
                "message %s failed, receive %d: %s", record["messageId"], receives(record), kind_of(error)
            )
            failures.append({"itemIdentifier": str(record["messageId"])})
            if hopeless is not None and _is_hopeless(error):
                hopeless.append(record)
    return failures


def _is_hopeless(error: Exception) -> bool:
    return isinstance(error, ValidationError) or (isinstance(error, StrandlineError) and not error.retryable)


def let_go(queue: Callable[[], Queue], hopeless: Iterable[Record]) -> None:
    """Makes these visible again at once, the last thing that is done to a batch: so they are soon where they end."""
    for record in hopeless:
        with suppress(StoreError):
            queue().release(record["receiptHandle"])


def receives(record: Record) -> int:
    """How often the message has been received, this time included."""
    return int(record["attributes"]["ApproximateReceiveCount"])


def give_up_or_raise(
    services: Services, record: Record, request: outcome.Request, stage: str, error: Exception
) -> None:
    """Fails the archive when nothing more can come of the request, or nothing is to be tried again soon; raises the
    error, its reason noted on the task, when it should come again."""
    final = isinstance(error, ExtractionFailed) and error.final
    last = final or receives(record) >= services.rules.max_receives
    if not last and outcome.stumble(services, request, reason(error)):
        raise error
    log.warning("%s of archive %d given up: %s", stage, request.archive, kind_of(error))
    telemetry.note(error=kind_of(error))
    telemetry.count(given_up=1)
    outcome.fail(services, request, stage, reason(error))


def reason(error: Exception) -> str:
    """What its owner is told: our own errors as they are; of any other only its kind, since it may quote content."""
    known = isinstance(error, ExtractionFailed | StrandlineError)
    return str(error) if known else f"unexpected {type(error).__name__}"
