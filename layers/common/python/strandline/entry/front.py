"""The way of every request of the API: who is it, may it, was it done before; then the route."""

from collections.abc import Callable
from typing import Any

from strandline.entry.http import Event, answering
from strandline.entry.identity import identify
from strandline.pipeline.services import Services

Answer = dict[str, Any]


def serve(event: Event, services: Callable[[], Services], action: Callable[[], Answer]) -> Answer:
    """Answers an HTTP event with what the action answers, or with the envelope of what speaks against it.

    Nobody learns anything without a key: it is looked at before the body. What a request does not ask for is not
    even loaded.
    """
    return answering(event, lambda: _admitted(event, services, action))


def _admitted(event: Event, services: Callable[[], Services], action: Callable[[], Answer]) -> Answer:
    owner = identify(event)
    if "idempotency-key" not in (event.get("headers") or {}):
        return action()
    from strandline.entry.replay import METHODS, once

    if event["requestContext"]["http"]["method"] not in METHODS:
        return action()
    return once(event, owner, services(), action)
