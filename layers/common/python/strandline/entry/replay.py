"""`Idempotency-Key`: a POST or PUT that is repeated within 24 hours gets its first answer and does nothing.

    a new key                   claim it, do the request, keep the answer     2 table writes
    the same request again      the first answer, `Idempotent-Replay: true`   1 refused write, 1 read
    another body, same key      409 IDEMPOTENCY_MISMATCH
    while the first one runs    409 ABORTED, `Retry-After`

A key belongs to its user, role, method and path. Good answers are kept, errors are not. An error that says that nothing
was done frees the key, so the request can be corrected and sent with the same key; after any other error (5xx, 409
ABORTED) the same request can be sent again at once. The claim of an attempt that was killed is taken over after 30
seconds. The next attempt finds what was done by the ids derived from the key (`domain/repeat.py`), so there is one
effect in all.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from strandline.domain.errors import InvalidArgument
from strandline.entry.http import Event, answering, read_body
from strandline.entry.identity import caller
from strandline.entry.repeat import Attempt, attempting
from strandline.pipeline.services import Services
from strandline.storage.layout import User
from strandline.storage.replays import Answer, Claim, Kept, Replays, Request

METHODS = frozenset({"POST", "PUT"})
MAX_KEY_CHARS = 255
ASKING = ("if-match", "if-none-match", "x-strandline-actor-peer", "x-openviking-actor-peer")
REPLAYED = {"Idempotent-Replay": "true"}

Action = Callable[[], dict[str, Any]]


def once(event: Event, owner: User, services: Services, action: Action) -> dict[str, Any]:
    """The action's answer, or the first one when this request was done before.

    Raises InvalidArgument for a key that is none, IdempotencyMismatch, Aborted, Unavailable, PayloadTooLarge.
    """
    request = _request(event, owner, _key(event))
    replays = Replays(services.items, services.objects, services.clock, services.ids)
    found = replays.claim(request)
    if isinstance(found, Kept):
        return _again(found, action)
    attempt = Attempt(found.repeat)
    with attempting(attempt):
        answer = answering(event, action)
    _settle(replays, found, answer, attempt)
    return answer


def _key(event: Event) -> str:
    key = str(event["headers"]["idempotency-key"])
    if not 0 < len(key) <= MAX_KEY_CHARS or not key.isprintable():
        raise InvalidArgument(
            f"Idempotency-Key: 1 to {MAX_KEY_CHARS} printable characters, new for each request"
        )
    return key


def _request(event: Event, owner: User, key: str) -> Request:
    http = event["requestContext"]["http"]
    headers = event["headers"]
    scope = (caller(event).role, str(http["method"]), str(event["rawPath"]), key)
    asked = (str(event.get("rawQueryString", "")), *(str(headers.get(name, "")) for name in ASKING))
    said = hashlib.sha256("\0".join((*asked, "")).encode())
    said.update(read_body(event))
    return Request(owner, hashlib.sha256("\0".join(scope).encode()).hexdigest(), said.hexdigest())


def _again(found: Kept, action: Action) -> dict[str, Any]:
    kept = found.answer
    if kept.body is None:
        with attempting(Attempt(found.repeat)):
            answer = action()
        return {**answer, "headers": {**answer["headers"], **REPLAYED}}
    return {"statusCode": kept.status, "headers": {**kept.headers, **REPLAYED}, "body": kept.body}


def _settle(replays: Replays, claim: Claim, answer: Mapping[str, Any], attempt: Attempt) -> None:
    status = int(answer["statusCode"])
    if status < 400:
        replays.keep(claim, Answer(status, answer["headers"], _kept(answer, attempt)))
    elif status >= 500 or "Retry-After" in answer["headers"]:
        replays.let_go(claim)
    else:
        replays.forget(claim)


def _kept(answer: Mapping[str, Any], attempt: Attempt) -> str | None:
    if attempt.again:
        return None
    body = str(answer["body"])
    if attempt.kept is None:
        return body
    return json.dumps({**json.loads(body), "result": attempt.kept}, ensure_ascii=False, separators=(",", ":"))
