"""One line per piece of work: JSON with its ids, which CloudWatch also reads as metrics (EMF). Never content.

A line is begun by the edge (a request, a message of a queue, a sweep); what runs in it adds ids and counts. Ids are
properties of the line, found by log queries; the metrics' dimensions are the stack (Powertools' `service`, from
POWERTOOLS_SERVICE_NAME) and the stage, never a tenant.

The trace that a request or message belongs to is passed on with every message that is sent for it, so one trace spans
append, commit, extract and merge. It is the platform's passive tracing: nothing is recorded here.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from strandline.adapters.clock import SystemClock
from strandline.domain.contracts import SessionRef
from strandline.domain.failure import kind_of
from strandline.entry.settings import trace_header

if TYPE_CHECKING:
    from strandline.domain.extraction import Usage

NAMESPACE = "Strandline"
_TRACE = re.compile(
    r"Root=1-[0-9a-f]{8}-[0-9a-f]{24}(;(Parent|Sampled|Lineage|Self)=[\w:.-]{1,100}){0,4}", re.ASCII
)
_clock = SystemClock()


@dataclass
class Line:
    """What is to be said of one piece of work."""

    stage: str
    trace: str | None = None
    ids: dict[str, Any] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)


_current: ContextVar[Line | None] = ContextVar("line", default=None)


def note(**ids: Any) -> None:
    """Adds ids to the line of what is being done; None says nothing."""
    line = _current.get()
    if line is not None:
        line.ids.update({name: value for name, value in ids.items() if value is not None})


def count(**counts: int) -> None:
    """Adds to its counts."""
    line = _current.get()
    if line is not None:
        for name, value in counts.items():
            line.counts[name] = line.counts.get(name, 0) + value


def model_asked(spent: "Usage") -> None:
    """Adds what a language model has cost to the line of whoever asked it."""
    count(
        model_calls=spent.calls,
        model_input_tokens=spent.input_tokens,
        model_output_tokens=spent.output_tokens,
    )


def note_session(whose: SessionRef) -> None:
    note(account=whose.account_id, user=whose.user_id, session=whose.session_id)


class Contested(Protocol):
    """Documents that several functions write."""

    conflicts: int


@contextmanager
def contention(documents: Contested) -> Iterator[None]:
    """Counts the writes inside that others came before: refused, and mostly done again."""
    before = documents.conflicts
    try:
        yield
    finally:
        count(conflicts=documents.conflicts - before)


def current_trace() -> str | None:
    """The trace header to be sent on with a message, or None outside of any trace."""
    line = _current.get()
    return (line.trace if line else None) or _plain(trace_header())


def _plain(header: object) -> str | None:
    return header if isinstance(header, str) and _TRACE.fullmatch(header) else None


@contextmanager
def work(stage: str, *, trace: object = None, **ids: Any) -> Iterator[None]:
    """The line of what is done inside; written at its end, whether it raised or not."""
    line = Line(stage, _plain(trace) or current_trace())
    began = _clock.now()
    token = _current.set(line)
    note(**ids)
    try:
        yield
    except BaseException as error:
        note(error=kind_of(error))
        count(failures=1)
        raise
    finally:
        _current.reset(token)
        _write(line, (_clock.now() - began).total_seconds() * 1000)


@contextmanager
def message(stage: str, record: Mapping[str, Any]) -> Iterator[None]:
    """The line of one message of a queue."""
    attributes = record.get("attributes", {})
    received = int(attributes.get("ApproximateReceiveCount", 1))
    with work(
        stage, trace=attributes.get("AWSTraceHeader"), message=str(record["messageId"]), received=received
    ):
        yield


def _write(line: Line, milliseconds: float) -> None:
    from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

    metrics = EphemeralMetrics(namespace=NAMESPACE)
    metrics.add_dimension("stage", line.stage)
    metrics.add_metric("duration_ms", MetricUnit.Milliseconds, round(milliseconds, 1))
    for name, value in line.counts.items():
        metrics.add_metric(name, MetricUnit.Count, value)
    trace = {"trace": line.trace.partition(";")[0].removeprefix("Root=")} if line.trace else {}
    for name, value in {**line.ids, **trace}.items():
        metrics.add_metadata(name, value)
    metrics.flush_metrics()
