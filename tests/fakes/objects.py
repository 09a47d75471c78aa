"""A versioned bucket in memory."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, partial
from threading import Lock

from strandline.ports import (
    ERASED_AT_ONCE,
    Clock,
    Condition,
    ConditionFailed,
    IfAbsent,
    IfMatch,
    Place,
    Stored,
    Version,
    VersionPage,
)
from tests.fakes.faults import Faults
from tests.fakes.values import FakeClock


@dataclass(frozen=True)
class _Entry:
    """One version; without a body it is a delete marker."""

    version_id: str
    at: datetime
    body: bytes | None
    meta: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def etag(self) -> str:
        """What S3 answers for a single part without KMS: same bytes, same ETag."""
        return f'"{hashlib.md5(self.body or b"", usedforsecurity=False).hexdigest()}"'


class MemoryObjects:
    """`ports.ObjectStore`. Operations for `faults` and `calls`: get, put, delete, list (one per page), versions,
    get_version, versions_below, erase. `bytes` counts what each moved. A conditional GET that finds nothing new is a
    `get` of 0 bytes."""

    def __init__(self, clock: Clock | None = None, *, page: int = 1000) -> None:
        self.faults = Faults()
        self.bytes: Counter[str] = Counter()
        self._clock = clock or FakeClock()
        self._page = page
        self._entries: dict[str, list[_Entry]] = {}
        self._made = 0
        self._lock = Lock()

    @property
    def calls(self) -> Counter[str]:
        return self.faults.calls

    def everything(self) -> dict[str, list[bytes | None]]:
        """All versions by key, oldest first, a delete marker as None: for a test to look at, not counted."""
        with self._lock:
            return {key: [entry.body for entry in self._entries[key]] for key in sorted(self._entries)}

    def get(self, key: str) -> Stored | None:
        return self.faults.run("get", lambda: self._get(key, None))

    def get_unless(self, key: str, etag: str) -> Stored | None:
        stored = self.faults.run("get", lambda: self._get(key, etag))
        if stored is None:
            raise KeyError(key)
        return None if stored.etag == etag else stored

    def get_start(self, key: str, size: int) -> bytes | None:
        return self.faults.run("get", lambda: self._get_start(key, size))

    def put(
        self, key: str, body: bytes, *, when: Condition | None = None, meta: Mapping[str, str] | None = None
    ) -> str:
        return self.faults.run("put", lambda: self._put(key, body, when, meta or {}))

    def delete(self, key: str, *, when: IfMatch | None = None) -> None:
        self.faults.run("delete", lambda: self._put(key, None, when, {}))

    def keys(self, prefix: str, *, after: str = "") -> Iterator[str]:
        while True:
            page = self.faults.run("list", partial(self._keys, prefix, after))
            yield from page
            if len(page) < self._page:
                return
            after = page[-1]

    def versions(self, key: str) -> Sequence[Version]:
        def listed() -> list[Version]:
            with self._lock:
                return self._listed(key)

        return self.faults.run("versions", listed)

    def get_version(self, key: str, version_id: str) -> Stored:
        def read() -> Stored:
            with self._lock:
                found = [e for e in self._entries.get(key, []) if e.version_id == version_id]
            if not found or found[0].body is None:
                raise KeyError(key)
            self.bytes["get_version"] += len(found[0].body)
            return Stored(found[0].body, found[0].etag, found[0].meta)

        return self.faults.run("get_version", read)

    def versions_below(
        self, prefix: str, *, after: Place | None = None, limit: int = ERASED_AT_ONCE
    ) -> VersionPage:
        def listed() -> VersionPage:
            with self._lock:
                below = [
                    v for key in sorted(self._entries) if key.startswith(prefix) for v in self._listed(key)
                ]
            rest = [v for v in below if after is None or v.key > after[0] or _older(below, v, after)]
            page = rest[: min(limit, self._page)]
            return VersionPage(page, (page[-1].key, page[-1].version_id) if len(page) < len(rest) else None)

        return self.faults.run("versions_below", listed)

    def _listed(self, key: str) -> list[Version]:
        newest_first = self._entries.get(key, [])[::-1]
        return [Version(key, e.version_id, e.body is None, n == 0, e.at) for n, e in enumerate(newest_first)]

    def erase(self, versions: Sequence[Version]) -> None:
        assert len(versions) <= ERASED_AT_ONCE

        def remove() -> None:
            gone = {(v.key, v.version_id) for v in versions}
            with self._lock:
                for key in {v.key for v in versions} & self._entries.keys():
                    kept = [e for e in self._entries[key] if (key, e.version_id) not in gone]
                    self._entries[key] = kept
                    if not kept:
                        del self._entries[key]

        self.faults.run("erase", remove)

    def _current(self, key: str) -> _Entry | None:
        entries = self._entries.get(key)
        return entries[-1] if entries and entries[-1].body is not None else None

    def _get(self, key: str, unless: str | None) -> Stored | None:
        with self._lock:
            entry = self._current(key)
        if entry is None or entry.body is None:
            return None
        self.bytes["get"] += 0 if entry.etag == unless else len(entry.body)
        return Stored(entry.body, entry.etag, entry.meta)

    def _get_start(self, key: str, size: int) -> bytes | None:
        with self._lock:
            entry = self._current(key)
        if entry is None or entry.body is None:
            return None
        self.bytes["get"] += len(entry.body[:size])
        return entry.body[:size]

    def _put(self, key: str, body: bytes | None, when: Condition | None, meta: Mapping[str, str]) -> str:
        with self._lock:
            _check(self._current(key), when)
            self._made += 1
            # S3 says when in whole seconds
            entry = _Entry(f"v{self._made}", self._clock.now().replace(microsecond=0), body, meta)
            self._entries.setdefault(key, []).append(entry)
        self.bytes["put"] += len(body or b"")
        return entry.etag

    def _keys(self, prefix: str, after: str) -> list[str]:
        with self._lock:
            live = [k for k in self._entries if k.startswith(prefix) and k > after and self._current(k)]
        return sorted(live)[: self._page]


def _older(below: Sequence[Version], version: Version, after: Place) -> bool:
    """Whether the version comes behind that place, within its key."""
    ids = [v.version_id for v in below if v.key == after[0]]
    same = version.key == after[0]
    return same and after[1] in ids and ids.index(version.version_id) > ids.index(after[1])


def _check(current: _Entry | None, when: Condition | None) -> None:
    match when:
        case IfAbsent() if current is not None:
            raise ConditionFailed("412: there is an object")
        case IfMatch() if current is None:
            raise ConditionFailed("404: there is no object")
        case IfMatch(etag) if current is not None and current.etag != etag:
            raise ConditionFailed("412: another object")
