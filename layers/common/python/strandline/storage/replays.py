"""What became of requests with an `Idempotency-Key`, kept for a day so that a repeat hears the first answer.

    pk                         sk                                             what
    REPLAYS#<account>/<user>   <sha-256 of role, method, path and key>        one request and its answer

    (none) ──claim──▶ running ──keep──▶ done ───────────▶ (expired)
       ▲               │    ▲
       │        forget │    │ claim again: its lease is over (whoever held it was killed), or was let go of
       └───────────────┘    │ by one who does not know what became of the request
                  let go ───┘

Every claim has a token, and what follows is written only while the record holds it: an attempt that comes back after
its lease can neither overwrite nor remove the answer of the one that took over. An answer over 16 KiB lies in an
object named by its claim, which is cheaper than the table (a write unit a KiB) and has no limit of 400 KiB. The table
deletes late, so expiry is compared here.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from strandline.domain.errors import Aborted, IdempotencyMismatch
from strandline.domain.names import encode
from strandline.domain.repeat import Repeat
from strandline.domain.times import parse, stamp
from strandline.ports import Clock, Ids, Item, Items, ObjectStore, StoreError
from strandline.storage.answered import answered
from strandline.storage.layout import User

KEPT = timedelta(hours=24)
LEASE = timedelta(seconds=30)  # a function is killed after 29
INLINE_BYTES = 16 * 1024
ATTEMPTS = 4


@dataclass(frozen=True)
class Request:
    """A request as it is recognised: whose, `name` for role, method, path and key, `fingerprint` for what it says."""

    owner: User
    name: str
    fingerprint: str

    @property
    def pk(self) -> str:
        return f"REPLAYS#{encode(self.owner.account_id)}/{encode(self.owner.user_id)}"


@dataclass(frozen=True)
class Claim:
    """The right to do a request, until the lease expires."""

    request: Request
    token: str
    at: str
    again: bool = False

    @property
    def repeat(self) -> Repeat:
        return _repeat(self.request, self.at, again=self.again)


@dataclass(frozen=True)
class Answer:
    """An HTTP answer. `body` None: it is not kept, so the request is to be run again."""

    status: int
    headers: Mapping[str, str]
    body: str | None


@dataclass(frozen=True)
class Kept:
    """A request that was done, and its answer."""

    answer: Answer
    repeat: Repeat


class _Taken(Exception):
    """Somebody else holds the record; `over` is what a claim over it must find."""

    def __init__(self, over: Item, at: str, *, again: bool) -> None:
        super().__init__()
        self.over, self.at, self.again = over, at, again


class Replays:
    """The requests with a key. New: two table writes a request; a replay: one refused write and one read."""

    def __init__(self, items: Items, objects: ObjectStore, clock: Clock, ids: Ids) -> None:
        self._items = items
        self._objects = objects
        self._clock = clock
        self._ids = ids

    def claim(self, request: Request) -> Claim | Kept:
        """The right to do this request, or its answer.

        Raises IdempotencyMismatch when the key came with another request; Aborted while an earlier attempt is at it,
        to be repeated after as long as that has been going on; Unavailable when the table does not answer.
        """
        claim = Claim(request, self._ids.new(), stamp(self._clock.now()))
        over: Item = {"pk": None}
        for _ in range(ATTEMPTS):
            if self._written(claim, over):
                return claim
            found = self._found(request)
            if found is None:
                over = {"pk": None}
            elif found["token"] == claim.token:
                return claim
            else:
                try:
                    return self._done(found, request)
                except _Taken as taken:
                    over = taken.over
                    claim = replace(claim, at=taken.at, again=taken.again)
        raise Aborted("another attempt of this request is under way; repeat it")

    def _written(self, claim: Claim, over: Item) -> bool:
        """Whether the claim is in the table; False also when that is unclear."""
        now = self._clock.now()
        row = {
            "pk": claim.request.pk,
            "sk": claim.request.name,
            "state": "running",
            "token": claim.token,
            "fingerprint": claim.request.fingerprint,
            "at": claim.at,
            "claimed_at": stamp(now),
            "until": stamp(now + LEASE),
            "expires_at": int((parse(claim.at) + KEPT).timestamp()),
        }
        try:
            self._items.put(row, when=over)
        except StoreError:
            return False
        return True

    def _found(self, request: Request) -> Item | None:
        with answered("the table did not answer; nothing was done, repeat the request"):
            return self._items.get(request.pk, request.name)

    def _done(self, found: Item, request: Request) -> Kept:
        """The answer in a record that another claim has made. Raises _Taken when it can be claimed."""
        now = self._clock.now()
        over = {"token": found["token"], "state": found["state"]}
        if found["expires_at"] <= now.timestamp():
            raise _Taken(over, stamp(now), again=False)
        if found["fingerprint"] != request.fingerprint:
            raise IdempotencyMismatch("this Idempotency-Key came with another request; give each its own key")
        if found["state"] == "done":
            repeat = _repeat(request, found["at"], again=True)
            return Kept(Answer(found["status"], found["headers"], self._body(found)), repeat)
        until = parse(found["until"])
        if until <= now:
            raise _Taken({**over, "until": found["until"]}, found["at"], again=True)
        waited = (now - parse(found["claimed_at"])) // timedelta(seconds=1)
        left = (until - now).total_seconds()
        raise Aborted(
            "an earlier attempt of this request is under way; repeat it to hear the answer"
        ).in_seconds(min(waited, left))

    def _body(self, found: Item) -> str | None:
        if found.get("object") is None:
            body: str | None = found["body"]
            return body
        with answered("the store did not answer; repeat the request"):
            stored = self._objects.get(found["object"])
        return stored.body.decode() if stored else None

    def keep(self, claim: Claim, answer: Answer) -> None:
        """The request is done. When a store does not answer, a repeat is run again after the lease."""
        body, key = answer.body, None
        with suppress(StoreError):
            if body is not None and len(body.encode()) > INLINE_BYTES:
                key = claim.request.owner.replay(f"{claim.request.name}-{claim.token}")
                self._objects.put(key, body.encode())
                body = None
            row = {"status": answer.status, "headers": dict(answer.headers), "body": body, "object": key}
            self._set(claim, {"state": "done", **row})

    def forget(self, claim: Claim) -> None:
        """Nothing was done: the key is free again."""
        request = claim.request
        with suppress(StoreError):
            self._items.delete(request.pk, request.name, when={"token": claim.token, "state": "running"})

    def let_go(self, claim: Claim) -> None:
        """Nobody knows whether it was done: the same request may be claimed again at once."""
        self._set(claim, {"until": stamp(self._clock.now())})

    def _set(self, claim: Claim, values: Mapping[str, Any]) -> None:
        request = claim.request
        held = {"token": claim.token, "state": "running"}
        with suppress(StoreError):
            self._items.update(request.pk, request.name, values, when=held)


def _repeat(request: Request, at: str, *, again: bool) -> Repeat:
    owner = f"{encode(request.owner.account_id)}/{encode(request.owner.user_id)}"
    return Repeat(f"{owner}/{request.name}/{request.fingerprint}", at, again)
