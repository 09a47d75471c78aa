"""Dead letters of the local run: they arrive, are looked at, and are sent back (docs/OPERATIONS.md, "Dead letters")."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3
import httpx
import pytest

from infra.local.template import ACCOUNT, REGION
from strandline.storage.layout import User
from tests.e2e.conftest import LocalRun
from tests.e2e.test_local_run import eventually, result

pytestmark = pytest.mark.e2e

HAL = User("acme", "hal")


@pytest.fixture
def run(tmp_path: Path) -> Iterator[LocalRun]:
    made = LocalRun(tmp_path, STRANDLINE_LOCAL_RETRY_SECONDS="1")
    made.start()
    yield made
    made.end()


class Operator:
    """Somebody with credentials, who was told where S3 and SQS are when the run began."""

    def __init__(self, run: LocalRun) -> None:
        said = eventually(lambda: "Ctrl-C ends it" in run.output() and run.output())
        s3 = re.search(r"S3 +(\S+) +\(access key (\S+), secret (\S+)\)", said)
        sqs = re.search(r"SQS +(\S+)", said)
        assert s3 and sqs
        self.s3: Any = self._client("s3", s3[1], s3[2], s3[3])
        self._sqs: Any = self._client("sqs", sqs[1], s3[2], s3[3])
        self._queues = f"{sqs[1]}/{ACCOUNT}"

    def _client(self, service: str, url: str, key: str, secret: str) -> Any:
        return boto3.client(
            service,  # type: ignore[call-overload]
            REGION,
            endpoint_url=url,
            aws_access_key_id=key,
            aws_secret_access_key=secret,
        )

    def send(self, queue: str, body: str, group: str) -> None:
        self._sqs.send_message(
            QueueUrl=f"{self._queues}/{queue}",
            MessageBody=body,
            MessageGroupId=group,
            MessageDeduplicationId=uuid4().hex,
        )

    def dead(self, queue: str) -> list[Any]:
        """What lies there, in its order; it stays."""
        answer = self._sqs.receive_message(
            QueueUrl=f"{self._queues}/{queue}",
            MaxNumberOfMessages=10,
            VisibilityTimeout=0,
            MessageSystemAttributeNames=["All"],
        )
        return list(answer.get("Messages", []))

    def redrive(self, dead: str, queue: str) -> None:
        """What StartMessageMoveTask does, which no emulator has."""
        for message in self.dead(dead):
            self.send(queue, message["Body"], message["Attributes"]["MessageGroupId"])
            self._sqs.delete_message(
                QueueUrl=f"{self._queues}/{dead}", ReceiptHandle=message["ReceiptHandle"]
            )


def request(session: str, text: str) -> str:
    message = {"role": "user", "content": text}
    return json.dumps(
        {
            "type": "AppendRequested",
            "version": 1,
            "account_id": HAL.account_id,
            "user_id": HAL.user_id,
            "session_id": session,
            "messages": [message],
        }
    )


def texts(client: httpx.Client, session: str) -> list[str]:
    answer = client.get(f"/sessions/{session}/messages")
    return [message["content"] for message in result(answer)] if answer.status_code == 200 else []


def test_dead_letters_arrive_and_are_sent_back_when_the_cause_is_mended(run: LocalRun) -> None:
    operator, queue, dead = Operator(run), "IngestQueue.fifo", "IngestDeadLetterQueue.fifo"
    bucket, broken = "strandline-memorybucket", HAL.head("broken")
    operator.s3.put_object(Bucket=bucket, Key=broken, Body=b"no head")
    operator.send(queue, "{", "sound")
    operator.send(queue, request("broken", "in vain"), "broken")
    operator.send(queue, request("sound", "hello"), "sound")

    with run.client(HAL.user_id) as client:
        eventually(lambda: texts(client, "sound") == ["hello"])
        arrived = eventually(lambda: len(operator.dead(dead)) == 2 and operator.dead(dead))
        assert {message["Body"] for message in arrived} == {"{", request("broken", "in vain")}
        assert "it goes to the dead-letter queue" in run.output()

        operator.s3.delete_object(Bucket=bucket, Key=broken)
        operator.redrive(dead, queue)

        eventually(lambda: texts(client, "broken") == ["in vain"])
        eventually(lambda: [message["Body"] for message in operator.dead(dead)] == ["{"])
        assert texts(client, "sound") == ["hello"]
