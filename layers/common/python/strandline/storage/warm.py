"""Objects that are written once, remembered by a warm function: the newest read ones, up to so many bytes in all.

Not for long: a scrub may take a secret out of one (`storage/rewriting.py`), which must be gone when the scrub ends.
"""

from collections import OrderedDict
from datetime import datetime, timedelta
from threading import Lock

from strandline.ports import Clock, Stored
from strandline.storage.once import Reads

LARGEST = 4  # of the room, one in so many is the most that a single object may take
KEPT = timedelta(minutes=1)


class Warm:
    """`get` of a store, for keys that are written once. What is not there is asked for again, and so is what was read
    more than a minute ago."""

    def __init__(self, store: Reads, room: int, clock: Clock) -> None:
        self._store = store
        self._room = room
        self._clock = clock
        self._held = 0
        self._kept: OrderedDict[str, tuple[Stored, datetime]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: str) -> Stored | None:
        """The object, or None. Raises Ambiguous."""
        now = self._clock.now()
        with self._lock:
            known = self._known(key, now)
        if known is not None:
            return known
        stored = self._store.get(key)
        if stored is not None and len(stored.body) * LARGEST <= self._room:
            with self._lock:
                self._keep(key, stored, now)
        return stored

    def _known(self, key: str, now: datetime) -> Stored | None:
        if key not in self._kept:
            return None
        stored, since = self._kept[key]
        if since + KEPT < now:
            self._forget(key)
            return None
        self._kept.move_to_end(key)
        return stored

    def _keep(self, key: str, stored: Stored, now: datetime) -> None:
        self._forget(key)
        self._kept[key] = stored, now
        self._held += len(stored.body)
        while self._held > self._room:
            self._forget(next(iter(self._kept)))

    def _forget(self, key: str) -> None:
        found = self._kept.pop(key, None)
        self._held -= len(found[0].body) if found else 0
