"""Twenty writers of one session over real stores: the pipeline's own code, adapters and all, each writer with
services of its own that remember what it saw last.

The simulation shows that no order of events loses or doubles a message; this shows that the stores it assumes exist.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

import pytest

from strandline.adapters.clock import SystemClock
from strandline.adapters.ids import RandomIds
from strandline.domain.errors import Aborted
from strandline.domain.message import MessageIn, read_line
from strandline.pipeline.append import AppendRequest, run_append
from strandline.pipeline.commit import load_head, run_commit
from strandline.pipeline.services import Ports, Rules, Services
from strandline.ports import Items, ObjectStore, Queue
from strandline.storage.layout import User
from strandline.storage.log import ref
from tests.contract.conftest import Backend
from tests.pipeline.world import World
from tests.writers import Acknowledged, Send, Writer, all_at_once, check

pytestmark = [pytest.mark.contract, pytest.mark.slow]

T = TypeVar("T")

WRITERS, EACH = 20, 10
OWNER = User("acme", "alice")
SESSION = "s"


@pytest.fixture
def services(atomic_backend: Backend) -> Callable[[], Services]:
    """Makes the services of one more writer."""
    objects, items = atomic_backend.objects(), atomic_backend.items()
    queue, _ = atomic_backend.queue(fifo=False)
    return lambda: Services(_ports(objects, items, queue), Rules())


def _ports(objects: ObjectStore, items: Items, queue: Queue) -> Ports:
    return replace(
        World().ports(),
        objects=lambda: objects,
        items=lambda: items,
        commit_queue=lambda: queue,
        extract_queue=lambda: queue,
        clock=SystemClock(),
        ids=RandomIds(),
    )


def sender(services: Services) -> Send:
    """Stores one message after another; a commit after every tenth."""

    def send(message_id: str) -> Acknowledged:
        message = MessageIn(role="user", content=message_id, id=message_id)
        done = insist(lambda: run_append(services, AppendRequest(OWNER, SESSION, [message])))
        if message_id.endswith("/5"):
            insist(lambda: run_commit(services, ref(load_head(services, OWNER, SESSION)), 5))
        (receipt,) = done.receipts
        return Acknowledged(receipt.seq, receipt.duplicate)

    return send


def insist(work: Callable[[], T]) -> T:
    """Again while it is refused for too many writers: nothing was written."""
    for _ in range(50):
        with suppress(Aborted):
            return work()
    raise AssertionError("refused fifty times")


def everything(services: Services) -> list[tuple[int, str]]:
    """(seq, message id) of the whole log, archives first."""
    head = load_head(services, OWNER, SESSION)
    lines: list[bytes] = []
    for number, first, last in services.log.archives(head):
        lines += services.log.archived(ref(head), number, first, last) or []
    lines += services.log.live(head, head.live_from, head.last_seq)
    return [(message["seq"], message["id"]) for message in map(read_line, lines)]


def test_twenty_writers_lose_and_double_nothing(services: Callable[[], Services]) -> None:  # B-A9 B-B3 B-B4
    writers = [Writer(f"w{n}", sender(services())) for n in range(WRITERS)]
    all_at_once(writers, EACH)

    check(everything(services()), writers, EACH)
    head = load_head(services(), OWNER, SESSION)
    assert head.commit_count >= 1
    assert head.pending_tokens == head.live_count  # one word a message
