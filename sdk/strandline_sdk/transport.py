"""One request and its repetitions: JSON out, the envelope's document back, every failure an ApiError."""

import json
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from strandline_sdk.errors import ApiError

# Where the answer does not say it: what a gateway in front of the service means by its status.
_CODES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    413: "PAYLOAD_TOO_LARGE",
    429: "RESOURCE_EXHAUSTED",
    502: "UNAVAILABLE",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_RETRYABLE_STATUS = frozenset({429, 502, 503, 504})
_PASSING = (httpx.TimeoutException, httpx.NetworkError, httpx.RemoteProtocolError, httpx.ProxyError)


@dataclass(frozen=True)
class Retry:
    """How often a request is repeated. The pauses double, with full jitter, on top of what the answer asks for.

    An answer that asks for more than `longest_pause` seconds is not waited for: its error is raised.
    """

    attempts: int = 5
    first_pause: float = 0.2
    longest_pause: float = 30.0

    def pauses(self) -> Iterator[float]:
        """Upper bounds of the pauses between the attempts, in seconds."""
        for n in range(self.attempts - 1):
            yield min(self.longest_pause, self.first_pause * 2**n)


@dataclass(frozen=True)
class Request:
    """A request that may be sent any number of times."""

    method: str
    path: str
    params: Mapping[str, Any] = field(default_factory=dict)
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Transport:
    """Sends requests over one connection pool; may be used by several threads at once."""

    http: httpx.Client
    retry: Retry
    sleep: Callable[[float], None]

    def send(self, request: Request) -> dict[str, Any]:
        """The answer's JSON object. Raises ApiError once repeating does not help or is used up."""
        for bound in self.retry.pauses():
            try:
                return self._once(request)
            except ApiError as error:
                if not self._worth_repeating(error):
                    raise
                self.sleep((error.retry_after or 0) + random.SystemRandom().uniform(0, bound))
        return self._once(request)

    def _worth_repeating(self, error: ApiError) -> bool:
        waits = (error.retry_after or 0) <= self.retry.longest_pause
        return error.retryable and waits and not error.overtaken

    def _once(self, request: Request) -> dict[str, Any]:
        try:
            response = self.http.request(
                request.method,
                request.path,
                params=request.params,
                content=None if request.body is None else encode(request.body),
                headers=request.headers,
            )
        except httpx.RequestError as error:
            raise _unsent(error) from error
        return _document(response)


def encode(body: object) -> bytes:
    """Compact UTF-8. Lone surrogates, which UTF-8 cannot hold, go as escapes: the service says where they are."""
    try:
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(body, separators=(",", ":")).encode()


def _unsent(error: httpx.RequestError) -> ApiError:
    """No answer. The error's own text is left out: httpx quotes the headers that it refuses to send."""
    place = f"{error.request.url.host}:{error.request.url.port or error.request.url.scheme}"
    if isinstance(error, httpx.TimeoutException):
        return ApiError("DEADLINE_EXCEEDED", f"no answer from {place} in time", retryable=True)
    if isinstance(error, _PASSING):
        return ApiError(
            "UNAVAILABLE", f"no connection to {place}: is the service running there?", retryable=True
        )
    return ApiError("INVALID_ARGUMENT", f"the request to {place} could not be sent: {type(error).__name__}")


def _document(response: httpx.Response) -> dict[str, Any]:
    try:
        document = response.json()
    except ValueError:
        document = None
    if not isinstance(document, dict):
        document = {}
    if response.is_success and document.get("status") == "ok":
        return document
    raise _refused(response, document)


def _refused(response: httpx.Response, document: Mapping[str, Any]) -> ApiError:
    status = response.status_code
    error = document.get("error")
    if not isinstance(error, dict):
        error = {"message": document.get("message") or f"unexpected answer with HTTP status {status}"}
    return ApiError(
        code=error.get("code") or _CODES.get(status, "INTERNAL"),
        message=error["message"],
        details=error.get("details") or {},
        retryable=error.get("retryable", status in _RETRYABLE_STATUS),
        status=status,
        request_id=error.get("request_id"),
        retry_after=_seconds(response.headers.get("Retry-After")),
    )


def _seconds(retry_after: str | None) -> float | None:
    """The header's seconds; its date form is not used by the service and counts as absent."""
    return float(retry_after) if retry_after and retry_after.isdecimal() else None
