"""A document that many may change at once: read, apply a pure change, write on condition, resolve what is unclear.

    ┌─▶ read ──▶ change(value) ──▶ PUT If-Match / If-None-Match ──▶ done
    │                                   │ 412, 404      │ 409         │ no answer, 5xx
    │                                   ▼               ▼             ▼
    └────────── not mine ◀── re-read: is my write in it? ◀── wait ────┘
                                        └── mine ──▶ done, with the result of the attempt that landed

A function that remembers the document begins with the PUT. When that guess is refused, somebody else writes there
too: it reads again without waiting, and the next time it asks whether the document has changed (a GET without a body
while it has not) before it writes. A refused PUT costs twelve GETs; one document that is written by several functions
in turn would have one with every write.

Every body carries `revision` (monotone, so bytes never repeat and an ETag never means two states) and the newest
write ids with the revision each of them made. A write whose answer was lost is recognised by its id, also under what
others have written on top since. This is the only place that repeats on conflict; the adapters send each conditional
write exactly once, since an SDK that repeats a PUT whose answer was lost reports 412 on its own success.

Errors: whatever `change` raises passes through, nothing written. `Aborted` when the attempts are spent and every one
of them is known not to have been written. `Unavailable` when the last word is still out: repeating is safe for
changes that know their own work again (message ids, applied extractions).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Generic, Protocol, TypeVar

from strandline.domain import times
from strandline.domain.errors import Aborted, Corrupt, StrandlineError, Unavailable
from strandline.ports import (
    Ambiguous,
    Clock,
    Condition,
    ConditionFailed,
    Contended,
    Ids,
    IfAbsent,
    IfMatch,
    ObjectStore,
    Stored,
    StoreError,
)
from strandline.storage.answered import answered
from strandline.storage.cache import Cache

V = TypeVar("V")
R = TypeVar("R")

WRITES_KEPT = 32
WRITTEN_AT = "written-at"
Meta = Mapping[str, str]


@dataclass(frozen=True)
class Stamp:
    """What the store adds to a value: its revision, and the newest write ids with the revisions they made."""

    revision: int = 0
    writes: tuple[tuple[str, int], ...] = ()

    def next(self, write_id: str) -> "Stamp":
        revision = self.revision + 1
        return Stamp(revision, (*self.writes, (write_id, revision))[-WRITES_KEPT:])

    def made_by(self, write_id: str) -> int | None:
        """The revision this write made, if it is among the newest."""
        return next((revision for known, revision in self.writes if known == write_id), None)


@dataclass(frozen=True)
class Versioned(Generic[V]):
    """A value as stored, with its stamp and the ETag to write over it."""

    value: V
    stamp: Stamp
    etag: str


class Codec(Protocol[V]):
    """How a value and its stamp become bytes and come back."""

    def encode(self, value: V, stamp: Stamp, /) -> bytes: ...

    def decode(self, body: bytes, /) -> tuple[V, Stamp]: ...


@dataclass(frozen=True)
class Change(Generic[V, R]):
    """What a change wants: the new value (None: leave the document as it is), what to answer when it is written, and
    what to keep beside it. With `meta` goes `written-at`, the time of the attempt that landed: no part of the bytes,
    which are the same whenever they are written."""

    value: V | None
    result: R
    meta: Meta = field(default_factory=dict)


@dataclass(frozen=True)
class Retry:
    """Attempts after a read, none begun `seconds` after the first, and the waits between them: full jitter, the k-th
    (from 0) uniform in [0, min(cap, base·2^k)) seconds (AWS Architecture Blog, "Exponential Backoff And Jitter").

    The waits are some PUTs long at once and stop growing soon: of many writers one succeeds at a time, so short waits
    add refused PUTs, and ever longer ones let those starve that have waited longest."""

    attempts: int = 20
    base: float = 0.1
    cap: float = 0.8
    seconds: float = 15.0


class Documents(Generic[V]):
    """The documents of one kind. With `warm` > 0, that many newest values are kept with their ETags, and `update`
    tries its write before it reads, unless others write there too."""

    def __init__(  # noqa: PLR0913 - what it works with, and two habits that have defaults
        self,
        store: ObjectStore,
        codec: Codec[V],
        clock: Clock,
        ids: Ids,
        *,
        warm: int = 0,
        retry: Retry | None = None,
    ) -> None:
        self._store = store
        self._codec = codec
        self._clock = clock
        self._ids = ids
        self._retry = retry or Retry()
        self._cache: Cache[Versioned[V]] = Cache(warm, lambda _: 1)
        self.writes = self.conflicts = 0  # counted for the operator

    def read(self, key: str) -> Versioned[V] | None:
        """The document as it is now, or None. Raises Unavailable when the store does not answer."""
        with answered("the store did not answer; repeat the request"):
            stored = self._store.get(key)
        if stored is None:
            self._cache.forget(key)
            return None
        return self._remember(key, self._decoded(key, stored))

    def read_warm(self, key: str) -> Versioned[V] | None:
        """Like `read`, with a conditional GET when the document is in the cache: no body crosses the wire while it
        is unchanged."""
        known = self._cache.get(key)
        if known is None:
            return self.read(key)
        try:
            with answered("the store did not answer; repeat the request"):
                stored = self._store.get_unless(key, known.etag)
        except KeyError:
            self._cache.forget(key)
            return None
        if stored is None:
            self._cache.confirm(key)
            return known
        return self._remember(key, self._decoded(key, stored))

    def update(self, key: str, change: Callable[[V | None], Change[V, R]], *, absent: bool = False) -> R:
        """Applies `change` exactly once and answers its result. `change` is pure and may be called many times.

        `absent` says that there was no document a moment ago: creating one is tried before anything is read.
        """
        return _Update(self, key, change, self._ids.new()).run(self._cache.unshared(key), absent=absent)

    def _decoded(self, _key: str, stored: Stored) -> Versioned[V]:
        try:
            value, stamp = self._codec.decode(stored.body)
        except (ValueError, KeyError, TypeError) as error:
            raise Corrupt("a stored object cannot be read by this version of the service") from error
        return Versioned(value, stamp, stored.etag)

    def _prepared(self, _key: str, _base: Versioned[V] | None, value: V, _stamp: Stamp) -> V:
        """The value as it is to be written, now that what it refers to has been. Raises StoreError."""
        return value

    def _remember(self, key: str, entry: Versioned[V]) -> Versioned[V]:
        self._cache.keep(key, entry)
        return entry

    def write(
        self, key: str, base: Versioned[V] | None, value: V, write_id: str, meta: Meta | None = None
    ) -> Versioned[V]:
        """One conditional write over `base` (None: where nothing is). Raises the store's ConditionFailed, Contended or
        Ambiguous: for callers whose change depends on more than this document, who look at everything again."""
        stamp = (base.stamp if base else Stamp()).next(write_id)
        condition: Condition = IfMatch(base.etag) if base else IfAbsent()
        beside = {WRITTEN_AT: times.stamp(self._clock.now()), **meta} if meta else None
        try:
            value = self._prepared(key, base, value, stamp)
            etag = self._store.put(key, self._codec.encode(value, stamp), when=condition, meta=beside)
        except (ConditionFailed, Contended):
            self._cache.distrust(key)
            raise
        except StoreError:
            self._cache.forget(key)
            raise
        return self._remember(key, Versioned(value, stamp, etag))


class _Update(Generic[V, R]):
    """One call of `update`: its write id, and the result each attempt would have if it were the one that landed."""

    def __init__(
        self, documents: Documents[V], key: str, change: Callable[[V | None], Change[V, R]], write_id: str
    ) -> None:
        self._documents = documents
        self._key = key
        self._change = change
        self._write_id = write_id
        self._tried: dict[int, R] = {}
        self._unclear = False

    def run(self, warm: Versioned[V] | None, *, absent: bool) -> R:
        if warm is not None or absent:
            written = self._try_known(warm)
            if written is not None:
                return written.result
        last = self._documents._clock.now() + timedelta(seconds=self._documents._retry.seconds)
        for attempt in range(self._documents._retry.attempts):
            if attempt or self._unclear:
                self._wait(max(attempt - 1, 0))
            if attempt and self._documents._clock.now() > last:
                break
            outcome = self._attempt()
            if outcome is not None:
                return outcome.result
        landed = self._landed(
            self._documents.read_warm(self._key)
        )  # our own write may have refused its repeat
        if landed is not None:
            return landed.result
        raise self._given_up()

    def _try_known(self, known: Versioned[V] | None) -> Change[V, R] | None:
        """Only a write that succeeds counts: what a remembered value refuses, or leaves alone, a fresh one may not."""
        try:
            change = self._change(known.value if known else None)
        except StrandlineError:
            return None
        return None if change.value is None else self._put(known, change.value, change)

    def _attempt(self) -> Change[V, R] | None:
        base = self._documents.read_warm(self._key)
        landed = self._landed(base)
        if landed is not None:
            return landed
        if self._unclear and base and base.stamp.revision - min(self._tried) >= WRITES_KEPT:
            raise self._given_up()  # the write id may have been pushed out since: applying again might double
        change = self._change(base.value if base else None)
        return change if change.value is None else self._put(base, change.value, change)

    def _landed(self, base: Versioned[V] | None) -> Change[V, R] | None:
        revision = base.stamp.made_by(self._write_id) if base and self._tried else None
        return None if revision is None else Change(None, self._tried[revision])

    def _put(self, base: Versioned[V] | None, value: V, change: Change[V, R]) -> Change[V, R] | None:
        revision = (base.stamp.revision if base else 0) + 1
        self._tried[revision] = change.result
        try:
            self._documents.write(self._key, base, value, self._write_id, change.meta)
        except Ambiguous:
            self._unclear = True
            return None
        except (ConditionFailed, Contended):
            self._documents.conflicts += 1
            return None
        self._documents.writes += 1
        return change

    def _wait(self, attempt: int) -> None:
        retry = self._documents._retry
        limit = min(retry.cap, retry.base * 2.0**attempt)
        self._documents._clock.sleep(limit * self._documents._ids.fraction())

    def _given_up(self) -> Aborted | Unavailable:
        if self._unclear:
            return Unavailable(
                "the write was not answered; repeat the request: what has happened is not done twice"
            )
        return Aborted("too many writers at once; nothing was written, repeat the request")
