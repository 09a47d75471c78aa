"""`"telemetry": true`: the answer tells what it took, counted by hooks in the SDK.

A repeat that hears an earlier answer (`Idempotency-Key`) hears of its own requests, not of the first attempt's.
"""

import json
from collections.abc import Callable
from typing import Any

from pydantic_core import from_json

from strandline.adapters.meter import Meter, counting
from strandline.domain import prices
from strandline.entry.http import Event, read_body
from strandline.entry.settings import settings
from strandline.ports import Clock

KINDS = ("s3_put", "s3_get", "s3_list", "dynamodb_write", "dynamodb_read", "sqs")
"""What an answer always names; other kinds when there were any."""

Answer = dict[str, Any]


def metered(event: Event, clock: Clock, action: Callable[[], Answer]) -> Answer:
    """The action's answer; when it is a good one and the request asks for it, with its telemetry."""
    began = clock.now()
    with counting() as meter:
        answer = action()
    if answer["statusCode"] != 200 or not _is_json(answer) or not _asked(event):
        return answer
    told = json.dumps(_telemetry(meter, (clock.now() - began).total_seconds()), separators=(",", ":"))
    return {**answer, "body": f'{answer["body"].rstrip()[:-1]},"telemetry":{told}}}'}


def _is_json(answer: Answer) -> bool:
    """Our own envelope: a JSON object that is not empty."""
    headers = {name.lower(): value for name, value in answer["headers"].items()}
    return str(headers.get("content-type", "")).startswith("application/json")


def _asked(event: Event) -> bool:
    """The body was good enough for its route, so it is an object. A client may ask for parts of it, with an object."""
    if (event.get("queryStringParameters") or {}).get("telemetry") == "true":
        return True
    body: Any = from_json(read_body(event) or b"{}")
    asked = body.get("telemetry") if isinstance(body, dict) else None
    return asked is True or isinstance(asked, dict)


def _telemetry(meter: Meter, seconds: float) -> dict[str, Any]:
    spent = prices.of_request(meter.priced, seconds=seconds, memory_mb=settings().memory_mb)
    return {
        "requests": {**dict.fromkeys(KINDS, 0), **meter.requests},
        "tokens": {"input": 0, "output": 0},
        "duration_ms": round(seconds * 1000, 3),
        "cost_usd": round(spent, 12),
    }
