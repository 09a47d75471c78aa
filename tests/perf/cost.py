"""What requests cost a million messages, by the prices that the service itself tells (`domain/prices.py`)."""

from collections.abc import Mapping

from strandline.domain.prices import HTTP_API, LAMBDA_CALL, LAMBDA_GB_SECOND, MILLION, SQS_FIFO
from tests.perf.counting import Counts
from tests.perf.service import Stage

KINDS = {
    "S3 PUT": "s3_put",
    "S3 GET": "s3_get",
    "S3 LIST": "s3_list",
    "S3 DELETE": "s3_delete",
    "table write": "dynamodb_write",  # one unit: every item is under 1 KiB
    "table read": "dynamodb_read",  # one unit: every item is under 4 KiB
}
RECEIVE_AND_DELETE = 2  # what Lambda's poller adds to each batch; idle polls are not counted

_CONSUMES = {"extract": MILLION["sqs"], "merge": SQS_FIFO}
_SENDS = {"commit": MILLION["sqs"], "extract": SQS_FIFO}
_BY_HTTP = ("append", "commit")


def stores(counts: Counts) -> float:
    """Dollars for a million of these at S3 and DynamoDB."""
    return sum(counts[kind] * MILLION[priced] for kind, priced in KINDS.items())


def of(name: str, stage: Stage, messages: int) -> Mapping[str, float]:
    """Dollars by service for a million messages, given what `messages` of them took in this stage. The template gives
    every function of these 1 GB."""
    calls = stage.calls / messages
    queues = stage.counts["queue send"] / messages * _SENDS.get(name, 0)
    queues += calls * RECEIVE_AND_DELETE * _CONSUMES.get(name, 0)
    return {
        "S3 and DynamoDB": stores(stage.counts) / messages,
        "SQS": queues,
        "HTTP API": calls * HTTP_API if name in _BY_HTTP else 0.0,
        "Lambda calls": calls * LAMBDA_CALL,
        "Lambda time": stage.cpu / messages * LAMBDA_GB_SECOND,
    }
