"""moto behind botocore clients, and whatever can go wrong between the two.

A call is counted where it begins (`before-call`); each of its attempts passes `before-send`, where a fault may raise
what the transport would have raised, answer in the service's place, send twice or later. One process, one thread, one
call at a time: moto is not atomic by itself.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

from botocore import UNSIGNED
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.config import Config
from moto.core.botocore_stubber import BotocoreStubber
from moto.core.models import botocore_stubber

from strandline.adapters import aws
from tests.contract.conftest import Aws

NEVER = sys.maxsize
_PIPELINE = f"{Path('strandline') / 'pipeline'}/"


@dataclass(frozen=True)
class Call:
    """One call of an AWS operation, and the place in the pipeline that it comes from."""

    operation: str
    site: str
    condition: str = field(default="", compare=False)  # what it asks for, if anything

    @property
    def form(self) -> tuple[str, str]:
        """What the adapters make of an answer does not depend on anything else."""
        return self.operation, self.condition

    def __str__(self) -> str:
        return f"{self.operation} at {self.site}"

    @property
    def reads(self) -> bool:
        """Whether it changes nothing, however often it is done."""
        return self.operation.partition(".")[2].startswith(("Get", "Head", "List", "Query"))


@dataclass(frozen=True)
class Attempt:
    """One sending of a call's request: the SDK repeats those that may happen twice. `number` counts from 1."""

    request: AWSPreparedRequest
    service: str
    number: int
    send: Callable[[], AWSResponse]
    hold: Callable[[int], None]  # to be sent that many calls later


Fault = Callable[[Attempt], AWSResponse]


@dataclass
class Wire:
    """`calls` lists all calls but the quiet ones; at call `at` (from 0) `fault` stands for moto's answer."""

    calls: list[Call] = field(default_factory=list)
    at: int = -1
    fault: Fault | None = None
    _attempts: int = 0
    _held: list[tuple[int, Callable[[], object]]] = field(default_factory=list)
    _quiet: bool = False

    def break_call(self, offset: int, fault: Fault) -> None:
        """The call `offset` calls from now goes wrong."""
        self.at, self.fault = len(self.calls) + offset, fault

    @property
    def fired(self) -> bool:
        return self.at < len(self.calls)

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Looks at what is there: neither counted nor disturbed."""
        before, self._quiet = self._quiet, True
        try:
            yield
        finally:
            self._quiet = before

    def land(self, now: int = NEVER) -> int:
        """Whatever was held back until call `now` arrives; nobody hears its answer. Answers how many there were."""
        due = [send for until, send in self._held if until <= now]
        self._held = [entry for entry in self._held if entry[0] > now]
        for send in due:
            send()
        return len(due)

    def begins(self, operation: str, request: Mapping[str, Any]) -> None:
        if not self._quiet:
            self.land(len(self.calls))
            self.calls.append(Call(operation, _site(), _condition(request)))
            self._attempts = 0

    def send(self, request: AWSPreparedRequest, service: str, send: Callable[[], AWSResponse]) -> AWSResponse:
        if self._quiet or self.fault is None or self.at != len(self.calls) - 1:
            return send()
        self._attempts += 1
        hold = partial(self._hold, send)
        return self.fault(Attempt(request, service, self._attempts, send, hold))

    def _hold(self, send: Callable[[], object], calls: int) -> None:
        self._held.append((min(NEVER, len(self.calls) + calls), send))


class Wired(Aws):
    """moto through the present wire. Clients are made once for the process: that takes longer than a short run."""

    wire = Wire()

    def __init__(self) -> None:
        super().__init__()
        Wired.wire = Wire()

    def client(self, service: str, config: Config = aws.REPEATING) -> Any:
        return _client(service, config)


# moto only looks whether there is a signature, and making one takes a fifteenth of a run
_UNSIGNED = Config(signature_version=UNSIGNED)
_SIGNATURE = "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/any/aws4_request"


@cache
def _client(service: str, config: Config) -> Any:
    made = Aws().client(service, config.merge(_UNSIGNED))
    made.meta.events.unregister("before-send", botocore_stubber)  # or every call would happen twice
    made.meta.events.register("before-call", _begins)
    made.meta.events.register("before-send", _send)
    return made


_moto = BotocoreStubber()
_moto.enabled = True


def _begins(event_name: str, params: Mapping[str, Any], **_: Any) -> None:
    Wired.wire.begins(event_name.partition(".")[2], params)


def _condition(request: Mapping[str, Any]) -> str:
    """Under which condition a request is sent: a header of S3, an expression of DynamoDB."""
    asked = [name for name in ("If-Match", "If-None-Match") if name in request["headers"]]
    return " ".join(asked) or ("expression" if b"ConditionExpression" in (request["body"] or b"") else "")


def _send(event_name: str, request: AWSPreparedRequest, **_: Any) -> AWSResponse:
    return Wired.wire.send(request, event_name.split(".")[1], partial(_answer, event_name, request))


def _answer(event_name: str, request: AWSPreparedRequest) -> AWSResponse:
    request.reset_stream()
    request.headers["Authorization"] = _SIGNATURE
    answer = _moto(event_name=event_name, request=request)
    assert answer is not None, f"moto does not know {request.method} {request.url}"
    return answer


def _site() -> str:
    """The innermost line of the pipeline that this call comes from."""
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        if _PIPELINE in frame.f_code.co_filename:
            return f"{Path(frame.f_code.co_filename).stem}:{frame.f_lineno}"
    return "elsewhere"
