"""`ports.Queue` on an SQS queue, standard or FIFO (its URL ends with `.fifo`)."""

import hashlib
import json
import os
import re
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from botocore.config import Config

from strandline.adapters import aws
from strandline.domain.contracts import Message

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

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


def group_id(owner: str) -> str:
    """SQS takes 128 visible ASCII characters; any other owner goes by its SHA-256, which cannot look like an owner:
    it has no '/'."""
    return owner if _GROUP.fullmatch(owner) else hashlib.sha256(owner.encode()).hexdigest()
