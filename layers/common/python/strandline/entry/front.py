"""What every request of the API goes through: who is calling, is it allowed, was it done before; then the route."""

import base64
import binascii
from collections.abc import Callable
from typing import Any

from strandline.entry.http import Event, answering
from strandline.entry.identity import identify
from strandline.entry.settings import settings
from strandline.entry.wiring import quotas
from strandline.pipeline.services import Services
from strandline.storage.layout import User

Answer = dict[str, Any]
Action = Callable[[], Answer]
Known = Callable[[], Services]


def serve(event: Event, services: Known, action: Action) -> Answer:
    """Answers an HTTP event with what the action answers, or with the envelope of what speaks against it.

    Nobody learns anything without a key: it is looked at before the body. What a request does not ask for is not
    even loaded.
    """
    return answering(event, lambda: _identified(event, services, action))


def _identified(event: Event, services: Known, action: Action) -> Answer:
    owner = identify(event)
    if not _names_telemetry(event):
        return _admitted(event, owner, services, action)
    from strandline.entry.metering import metered

    return metered(event, services().clock, lambda: _admitted(event, owner, services, action))


def _names_telemetry(event: Event) -> bool:
    """Whether it is worth a closer look: the word stands in the query, or as a string in the body."""
    if "telemetry=" in str(event.get("rawQueryString") or ""):
        return True
    text = event.get("body") or ""
    if not event.get("isBase64Encoded"):
        return '"telemetry"' in text
    try:
        return b'"telemetry"' in base64.b64decode(text)
    except (binascii.Error, ValueError):
        return False


def _admitted(event: Event, owner: User, services: Known, action: Action) -> Answer:
    limit = settings().requests_per_minute
    if limit:
        quotas().admit(owner.account_id, limit)
    if "idempotency-key" not in (event.get("headers") or {}):
        return action()
    from strandline.entry.replay import METHODS, once

    if event["requestContext"]["http"]["method"] not in METHODS:
        return action()
    return once(event, owner, services(), action)
