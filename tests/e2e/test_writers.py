"""Twenty writers of one session through the whole service: over HTTP, and by the ingest queue."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from typing import Any

import boto3
import pytest

from strandline_sdk.client import Client
from tests.e2e.conftest import KEY, LocalRun
from tests.e2e.test_local_run import eventually
from tests.writers import Heard, Writer, all_at_once, check, check_archives, http_sender, ingest_sender

pytestmark = pytest.mark.e2e

WRITERS, EACH = 20, 10


@pytest.fixture
def client(local_run: LocalRun) -> Iterator[Client]:
    with client_of(local_run, Heard()) as client:
        yield client


def client_of(run: LocalRun, heard: Heard) -> Client:
    """Without idempotency keys, so that nothing but the message ids tells a repeat."""
    return Client(run.url, KEY, account="acme", user="crowd", idempotency_keys=False, transport=heard)


@pytest.fixture
def over_http(local_run: LocalRun) -> Iterator[Callable[..., list[Writer]]]:
    """Makes the writers of a session, each with a client of its own."""
    with ExitStack() as stack:

        def make(session: str, begun: Callable[[str], None] = lambda _: None) -> list[Writer]:
            heard = [Heard() for _ in range(WRITERS)]
            clients = [stack.enter_context(client_of(local_run, each)) for each in heard]
            return [
                Writer(f"w{n}", http_sender(clients[n], heard[n], session, begun)) for n in range(WRITERS)
            ]

        yield make


def log(client: Client, session: str) -> list[tuple[int, str]]:
    return [(message["seq"], message["id"]) for message in client.messages(session)]


def test_over_http(client: Client, over_http: Callable[..., list[Writer]]) -> None:  # B-A9
    writers = over_http("http")
    all_at_once(writers, EACH)
    check(log(client, "http"), writers, EACH)


def test_by_the_ingest_queue(local_run: LocalRun, client: Client) -> None:  # B-A9 B-A17
    """A message each, up to ten of them in a batch; nothing overtakes, whatever batch it is in."""
    client.create_session("queue")
    with closing(sqs_of(local_run)) as sqs:
        writers = [Writer(f"w{n}", ingest_sender(sqs, "acme", "crowd", "queue")) for n in range(WRITERS)]
        all_at_once(writers, EACH)
    eventually(lambda: client.session("queue")["total_message_count"] == WRITERS * EACH)
    check(log(client, "queue"), writers, EACH)


def test_a_session_that_commits_itself(  # B-A9 B-B6 B-B7
    client: Client, over_http: Callable[..., list[Writer]]
) -> None:
    """Archived while twenty write: what crossed the threshold, once, and as often as a write was told."""
    policy = {"message_count_threshold": 25, "keep_recent_count": 2}
    client.create_session("busy", auto_commit_policy=policy)
    begun: list[str] = []
    writers = over_http("busy", begun.append)
    all_at_once(writers, EACH)
    check(log(client, "busy"), writers, EACH)
    tasks = list(client.wait_for_tasks(begun, timeout=120))
    assert {task["status"] for task in tasks} == {"completed"}
    archives = client.archives("busy")
    check_archives([(archive["first_seq"], archive["last_seq"]) for archive in archives], policy)
    assert len(archives) == sum(task["result"].get("archived", True) for task in tasks) >= 1


def sqs_of(run: LocalRun) -> Any:
    (endpoint,) = re.findall(r"^ +SQS +(http://\S+)", run.output(), re.MULTILINE)
    return boto3.client(
        "sqs", endpoint_url=endpoint, aws_access_key_id="local", aws_secret_access_key="local"
    )
