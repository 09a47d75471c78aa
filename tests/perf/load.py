"""Many writers at once, through the local run and the S3 server behind it: what contention costs.

Each writer is a client of its own that follows Retry-After; the append function has a process for each of them, as
Lambda has an environment for each request in flight. S3 requests are counted by the S3 server, table writes are told
by the answers. Afterwards the logs are read back and held against what the writers were told (`tests/writers.py`).
"""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from threading import Lock

import boto3
import httpx

from strandline_sdk.client import Client
from tests.perf.service import Run, running
from tests.perf.world import KEY
from tests.writers import Acknowledged, Send, Writer, all_at_once, check, ingest_sender, said

USER = "crowd"
WRITERS, EACH = 20, 500
SESSIONS, IN_EACH = 200, 10
WARMING = 5
PATIENCE_SECONDS = 240


@dataclass
class Told:
    """What the clients were told: answers by status, and the requests that the good ones took, by kind."""

    statuses: Counter[int] = field(default_factory=Counter)
    requests: Counter[str] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock)

    def note(self, response: httpx.Response) -> None:
        taken = response.json()["telemetry"]["requests"] if response.is_success else {}
        with self._lock:
            self.statuses[response.status_code] += 1
            self.requests.update(taken)


class Watched(httpx.BaseTransport):
    """Asks for the telemetry of every request, and notes the answers."""

    def __init__(self, told: Told) -> None:
        self._told = told
        self._inner = httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.url = request.url.copy_merge_params({"telemetry": "true"})
        response = self._inner.handle_request(request)
        response.read()
        self._told.note(response)
        return response

    def close(self) -> None:
        self._inner.close()


@dataclass(frozen=True)
class Row:
    """One load: its messages, seconds, what S3 was asked (by verb and status), and what the clients were told."""

    what: str
    messages: int
    seconds: float
    asked: Counter[tuple[str, int]]
    told: Told

    def each(self, verb: str, *statuses: int) -> float:
        """Requests of a verb per message, all or those that were answered so."""
        found = sum(
            n for (v, status), n in self.asked.items() if v == verb and status in (statuses or (status,))
        )
        return found / self.messages


def measure(*, quick: bool) -> list[Row]:
    """Each load in turn, on one run. Raises AssertionError when something is lost, doubled or out of order."""
    each, sessions = (20, 20) if quick else (EACH, SESSIONS)
    with running(STRANDLINE_LOCAL_APPEND_WORKERS=str(WRITERS)) as run:
        _over_http(run, ["warming"], WRITERS, WARMING)
        return [
            _over_http(run, ["one"], WRITERS, each),
            _by_queue(run, "queued", WRITERS, each),
            _over_http(run, [f"many-{n}" for n in range(sessions)], 1, IN_EACH),
        ]


def _over_http(run: Run, sessions: Sequence[str], writers: int, each: int) -> Row:
    """So many writers of every session, all of them at once."""
    told = Told()
    with ExitStack() as stack:
        crowds = {
            session: [Writer(f"w{n}", _sender(stack, run, told, session)) for n in range(writers)]
            for session in sessions
        }
        everybody = [writer for crowd in crowds.values() for writer in crowd]
        began, before = time.monotonic(), run.asked()
        all_at_once(everybody, each)
        seconds, asked = time.monotonic() - began, run.asked() - before
    for session, crowd in crowds.items():
        check(_log(run, session), crowd, each)
    what = f"{_counted(writers, 'writer')} of {_counted(len(sessions), 'session')}, over HTTP"
    return Row(what, len(everybody) * each, seconds, asked, told)


def _sender(stack: ExitStack, run: Run, told: Told, session: str) -> Send:
    client = Client(
        run.client.url, KEY, user=USER, idempotency_keys=False, timeout=60, transport=Watched(told)
    )
    stack.enter_context(client)

    def send(message_id: str) -> Acknowledged:
        answer = client.append(session, {"role": "user", "content": said(message_id), "id": message_id})
        return Acknowledged(answer["seq"], answer["duplicate"])

    return send


def _by_queue(run: Run, session: str, writers: int, each: int) -> Row:
    """As many producers, who put every message into the ingest queue by itself."""
    run.client.acting_for(USER).create_session(session)
    with closing(boto3.client("sqs", endpoint_url=run.sqs)) as sqs:
        crowd = [Writer(f"w{n}", ingest_sender(sqs, "default", USER, session)) for n in range(writers)]
        began, before = time.monotonic(), run.asked()
        all_at_once(crowd, each)
        _wait_for(run, session, writers * each)
        seconds, asked = time.monotonic() - began, run.asked() - before
    check(_log(run, session), crowd, each)
    what = f"{writers} producers of 1 session, by the ingest queue"
    return Row(what, writers * each, seconds, asked, Told())


def _wait_for(run: Run, session: str, messages: int) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    client = run.client.acting_for(USER)
    while client.session(session)["total_message_count"] < messages:
        if time.monotonic() > deadline:
            raise TimeoutError(f"not all of {messages} messages have arrived after {PATIENCE_SECONDS} s")
        time.sleep(0.2)


def _log(run: Run, session: str) -> Iterator[tuple[int, str]]:
    stored = run.client.acting_for(USER).messages(session, page_size=1000)
    return ((message["seq"], message["id"]) for message in stored)


def _counted(n: int, thing: str) -> str:
    return f"{n} {thing}{'' if n == 1 else 's'}"
