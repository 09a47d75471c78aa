"""`"telemetry": true`: the answer tells what it took, counted by hooks in the SDK.

A repeat that gets an earlier answer (`Idempotency-Key`) reports its own requests, not those of the first attempt.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from pydantic_core import from_json

from strandline.adapters.meter import Meter, counting
from strandline.domain import prices
from strandline.domain.errors import InvalidArgument
from strandline.entry.http import Event, read_body
from strandline.entry.settings import settings
from strandline.ports import Clock

KINDS = ("s3_put", "s3_get", "s3_list", "dynamodb_write", "dynamodb_read", "sqs")
"""What an answer always names; other kinds when there were any."""

Answer = dict[str, Any]


def metered(event: Event, clock: Clock, action: Callable[[], Answer]) -> Answer:
    """The action's answer; when it is a good one and the request asks for it, with its telemetry. Raises
    InvalidArgument, before anything is done, for what is neither a yes nor a no."""
    asked = _asked(event)
    began = clock.now()
    with counting() as meter:
        answer = action()
    if answer["statusCode"] != 200 or not asked or not _is_json(answer):
        return answer
    told = json.dumps(_telemetry(meter, (clock.now() - began).total_seconds()), separators=(",", ":"))
    return {**answer, "body": f'{answer["body"].rstrip()[:-1]},"telemetry":{told}}}'}


def _is_json(answer: Answer) -> bool:
    """Our own envelope: a JSON object that is not empty."""
    headers = {name.lower(): value for name, value in answer["headers"].items()}
    return str(headers.get("content-type", "")).startswith("application/json")


def _asked(event: Event) -> bool:
    """A client may ask for parts of it, with an object. A body that is no JSON object is its route's to refuse."""
    if _yes((event.get("queryStringParameters") or {}).get("telemetry"), {"true": True, "false": False}):
        return True
    try:
        body: Any = from_json(read_body(event) or b"{}")
    except ValueError:
        return False
    asked = body.get("telemetry") if isinstance(body, dict) else None
    return isinstance(asked, dict) or _yes(asked, {True: True, False: False})


def _yes(given: Any, answers: Mapping[Any, bool]) -> bool:
    if given is None:
        return False
    if not isinstance(given, str | bool) or given not in answers:
        raise InvalidArgument("telemetry: must be true or false", field="telemetry")
    return answers[given]


def _telemetry(meter: Meter, seconds: float) -> dict[str, Any]:
    spent = prices.of_request(meter.priced, seconds=seconds, memory_mb=settings().memory_mb)
    return {
        "requests": {**dict.fromkeys(KINDS, 0), **meter.requests},
        "tokens": {"input": 0, "output": 0},
        "duration_ms": round(seconds * 1000, 3),
        "cost_usd": round(spent, 12),
    }
