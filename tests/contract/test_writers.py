"""Twenty writers of one session over real stores: the pipeline's own code, adapters and all, each writer with
services of its own that remember what it saw last.

The simulation shows that no order of events loses or doubles a message; this shows that the stores it assumes exist.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

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

pytestmark = [pytest.mark.contract, pytest.mark.slow]

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


def write(services: Services, writer: int, start: Barrier) -> None:
    """Ten messages, each sent until it is acknowledged; a commit after every fifth."""
    start.wait(60)
    for n in range(EACH):
        message = MessageIn(role="user", content=f"{writer}/{n}", id=f"{writer}/{n}")
        insist(lambda: run_append(services, AppendRequest(OWNER, SESSION, [message])))  # noqa: B023 - used at once
        if n == EACH // 2:
            insist(lambda: run_commit(services, ref(load_head(services, OWNER, SESSION)), 5))


def insist(work: Callable[[], object]) -> None:
    """Again while it is refused for too many writers: nothing was written."""
    for _ in range(50):
        try:
            work()
        except Aborted:
            continue
        return
    raise AssertionError("refused fifty times")


def everything(services: Services) -> list[tuple[int, str]]:
    """(seq, content) of the whole log, archives first."""
    head = load_head(services, OWNER, SESSION)
    lines: list[bytes] = []
    for number, first, last in services.log.archives(head):
        lines += services.log.archived(ref(head), number, first, last) or []
    lines += services.log.live(head, head.live_from, head.last_seq)
    return [(message["seq"], message["content"]) for message in map(read_line, lines)]


def test_twenty_writers_lose_and_double_nothing(services: Callable[[], Services]) -> None:  # B-A9 B-B3 B-B4
    start = Barrier(WRITERS)
    with ThreadPoolExecutor(WRITERS) as pool:
        done = [pool.submit(write, services(), writer, start) for writer in range(WRITERS)]
    for each in done:
        each.result()

    log = everything(services())
    assert [seq for seq, _ in log] == list(range(1, WRITERS * EACH + 1))
    said = [content for _, content in log]
    assert sorted(said) == sorted(f"{writer}/{n}" for writer in range(WRITERS) for n in range(EACH))
    for writer in range(WRITERS):
        own = [content for content in said if content.startswith(f"{writer}/")]
        assert own == [f"{writer}/{n}" for n in range(EACH)]
    head = load_head(services(), OWNER, SESSION)
    assert head.commit_count >= 1
    assert head.pending_tokens == head.live_count  # one word a message
