"""What requests cost: list prices of us-east-1 in dollars, as of the end of 2025, without free tiers.

Of a region, a contract or a free tier nothing is known here: it is a scale, not a bill.
"""

from collections.abc import Mapping

MILLION = {
    "s3_put": 5.0,
    "s3_get": 0.4,
    "s3_list": 5.0,
    "s3_delete": 0.0,
    "dynamodb_write": 0.625,  # a write unit: 1 KiB, on demand
    "dynamodb_read": 0.125,  # a read unit: 4 KiB, read consistently
    "sqs": 0.4,
    "events": 1.0,
}
"""For a million requests; at DynamoDB, for a million units."""

SQS_FIFO = 0.5
HTTP_API = 1.0
LAMBDA_CALL = 0.2
LAMBDA_GB_SECOND = 13.3334  # arm64; these four for a million, too


def of_request(counts: Mapping[str, float], *, seconds: float, memory_mb: int) -> float:
    """Dollars for one HTTP request that sent these requests, or units, and ran so long in a function of that size.

    Not in it: the authorizer, storage, logs, transfer, and a model's tokens.
    """
    sent = sum(MILLION.get(kind, 0.0) * count for kind, count in counts.items())
    return (sent + HTTP_API + LAMBDA_CALL + LAMBDA_GB_SECOND * seconds * memory_mb / 1024) / 1_000_000
