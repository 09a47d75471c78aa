"""The HTTP edge: one envelope for answers and errors, whatever happened behind it."""

import base64
import json
import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from strandline.domain.errors import InvalidArgument, PayloadTooLarge, StrandlineError
from strandline.domain.failure import kind_of
from strandline.domain.redaction import redact_value, scrub
from strandline.domain.times import stamp
from strandline.entry.requests import told
from strandline.entry.telemetry import count, note
from strandline.ports import Clock

MAX_BODY_BYTES = 6 * 1024 * 1024
QUERY = "wanted"
"""How routes call a model that takes their whole query."""

log = logging.getLogger(__name__)

Event = Mapping[str, Any]
M = TypeVar("M", bound=BaseModel)


class InvalidFields(InvalidArgument):
    """Fields of a request that are not as they should be."""

    def __init__(self, problems: Iterable[Mapping[str, Any]]) -> None:
        found = [
            {"field": _field(p), "message": scrub(str(p["msg"]).removeprefix("Value error, "))}
            for p in problems
        ]
        first = found[0] if found else {"field": "body", "message": "invalid"}
        super().__init__(f"{first['field']}: {first['message']}", validation_errors=found)


def _field(problem: Mapping[str, Any]) -> str:
    """`messages.2.role`, without where in the request it stands and without the name of the model that takes the
    query; the location of broken JSON is an offset, which the message says better."""
    location = () if problem["type"] == "json_invalid" else problem["loc"]
    parts = [
        str(part) for part in location if part != "body" and "[" not in str(part)
    ]  # a validator, not a field
    for outer in ("query", QUERY):
        if parts[:1] == [outer] and len(parts) > 1:
            parts = parts[1:]
    return ".".join(parts) or "body"


def read_body(event: Event) -> bytes:
    """The request's body. Raises PayloadTooLarge, and InvalidArgument for what is not UTF-8."""
    text = event.get("body") or ""
    try:
        body: bytes = base64.b64decode(text) if event.get("isBase64Encoded") else text.encode()
    except ValueError as error:
        raise InvalidArgument("the body is not valid UTF-8") from error
    if len(body) > MAX_BODY_BYTES:
        raise PayloadTooLarge(
            f"a request may hold {MAX_BODY_BYTES} bytes, this one holds {len(body)}: send less"
        )
    return body


def read_text(event: Event) -> str:
    """The request's body as text. Raises like `read_body`."""
    try:
        return read_body(event).decode()
    except UnicodeDecodeError as error:
        raise InvalidArgument("the body is not valid UTF-8") from error


def parse_body(event: Event, model: type[M]) -> M:
    """The request's JSON body as a model. Raises InvalidFields, PayloadTooLarge."""
    try:
        return model.model_validate_json(read_body(event) or b"{}")
    except ValidationError as error:
        raise InvalidFields(
            error.errors(include_url=False, include_context=False, include_input=False)
        ) from error


def ok(result: Any, clock: Clock, **extra: Any) -> dict[str, Any]:
    """The envelope of a good answer."""
    return {"status": "ok", "result": result, "time": stamp(clock.now()), **extra}


def reply(status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> dict[str, Any]:
    """An HTTP API answer (payload format 2.0)."""
    return {
        "statusCode": status,
        "headers": {"Content-Type": "application/json", **(headers or {})},
        "body": as_json(body),
    }


def as_json(body: Any) -> str:
    """Text as it is: escaped, an answer in Russian would be three times as long, and too long for a function."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def answering(event: Event, action: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The action's answer, or the error envelope of what went wrong in it."""
    return told(event, lambda: _answer(event, action))


def _answer(event: Event, action: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    request_id = str(event.get("requestContext", {}).get("requestId", ""))
    try:
        return action()
    except StrandlineError as error:
        return refused(error, request_id)
    except Exception as error:  # noqa: BLE001 - the edge: whatever it is, its kind is logged and the answer is a 500
        log.error("request %s failed: %s", request_id, kind_of(error))
        return refused(
            StrandlineError("something went wrong on our side; the request id finds it"), request_id
        )


def refused(error: StrandlineError, request_id: str) -> dict[str, Any]:
    """The error envelope. What it quotes of the request is shown without secrets."""
    count(errors=1, **{f"errors_{error.code}": 1})
    note(code=error.code)
    body = {
        "code": error.code,
        "message": scrub(error.message),
        "details": redact_value(dict(error.details))[0],
        "retryable": error.retryable,
        "request_id": request_id,
    }
    headers = {"Retry-After": str(error.retry_after)} if error.retryable else {}
    return reply(error.status, {"status": "error", "error": body}, headers)
