"""What stands around every result, and what comes instead of one."""

from typing import Any, Literal

from typing_extensions import TypedDict


class Failure(TypedDict):
    """What went wrong. `code` says what to do about it, `details` names fields and values; `retryable`: the same
    request may succeed a moment later, and repeating it is safe."""

    code: str
    message: str
    details: dict[str, Any]
    retryable: bool
    request_id: str


class Tokens(TypedDict):
    """Tokens of models that were asked within the request; those of an extraction are in its task."""

    input: int
    output: int


class Telemetry(TypedDict):
    """What an answer cost. `requests` counts every attempt by kind: `s3_put`, `s3_get`, `s3_list`, `dynamodb_write`,
    `dynamodb_read`, `sqs`, and others when there were any. `cost_usd` is computed from them and the time, by the
    list prices of us-east-1."""

    requests: dict[str, int]
    tokens: Tokens
    duration_ms: float
    cost_usd: float


class Error(TypedDict):
    """The envelope of a refusal."""

    status: Literal["error"]
    error: Failure
