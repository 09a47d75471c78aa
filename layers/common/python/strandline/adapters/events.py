"""`ports.Bus` on an EventBridge bus.

The journal is the truth and the sweep tells of an event again, so nobody waits long for a bus: one attempt of a few
seconds, and after a failure none for a while. Whatever goes wrong is Ambiguous, also what repeating alone cannot mend
(no such bus, access denied): it must not hold up the memories; the due markers that pile up show it.
"""

import time
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from strandline.adapters import aws
from strandline.domain.events import Event
from strandline.ports import Ambiguous

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient

SOURCE = "strandline"
PAUSE_SECONDS = 30.0
BRIEF = aws.ONCE.merge(Config(connect_timeout=1, read_timeout=2))


class EventBus:
    """One bus by its name or ARN. `client` makes a client from a configuration, when it is first needed."""

    def __init__(self, name: str, client: "Callable[[Config], EventBridgeClient]" = aws.events) -> None:
        self._name = name
        self._make = client
        self._silent_until = 0.0

    @cached_property
    def _client(self) -> "EventBridgeClient":
        return self._make(BRIEF)

    def put(self, event: Event) -> None:
        if time.monotonic() < self._silent_until:
            raise Ambiguous("the bus failed a moment ago")
        try:
            self._put(event)
        except Ambiguous:
            self._silent_until = time.monotonic() + PAUSE_SECONDS
            raise

    def _put(self, event: Event) -> None:
        try:
            answer = self._client.put_events(
                Entries=[
                    {
                        "EventBusName": self._name,
                        "Source": SOURCE,
                        "DetailType": event.type,
                        "Detail": event.model_dump_json(exclude_none=True),
                    }
                ]
            )
        except (BotoCoreError, ClientError) as error:
            raise Ambiguous(str(error)) from error
        if answer["FailedEntryCount"]:
            raise Ambiguous(str(answer["Entries"][0].get("ErrorCode")))
