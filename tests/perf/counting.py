"""Requests and bytes, counted where they leave: by botocore's `before-send` and `after-call` events on every client."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

KINDS = ("S3 PUT", "S3 GET", "S3 LIST", "S3 DELETE", "table write", "table read", "queue send", "event")
_KIND = {
    "PutObject": "S3 PUT",
    "GetObject": "S3 GET",
    "ListObjectsV2": "S3 LIST",
    "DeleteObject": "S3 DELETE",
    "PutItem": "table write",
    "UpdateItem": "table write",
    "DeleteItem": "table write",
    "GetItem": "table read",
    "Query": "table read",
    "SendMessage": "queue send",
    "PutEvents": "event",
}


@dataclass(frozen=True)
class Counts:
    """Requests by kind, those among them that a condition refused, and the S3 bytes sent and received."""

    requests: Mapping[str, float] = field(default_factory=dict)
    refused: float = 0
    sent: float = 0
    received: float = 0

    def __getitem__(self, kind: str) -> float:
        return self.requests.get(kind, 0)

    @property
    def total(self) -> float:
        return sum(self.requests.values())

    def per(self, n: float) -> "Counts":
        """The share of one of `n`."""
        each = {kind: count / n for kind, count in self.requests.items()}
        return Counts(each, self.refused / n, self.sent / n, self.received / n)

    def __add__(self, other: "Counts") -> "Counts":
        both = Counter(self.requests)
        both.update(other.requests)
        return Counts(
            both, self.refused + other.refused, self.sent + other.sent, self.received + other.received
        )


class Meter:
    """Counts what the clients it watches send, until it is read by `take`."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts = Counts()

    def watch(self, client: Any) -> Any:
        """The client, counted from now on. Every attempt counts, also those that the SDK makes by itself."""
        client.meta.events.register_last("before-send", self._sent)
        client.meta.events.register_last("after-call", self._answered)
        return client

    def take(self) -> Counts:
        """What was counted since the last time."""
        with self._lock:
            taken, self._counts = self._counts, Counts()
        return taken

    def _add(self, counts: Counts) -> None:
        with self._lock:
            self._counts += counts

    def _sent(self, request: Any, event_name: str, **_: Any) -> None:
        kind = _KIND[event_name.rpartition(".")[2]]
        size = int(request.headers.get("Content-Length", 0)) if kind.startswith("S3") else 0
        self._add(Counts({kind: 1}, sent=size))

    def _answered(self, http_response: Any, event_name: str, **_: Any) -> None:
        kind = _KIND[event_name.rpartition(".")[2]]
        read = kind == "S3 GET" and http_response.status_code == 200
        size = int(http_response.headers.get("Content-Length", 0)) if read else 0
        refused = kind == "S3 PUT" and http_response.status_code in (404, 409, 412)
        self._add(Counts(refused=int(refused), received=size))


@contextmanager
def counted() -> Iterator[Meter]:
    """A meter on every client that the adapters make meanwhile."""
    from strandline.adapters import aws

    meter = Meter()
    make: Callable[..., Any] = aws.client
    aws.client = lambda service, config: meter.watch(make(service, config))
    try:
        yield meter
    finally:
        aws.client = make
