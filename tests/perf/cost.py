"""What requests cost: list prices of us-east-1 in dollars for a million, as of the end of 2025, without free tiers."""

from collections.abc import Mapping

from tests.perf.counting import Counts
from tests.perf.service import Stage

MILLION = {
    "S3 PUT": 5.0,
    "S3 GET": 0.4,
    "S3 LIST": 5.0,
    "S3 DELETE": 0.0,
    "table write": 0.625,  # one unit: every item is under 1 KiB
    "table read": 0.125,  # one unit: every item is under 4 KiB
}
STANDARD_QUEUE, FIFO_QUEUE = 0.4, 0.5
HTTP_API = 1.0
LAMBDA_CALL = 0.2
LAMBDA_GB_SECOND = 13.3334  # arm64, for a million; the template gives every function 1 GB
RECEIVE_AND_DELETE = 2  # what Lambda's poller adds to each batch; idle polls are not counted

_CONSUMES = {"extract": STANDARD_QUEUE, "merge": FIFO_QUEUE}
_SENDS = {"commit": STANDARD_QUEUE, "extract": FIFO_QUEUE}
_BY_HTTP = ("append", "commit")


def stores(counts: Counts) -> float:
    """Dollars for a million of these at S3 and DynamoDB."""
    return sum(counts[kind] * price for kind, price in MILLION.items())


def of(name: str, stage: Stage, messages: int) -> Mapping[str, float]:
    """Dollars by service for a million messages, given what `messages` of them took in this stage."""
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
