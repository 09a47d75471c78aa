"""Twenty writers of one session through the whole service: over HTTP, and by the ingest queue."""

import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import boto3
import pytest

from strandline_sdk.client import Client
from tests.e2e.conftest import KEY, LocalRun
from tests.e2e.test_local_run import eventually
from tests.writers import Acknowledged, Send, Writer, all_at_once, check, ingest_sender, said

pytestmark = pytest.mark.e2e

WRITERS, EACH = 20, 10


@pytest.fixture
def client(local_run: LocalRun) -> Iterator[Client]:
    """Follows Retry-After. Without idempotency keys, so that only the message ids tell a repeat."""
    with Client(local_run.url, KEY, account="acme", user="crowd", idempotency_keys=False) as client:
        yield client


def sender(client: Client, session: str) -> Send:
    def send(message_id: str) -> Acknowledged:
        answer = client.append(session, {"role": "user", "content": said(message_id), "id": message_id})
        return Acknowledged(answer["seq"], answer["duplicate"])

    return send


def log(client: Client, session: str) -> list[tuple[int, str]]:
    return [(message["seq"], message["id"]) for message in client.messages(session)]


def test_over_http(client: Client) -> None:  # B-A9
    writers = [Writer(f"w{n}", sender(client, "http")) for n in range(WRITERS)]
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


def sqs_of(run: LocalRun) -> Any:
    (endpoint,) = re.findall(r"^ +SQS +(http://\S+)", run.output(), re.MULTILINE)
    return boto3.client(
        "sqs", endpoint_url=endpoint, aws_access_key_id="local", aws_secret_access_key="local"
    )
