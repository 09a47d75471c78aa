"""`ports.Queue` and `ports.DeadLetters` on an SQS queue, standard or FIFO (its URL ends with `.fifo`)."""

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from botocore.config import Config

from strandline.adapters import aws
from strandline.domain.contracts import Message
from strandline.ports import LETTERS_HIDDEN, Ambiguous, Letter

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import MessageTypeDef

_GROUP = re.compile(r"[!-~]{1,128}")


class SqsQueue:
    """One queue by its URL. `client` makes a client from a configuration, when it is first needed; `trace` answers
    the trace header of the present work, if any."""

    def __init__(
        self,
        url: str,
        client: Callable[[Config], "SQSClient"] = aws.sqs,
        trace: Callable[[], str | None] = lambda: None,
    ) -> None:
        self._url = url
        self._trace = trace
        self._client = client

    @cached_property
    def _repeating(self) -> "SQSClient":
        return self._client(aws.REPEATING)

    def send(self, message: Message) -> None:
        # escaped to ASCII: SQS refuses U+FFFE, U+FFFF and most control characters
        body = json.dumps(message.model_dump(mode="json"), separators=(",", ":"))
        with aws.store_errors():
            self._repeating.send_message(
                QueueUrl=self._url, MessageBody=body, **self._order(message), **self._traced()
            )

    def release(self, receipt: str) -> None:
        with aws.store_errors():
            self._repeating.change_message_visibility(
                QueueUrl=self._url, ReceiptHandle=receipt, VisibilityTimeout=0
            )

    def _traced(self) -> dict[str, Any]:
        """The message goes on in the trace of what it is sent for."""
        header = self._trace()
        if header is None:
            return {}
        value = {"StringValue": header, "DataType": "String"}
        return {"MessageSystemAttributes": {"AWSTraceHeader": value}}

    def _order(self, message: Message) -> dict[str, Any]:
        """FIFO: one group per user. The deduplication id is new in every call: SQS recognises the SDK's own
        repetition, but never swallows a message that was meant to be sent again within its five minutes."""
        if not self._url.endswith(".fifo"):
            return {}
        return {
            "MessageGroupId": group_id(message.session.owner),
            "MessageDeduplicationId": os.urandom(16).hex(),
        }


AT_ONCE = 10  # SQS takes no more in one call
PATIENCE = 1  # seconds; without any, SQS asks only some of its servers, and there may be letters where it hears of none


class SqsDeadLetters:
    """One queue by its URL."""

    def __init__(self, url: str, client: Callable[[Config], "SQSClient"] = aws.sqs) -> None:
        self._url = url
        self._client = client

    @cached_property
    def _repeating(self) -> "SQSClient":
        return self._client(aws.REPEATING)

    def take(self) -> Sequence[Letter]:
        with aws.store_errors():
            answer = self._repeating.receive_message(
                QueueUrl=self._url,
                MaxNumberOfMessages=AT_ONCE,
                MessageSystemAttributeNames=["SentTimestamp"],
                VisibilityTimeout=int(LETTERS_HIDDEN.total_seconds()),
                WaitTimeSeconds=PATIENCE,
            )
        return [_letter(message) for message in answer.get("Messages", [])]

    def remove(self, letters: Sequence[Letter]) -> None:
        for few in _in_tens(letters):
            with aws.store_errors():
                answer = self._repeating.delete_message_batch(
                    QueueUrl=self._url,
                    Entries=[{"Id": str(n), "ReceiptHandle": each.receipt} for n, each in few],
                )
            _all_done(answer)

    def give_back(self, letters: Sequence[Letter]) -> None:
        for few in _in_tens(letters):
            with aws.store_errors():
                answer = self._repeating.change_message_visibility_batch(
                    QueueUrl=self._url,
                    Entries=[
                        {"Id": str(n), "ReceiptHandle": each.receipt, "VisibilityTimeout": 0}
                        for n, each in few
                    ],
                )
            _all_done(answer)


def _letter(message: "MessageTypeDef") -> Letter:
    sent_at = datetime.fromtimestamp(int(message["Attributes"]["SentTimestamp"]) / 1000, UTC)
    return Letter(message["MessageId"], message["Body"], sent_at, message["ReceiptHandle"])


def _in_tens(letters: Sequence[Letter]) -> Iterator[Sequence[tuple[int, Letter]]]:
    for start in range(0, len(letters), AT_ONCE):
        yield list(enumerate(letters[start : start + AT_ONCE]))


def _all_done(answer: Mapping[str, Any]) -> None:
    """A batch may fail in part."""
    failed = answer.get("Failed", [])
    if failed:
        raise Ambiguous(f"SQS did not do {len(failed)} of a batch: {failed[0]['Code']}")


def group_id(owner: str) -> str:
    """SQS takes 128 visible ASCII characters; any other owner goes by its SHA-256, which cannot look like an owner:
    it has no '/'."""
    return owner if _GROUP.fullmatch(owner) else hashlib.sha256(owner.encode()).hexdigest()
