"""What a request sends to AWS, counted where it leaves: by botocore's events, on every client.

Every attempt counts, those that the SDK repeats by itself included. While somebody counts, DynamoDB is asked for the
capacity that a call took, which costs nothing. The count belongs to the context it was begun in: work handed to
another thread must take its context along (`contextvars.copy_context`), or goes uncounted.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

_NAMED = {"eventbridge": "events"}
_READS = ("BatchGetItem", "GetItem", "Query", "Scan", "TransactGetItems")


@dataclass
class Meter:
    """Requests by kind (`s3_put`, `dynamodb_write`, …), and the DynamoDB units of those that were answered."""

    requests: Counter[str] = field(default_factory=Counter)
    units: Counter[str] = field(default_factory=Counter)

    @property
    def priced(self) -> dict[str, float]:
        """What is paid for: units where there are some, requests elsewhere."""
        return {**self.requests, **self.units}


_meter: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def counting() -> Iterator[Meter]:
    """Counts what is sent from inside."""
    meter = Meter()
    token = _meter.set(meter)
    try:
        yield meter
    finally:
        _meter.reset(token)


def watch(client: Any) -> None:
    """Has every request of a client counted, should somebody count."""
    events = client.meta.events
    events.register_first("before-send", _sent)
    events.register("before-parameter-build.dynamodb", _ask_for_capacity)
    events.register("after-call.dynamodb", _answered)


def kind_of(event_name: str) -> str:
    """The kind of a request by the event it caused: `before-send.s3.PutObject` is an `s3_put`."""
    _, service, operation = event_name.split(".")
    if service == "dynamodb":
        return "dynamodb_read" if operation in _READS else "dynamodb_write"
    if service != "s3":
        return _NAMED.get(service, service)
    for verb, kind in (("Get", "get"), ("Head", "get"), ("List", "list"), ("Delete", "delete")):
        if operation.startswith(verb):
            return f"s3_{kind}"
    return "s3_put"


def _sent(event_name: str, **_: Any) -> None:
    meter = _meter.get()
    if meter is not None:
        meter.requests[kind_of(event_name)] += 1


def _ask_for_capacity(params: dict[str, Any], **_: Any) -> None:
    if _meter.get() is not None:
        params["ReturnConsumedCapacity"] = "TOTAL"


def _answered(parsed: dict[str, Any], event_name: str, **_: Any) -> None:
    """A refused condition is paid for and does not say how much: at least one unit."""
    meter = _meter.get()
    if meter is not None:
        used = parsed.get("ConsumedCapacity", {})
        rows = used if isinstance(used, list) else [used]
        meter.units[kind_of(event_name)] += sum(row.get("CapacityUnits", 1) for row in rows)
