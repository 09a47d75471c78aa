"""Many writers at once, through the local run and the S3 server behind it: what contention costs.

Each writer is a client of its own that follows Retry-After; the append function has a process for each of them, as
Lambda has an environment for each request in flight. S3 requests are counted by the S3 server, table writes are told
by the answers. Afterwards the logs are read back and held against what the writers were told (`tests/writers.py`).
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from threading import Lock

import boto3
import httpx

from strandline_sdk.client import Client
from strandline_sdk.model import Archive, Task
from tests.perf.service import Run, running
from tests.perf.world import KEY
from tests.writers import (
    Acknowledged,
    Heard,
    Send,
    Writer,
    all_at_once,
    check,
    check_archives,
    http_sender,
    ingest_sender,
)

Policy = Mapping[str, int]

USER = "crowd"
WRITERS, EACH = 20, 500
SESSIONS, IN_EACH = 200, 10
WARMING = 5
PATIENCE_SECONDS = 120
MOST_BEHIND = 400
BUSY: Policy = {"message_count_threshold": 25, "keep_recent_count": 2}
BRIEF: Policy = {"message_count_threshold": 5, "keep_recent_count": 2}


@dataclass
class Told:
    """What the clients were told: answers by status, requests that the good ones took, tasks that they began."""

    statuses: Counter[int] = field(default_factory=Counter)
    requests: Counter[str] = field(default_factory=Counter)
    tasks: list[str] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)


class Watched(Heard):
    """Asks for the telemetry of every request, and notes the answers."""

    def __init__(self, told: Told) -> None:
        super().__init__()
        self._told = told

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.url = request.url.copy_merge_params({"telemetry": "true"})
        response = super().handle_request(request)
        response.read()
        taken = response.json()["telemetry"]["requests"] if response.is_success else {}
        with self._told.lock:
            self._told.statuses[response.status_code] += 1
            self._told.requests.update(taken)
        return response


@dataclass(frozen=True)
class Row:
    """One load: its messages, seconds, what S3 was asked (by verb and status), what the clients were
    told, and how many archives were made meanwhile."""

    what: str
    messages: int
    seconds: float
    asked: Counter[tuple[str, int]]
    told: Told
    archives: int = 0

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
            _committing(run, ["busy"], WRITERS, each // 10, BUSY),
            _committing(run, [f"brief-{n}" for n in range(sessions // 4)], 1, IN_EACH, BRIEF),
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


def _committing(run: Run, sessions: Sequence[str], writers: int, each: int, policy: Policy) -> Row:
    """The same to sessions that commit themselves. Afterwards every commit was wanted and has gone its whole way, and
    there are as many archives as tasks that made one."""
    client = run.client.acting_for(USER)
    for session in sessions:
        client.create_session(session, auto_commit_policy=dict(policy))
    row = _over_http(run, sessions, writers, each)
    tasks = [*_ended(client, row.told.tasks), *_made_up_for(run, sessions, policy)]
    archives = [found for session in sessions for found in _archives(client, session, policy)]
    assert len(archives) == sum(task["result"].get("archived", True) for task in tasks)
    return replace(row, what=f"{row.what}, which commit themselves", archives=len(archives))


def _made_up_for(run: Run, sessions: Iterable[str], policy: Policy) -> list[Task]:
    """The tasks of one more write to each session that is above its threshold: its last ones met a commit under way."""
    client, told = run.client.acting_for(USER), Told()
    with ExitStack() as stack:
        for session in sessions:
            if client.session(session)["message_count"] > policy["message_count_threshold"]:
                _sender(stack, run, told, session)("one more")
    return _ended(client, told.tasks)


def _ended(client: Client, task_ids: Sequence[str]) -> list[Task]:
    tasks = list(client.wait_for_tasks(task_ids, timeout=PATIENCE_SECONDS))
    assert all(task["status"] == "completed" for task in tasks)
    return tasks


def _archives(client: Client, session: str, policy: Policy) -> list[Archive]:
    """The archives of a session, checked, as what it has left."""
    assert client.session(session)["message_count"] <= policy["message_count_threshold"]
    found = client.archives(session)
    check_archives([(archive["first_seq"], archive["last_seq"]) for archive in found], policy)
    return found


def _sender(stack: ExitStack, run: Run, told: Told, session: str) -> Send:
    watched = Watched(told)
    client = Client(run.client.url, KEY, user=USER, idempotency_keys=False, timeout=60, transport=watched)
    return http_sender(stack.enter_context(client), watched, session, told.tasks.append)


def _by_queue(run: Run, session: str, writers: int, each: int) -> Row:
    """As many producers, who put every message into the ingest queue by itself."""
    client = run.client.acting_for(USER)
    client.create_session(session)
    backlog = Backlog(lambda: int(client.session(session)["total_message_count"]))
    with closing(boto3.client("sqs", endpoint_url=run.sqs)) as sqs:
        ingest = ingest_sender(sqs, "default", USER, session)
        crowd = [Writer(f"w{n}", backlog.behind(ingest)) for n in range(writers)]
        began, before = time.monotonic(), run.asked()
        all_at_once(crowd, each)
        backlog.shrink_to(0)
        seconds, asked = time.monotonic() - began, run.asked() - before
    check(_log(run, session), crowd, each)
    what = f"{writers} producers of 1 session, by the ingest queue"
    return Row(what, writers * each, seconds, asked, Told())


class Backlog:
    """Holds producers back: the emulated queue takes ten times as long for a receive when it holds thousands."""

    def __init__(self, arrived: Callable[[], int]) -> None:
        self._arrived = arrived
        self._known = self._sent = 0
        self._lock = Lock()

    def behind(self, send: Send) -> Send:
        """The same, once there is room."""

        def admitted(message_id: str) -> Acknowledged | None:
            with self._lock:
                self.shrink_to(MOST_BEHIND)
                self._sent += 1
            return send(message_id)

        return admitted

    def shrink_to(self, most: int) -> None:
        """Returns when no more than that many messages are on their way. Raises TimeoutError when none arrives."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self._sent - self._known > most:
            before, self._known = self._known, self._arrived()
            if self._known > before:
                deadline = time.monotonic() + PATIENCE_SECONDS
            elif time.monotonic() > deadline:
                raise TimeoutError(f"{self._sent - self._known} messages do not arrive")
            else:
                time.sleep(0.1)


def _log(run: Run, session: str) -> Iterator[tuple[int, str]]:
    stored = run.client.acting_for(USER).messages(session, page_size=1000)
    return ((message["seq"], message["id"]) for message in stored)


def _counted(n: int, thing: str) -> str:
    return f"{n} {thing}{'' if n == 1 else 's'}"
