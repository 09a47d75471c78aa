"""The emulators are killed while they are written to; whatever they acknowledged is there afterwards."""

import contextlib
import hashlib
import random
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import BotoCoreError, ClientError

from infra.local import provision
from infra.local.emulators import Emulators
from infra.local.template import Template

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
ROUNDS = 3


class Aws:
    """The emulators with the template's resources, restarted on the same data."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._emulators: Emulators | None = None

    def start(self) -> None:
        logs = self._data / "logs"
        logs.mkdir(exist_ok=True)
        self._emulators = emulators = Emulators(ROOT / ".venv-emulator" / "bin", self._data, logs)
        emulators.wait()
        template = Template(ROOT / "template.yaml", {})
        self.names = provision.names(template, emulators.environment["AWS_ENDPOINT_URL_SQS"])
        provision.create(template, self.names, emulators)
        self.s3, self.dynamodb, self.sqs = (emulators.client(each) for each in ("s3", "dynamodb", "sqs"))

    def kill(self) -> None:
        if self._emulators is not None:
            self._emulators.stop()  # a SIGKILL for both


@pytest.fixture
def aws(tmp_path: Path) -> Iterator[Aws]:
    started = Aws(tmp_path)
    started.start()
    yield started
    started.kill()


def body(key: str, number: int) -> bytes:
    """Bytes that tell which write they are, of a length that differs each time."""
    return f"{key} {number} ".encode() + b"x" * (number * 997 % 20_000)


class Writer:
    """One thread that writes to all three services and remembers what was acknowledged."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.tried = self.put = self.item = 0
        self.sent: set[str] = set()
        self.etag: str | None = None
        self.versions: dict[str, int] = {}

    def run(self, aws: Aws) -> None:
        """Writes until the emulators are gone."""
        with contextlib.suppress(BotoCoreError, ClientError):
            while True:
                self._write(aws, self.tried + 1)

    def _write(self, aws: Aws, number: int) -> None:
        self.tried = number
        condition = {"IfMatch": self.etag} if self.etag else {"IfNoneMatch": "*"}
        key = {"Bucket": aws.names["MemoryBucket"], "Key": f"v1/a/u/sessions/{self.name}/head.json"}
        stored = aws.s3.put_object(**key, Body=body(self.name, number), **condition)
        self.etag, self.put = stored["ETag"], number
        self.versions[stored["VersionId"]] = number
        aws.dynamodb.put_item(TableName=aws.names["StateTable"], Item=item(self.name, number))
        self.item = number
        aws.sqs.send_message(QueueUrl=aws.names["CommitQueue"], MessageBody=f"{self.name} {number}")
        self.sent.add(f"{self.name} {number}")

    def check(self, aws: Aws) -> None:
        """Nothing acknowledged is missing, and nothing is torn."""
        bucket, key = aws.names["MemoryBucket"], f"v1/a/u/sessions/{self.name}/head.json"
        try:
            found = aws.s3.get_object(Bucket=bucket, Key=key)
        except aws.s3.exceptions.NoSuchKey:
            assert (self.put, self.etag) == (0, None), "an acknowledged object is gone"
            return  # killed before its first write was answered
        read = found["Body"].read()
        number = int(read.split(b" ")[1])
        assert number in (self.put, self.tried)
        assert read == body(self.name, number)
        assert found["ETag"].strip('"') == hashlib.md5(read).hexdigest()
        self.etag = found["ETag"]
        stored = aws.dynamodb.get_item(
            TableName=aws.names["StateTable"], Key=item(self.name), ConsistentRead=True
        )
        kept = int(stored["Item"]["n"]["N"]) if "Item" in stored else 0
        assert kept in (self.item, self.tried)

    def check_versions(self, aws: Aws) -> None:
        """Every version of the object is there, with its bytes."""
        bucket, key = aws.names["MemoryBucket"], f"v1/a/u/sessions/{self.name}/head.json"
        for version, number in self.versions.items():
            found = aws.s3.get_object(Bucket=bucket, Key=key, VersionId=version)
            assert found["Body"].read() == body(self.name, number)


def item(name: str, number: int | None = None) -> dict[str, Any]:
    key = {"pk": {"S": "P"}, "sk": {"S": name}}
    return key if number is None else {**key, "n": {"N": str(number)}, "text": {"S": "x" * (number % 500)}}


def receive_all(aws: Aws) -> set[str]:
    bodies: set[str] = set()
    while found := aws.sqs.receive_message(QueueUrl=aws.names["CommitQueue"], MaxNumberOfMessages=10).get(
        "Messages"
    ):
        bodies |= {each["Body"] for each in found}
    return bodies


