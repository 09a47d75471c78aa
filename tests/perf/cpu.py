"""CPU of one append against a bare `put_object` of the same bytes, in the same run.

Process time of this process; the S3 that answers is another process. Every repetition does all contenders in a random
order, so that a slow moment meets all of them, and each is preceded by the same read of the head, so that all begin
equally warm. Reported is the lower quartile: what the neighbours on a shared machine disturb least.

The head is that of a session in use: 1,024 messages are archived already (so all the ids that are kept are there), and
the newest write ids are full.
"""

import gc
import json
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from statistics import quantiles
from typing import Any

from strandline.domain import session
from strandline.domain.message import ID_HASH_BYTES, MessageIn, draft
from strandline.domain.session import IDS_KEPT, Head
from strandline.pipeline.append import AppendRequest, new_head, run_append
from strandline.pipeline.services import Services
from strandline.storage.codec import HeadCodec
from strandline.storage.document import WRITES_KEPT, Stamp
from strandline.storage.layout import User
from tests.perf import stub, talk
from tests.perf.environment import isolate

SIZES_KIB = (0, 16, 60)
BUCKET = "bench"
WARM_UP = 30
OWNER = User("acme", "ann")
PLAIN, TUNED, USE_CASE, HANDLER = "put_object", "put_object, the adapter's settings", "use case", "handler"

Work = Callable[[], object]


@dataclass(frozen=True)
class Spent:
    """CPU milliseconds of one call by contender, over a tail of `kib`, writing `body_bytes`."""

    kib: int
    body_bytes: int
    milliseconds: Mapping[str, float]

    def ratio(self, contender: str) -> float:
        return self.milliseconds[contender] / self.milliseconds[PLAIN]


@dataclass(frozen=True)
class Session:
    """A session in the stub: its services, its head's key and what is appended to it."""

    services: Services
    session_id: str
    said: str

    @property
    def key(self) -> str:
        return OWNER.head(self.session_id)

    def read(self) -> object:
        """The head as it was, in the warm cache."""
        return self.services.heads.read(self.key)

    def append(self) -> object:
        message = MessageIn(role="user", content=self.said)
        return run_append(self.services, AppendRequest(OWNER, self.session_id, [message]))


def measure(*, quick: bool) -> list[Spent]:
    """One row per tail size."""
    with stub.running() as url:
        isolate({"AWS_ENDPOINT_URL_S3": url, "STRANDLINE_BUCKET": BUCKET, "STRANDLINE_TABLE": "bench"})
        return [_at(kib, 150 if quick else 800) for kib in SIZES_KIB]


def _at(kib: int, repetitions: int) -> Spent:
    used = _session(kib)
    stored = used.services.objects.get(used.key)
    assert stored is not None
    times = _interleaved(_contenders(used, stored.body), used.read, repetitions)
    quartiles = {name: 1000 * quantiles(found, n=4)[0] for name, found in times.items()}
    return Spent(kib, len(stored.body), quartiles)


def _interleaved(contenders: Mapping[str, Work], prepare: Work, repetitions: int) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in contenders}
    gc.collect()
    for n in range(WARM_UP + repetitions):
        for name in random.sample(list(contenders), len(contenders)):
            prepare()
            before = time.process_time()
            contenders[name]()
            if n >= WARM_UP:
                times[name].append(time.process_time() - before)
    return times


def _contenders(used: Session, body: bytes) -> dict[str, Work]:
    from functions.append.handler import handler
    from strandline.adapters import aws

    event = append_event(used.session_id, used.said)
    return {
        PLAIN: partial(_plain_client().put_object, Bucket=BUCKET, Key="bare", Body=body),
        TUNED: partial(aws.s3(aws.ONCE).put_object, Bucket=BUCKET, Key="bare", Body=body),
        USE_CASE: used.append,
        HANDLER: partial(handler, event, None),
    }


def _plain_client() -> Any:
    """boto3 as it comes, but for the payload's SHA-256, which it leaves out by itself over TLS."""
    import boto3
    from botocore.config import Config

    return boto3.client("s3", config=Config(s3={"payload_signing_enabled": False}))


def _session(kib: int) -> Session:
    """A session whose tail holds this much."""
    from strandline.entry.wiring import services

    rng = random.Random(kib)
    made = Session(services(), f"tail-{kib}", talk.said(rng))
    head = _grown(made, rng, kib)
    body = HeadCodec().encode(head, _stamp(rng))
    made.services.objects.put(made.key, body)
    return made


def _grown(used: Session, rng: random.Random, kib: int) -> Head:
    ids = rng.randbytes(IDS_KEPT * ID_HASH_BYTES)
    new = new_head(used.services, OWNER, used.session_id)
    head = replace(new, ids=ids, last_seq=IDS_KEPT, live_from=IDS_KEPT + 1, commit_count=10, completed=10)
    now = used.services.clock.now()
    while head.tail_bytes < kib * 1024:
        message = MessageIn(role="user", content=talk.said(rng))
        made = draft(message, message_id=f"msg_{rng.getrandbits(128):032x}", now=now, tokens=40)
        head, _ = session.append(head, [made], now=head.created_at)
    return head


def _stamp(rng: random.Random) -> Stamp:
    stamp = Stamp()
    for _ in range(WRITES_KEPT):
        stamp = stamp.next(f"{rng.getrandbits(128):032x}")
    return stamp


def append_event(session_id: str, said: str) -> dict[str, Any]:
    """What an HTTP API sends for one message (payload format 2.0), authorized."""
    path = f"/api/v1/sessions/{session_id}/messages"
    return {
        "version": "2.0",
        "routeKey": "POST /api/v1/sessions/{session_id}/messages",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {"content-type": "application/json", "x-api-key": "…", "host": "api.example"},
        "requestContext": {
            "http": {"method": "POST", "path": path, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1"},
            "authorizer": {
                "lambda": {"account_id": OWNER.account_id, "user_id": OWNER.user_id, "role": "user"}
            },
            "requestId": "bench",
            "stage": "$default",
        },
        "pathParameters": {"session_id": session_id},
        "body": json.dumps({"role": "user", "content": said}),
        "isBase64Encoded": False,
    }
