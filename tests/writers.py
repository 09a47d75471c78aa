"""Writers of one session at the same time, and what must be true of its log afterwards.  # B-A9"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Barrier
from typing import Any

import httpx

from strandline_sdk.client import Client

START_SECONDS = 60


@dataclass(frozen=True)
class Acknowledged:
    """What a writer was told of a message: where it stands, and whether it was there before, though nothing but ABORTED
    had been answered."""

    seq: int
    duplicate: bool


Send = Callable[[str], Acknowledged | None]
"""Sends the message of this id, again while it is told ABORTED. None: a queue has it, and tells nothing."""


@dataclass
class Writer:
    """Sends its messages one after another, each when the last is acknowledged; remembers where they are."""

    name: str
    send: Send
    seqs: dict[str, int] = field(default_factory=dict)

    def write(self, count: int, start: Barrier) -> None:
        """Raises AssertionError when a message is said to be there already: it was told ABORTED, and stored."""
        start.wait(START_SECONDS)
        for message_id in ids(self.name, count):
            told = self.send(message_id)
            if told is not None:
                assert not told.duplicate, f"{message_id} was refused, and stored"
                self.seqs[message_id] = told.seq


def ids(name: str, count: int) -> list[str]:
    """The message ids of a writer, in its order."""
    return [f"{name}/{n}" for n in range(count)]


def all_at_once(writers: Sequence[Writer], count: int) -> None:
    """Each writes `count` messages, a thread each. Raises what the first of them raised."""
    start = Barrier(len(writers))
    with ThreadPoolExecutor(len(writers)) as pool:
        done = [pool.submit(writer.write, count, start) for writer in writers]
    for each in done:
        each.result()


def check(log: Iterable[tuple[int, str]], writers: Iterable[Writer], count: int) -> None:
    """`log` is the whole session, as (seq, message id). Raises AssertionError unless it is numbered from 1 without a
    gap, has each message once, each writer's in its order, and every message where its writer was told."""
    found = list(log)
    wanted = [message_id for writer in writers for message_id in ids(writer.name, count)]
    assert [seq for seq, _ in found] == list(range(1, len(wanted) + 1))
    places = {message_id: seq for seq, message_id in found}
    assert sorted(places) == sorted(wanted)
    for writer in writers:
        own = [places[message_id] for message_id in ids(writer.name, count)]
        assert own == sorted(own), f"{writer.name} was reordered"
        assert all(places[message_id] == seq for message_id, seq in writer.seqs.items())


def check_archives(ranges: Iterable[tuple[int, int]], policy: Mapping[str, int]) -> None:
    """The archives of a session that nothing but its policy commits, as (first seq, last seq). Raises AssertionError
    unless each follows the one before, and each was wanted: above the threshold, all but what is kept."""
    following = 1
    for first, last in sorted(ranges):
        assert first == following, f"an archive begins at {first}, not at {following}"
        following = last + 1
        least = policy["message_count_threshold"] + 1 - policy["keep_recent_count"]
        assert following - first >= least, f"{following - first} messages are archived, fewer than {least}"


class Heard(httpx.BaseTransport):
    """Passes the requests of one writer on, and counts the answers by status; 0: there was none."""

    def __init__(self) -> None:
        self.statuses: Counter[int] = Counter()
        self._inner = httpx.HTTPTransport()

    @property
    def unclear(self) -> int:
        """Answers after which a message may be stored or not."""
        return sum(n for status, n in self.statuses.items() if status not in (200, 409))

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        try:
            response = self._inner.handle_request(request)
        except httpx.TransportError:
            self.statuses[0] += 1
            raise
        self.statuses[response.status_code] += 1
        return response

    def close(self) -> None:
        self._inner.close()


def http_sender(
    client: Client, heard: Heard, session: str, begun: Callable[[str], None] = lambda _: None
) -> Send:
    """By a client that follows Retry-After, over `heard`. `begun` hears the tasks of commits that a write asked for."""

    def send(message_id: str) -> Acknowledged:
        before = heard.unclear
        answer = client.append(session, {"role": "user", "content": said(message_id), "id": message_id})
        if "auto_commit" in answer:
            begun(answer["auto_commit"]["task_id"])
        return Acknowledged(answer["seq"], answer["duplicate"] and heard.unclear == before)

    return send


def ingest_sender(sqs: Any, account: str, user: str, session: str) -> Send:
    """Puts every message into the ingest queue by itself. Its group is the session, so a writer's order is kept."""
    (url,) = sqs.list_queues(QueueNamePrefix="IngestQueue")["QueueUrls"]
    whose = {"account_id": account, "user_id": user, "session_id": session}

    def send(message_id: str) -> None:
        message = {"role": "user", "content": said(message_id), "id": message_id}
        body = {"type": "AppendRequested", "version": 1, **whose, "messages": [message]}
        sqs.send_message(
            QueueUrl=url,
            MessageGroupId="/".join(whose.values()),
            MessageDeduplicationId=message_id,
            MessageBody=json.dumps(body),
        )

    return send


def said(message_id: str) -> str:
    """What a message says."""
    return f"I am message {message_id}."