@pytest.mark.slow
def test_nothing_acknowledged_is_lost(aws: Aws) -> None:
    seed = random.randrange(2**32)
    print("seed", seed)
    moment = random.Random(seed)
    writers = [Writer(f"w{number}") for number in range(4)]
    for _ in range(ROUNDS):
        threads = [threading.Thread(target=writer.run, args=(aws,)) for writer in writers]
        for thread in threads:
            thread.start()
        time.sleep(moment.uniform(0.5, 2))
        aws.kill()
        for thread in threads:
            thread.join()
        aws.start()
        for writer in writers:
            writer.check(aws)
    for writer in writers:
        writer.check_versions(aws)
    assert set().union(*(writer.sent for writer in writers)) - receive_all(aws) == set()


def test_what_was_deleted_stays_deleted(aws: Aws) -> None:
    table, queue = aws.names["StateTable"], aws.names["CommitQueue"]
    for name in ("kept", "gone"):
        aws.dynamodb.put_item(TableName=table, Item=item(name, 1))
        aws.sqs.send_message(QueueUrl=queue, MessageBody=name)
    aws.dynamodb.delete_item(TableName=table, Key=item("gone"))
    for _ in range(2):
        (found,) = aws.sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=1)["Messages"]
        if found["Body"] == "gone":
            aws.sqs.delete_message(QueueUrl=queue, ReceiptHandle=found["ReceiptHandle"])
    aws.kill()
    aws.start()
    assert [each["sk"]["S"] for each in aws.dynamodb.scan(TableName=table)["Items"]] == ["kept"]
    assert receive_all(aws) == {"kept"}


def test_batches_and_transactions_are_kept(aws: Aws) -> None:
    table = aws.names["StateTable"]
    aws.dynamodb.put_item(TableName=table, Item=item("old", 1))
    writes: list[Any] = [{"PutRequest": {"Item": item("batch", 2)}}, {"DeleteRequest": {"Key": item("old")}}]
    aws.dynamodb.batch_write_item(RequestItems={table: writes})
    update = {
        "TableName": table,
        "Key": item("updated"),
        "UpdateExpression": "SET n = :n",
        "ExpressionAttributeValues": {":n": {"N": "3"}},
    }
    aws.dynamodb.transact_write_items(
        TransactItems=[{"Put": {"TableName": table, "Item": item("put", 4)}}, {"Update": update}]
    )
    aws.kill()
    aws.start()
    found = aws.dynamodb.scan(TableName=table)["Items"]
    assert {each["sk"]["S"]: each["n"]["N"] for each in found} == {"batch": "2", "updated": "3", "put": "4"}


def test_expired_items_are_forgotten(aws: Aws) -> None:
    table = aws.names["StateTable"]
    for name, expires in (("old", time.time() - 1), ("new", time.time() + 3600)):
        aws.dynamodb.put_item(TableName=table, Item={**item(name, 1), "expires_at": {"N": str(int(expires))}})
    aws.kill()
    aws.start()  # brings both back, as a table that deletes late; forgets the old one
    aws.kill()
    aws.start()
    assert [each["sk"]["S"] for each in aws.dynamodb.scan(TableName=table)["Items"]] == ["new"]


def test_ordered_messages_come_back_in_order(aws: Aws) -> None:
    queue = aws.names["MergeQueue"]
    for number in range(5):
        aws.sqs.send_message(
            QueueUrl=queue, MessageBody=str(number), MessageGroupId="a/u", MessageDeduplicationId=str(number)
        )
    aws.sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=2)  # in flight when the process is killed
    aws.kill()
    aws.start()
    found = aws.sqs.receive_message(QueueUrl=aws.names["MergeQueue"], MaxNumberOfMessages=10)["Messages"]
    assert [each["Body"] for each in found] == list("01234")


def test_dead_letters(aws: Aws) -> None:
    queue, dead = aws.names["ExtractQueue"], aws.names["ExtractDeadLetterQueue"]
    aws.sqs.send_message(QueueUrl=queue, MessageBody="poison")
    for receive in range(1, 6):
        (found,) = aws.sqs.receive_message(QueueUrl=queue, MessageSystemAttributeNames=["All"])["Messages"]
        assert found["Attributes"]["ApproximateReceiveCount"] == str(receive)
        aws.sqs.change_message_visibility(
            QueueUrl=queue, ReceiptHandle=found["ReceiptHandle"], VisibilityTimeout=0
        )
    assert "Messages" not in aws.sqs.receive_message(QueueUrl=queue)
    eventually(lambda: "Messages" in aws.sqs.receive_message(QueueUrl=dead))


def eventually(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.1)
