"""The envelopes of answers."""

from typing import Any

import httpx

Answer = tuple[int, dict[str, Any]]


def ok(result: object) -> Answer:
    """The envelope of a result."""
    return 200, {"status": "ok", "result": result}


def refusal(status: int, code: str, message: str, details: dict[str, Any] | None = None) -> Answer:
    """The envelope of an error."""
    retryable = code in ("ABORTED", "UNAVAILABLE", "RESOURCE_EXHAUSTED")
    error = {"code": code, "message": message, "details": details or {}, "retryable": retryable}
    return status, {"status": "error", "error": {**error, "request_id": "r-1"}}


def failure(status: int, code: str, *, retry_after: str | None = None) -> httpx.Response:
    """An error answer for `failures`."""
    headers = {"Retry-After": retry_after} if retry_after else {}
    return httpx.Response(status, json=refusal(status, code, "not now")[1], headers=headers)
