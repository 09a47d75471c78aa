"""Objects that never change, remembered by a warm function: the newest read ones, up to so many bytes in all."""

from collections import OrderedDict
from threading import Lock

from strandline.ports import Stored
from strandline.storage.once import Reads

LARGEST = 4  # of the room, one in so many is the most that a single object may take


class Warm:
    """`get` of a store, for keys that are written once. What is not there is asked for again."""

    def __init__(self, store: Reads, room: int) -> None:
        self._store = store
        self._room = room
        self._held = 0
        self._kept: OrderedDict[str, Stored] = OrderedDict()
        self._lock = Lock()

    def get(self, key: str) -> Stored | None:
        """The object, or None. Raises Ambiguous."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        stored = self._store.get(key)
        if stored is not None and len(stored.body) * LARGEST <= self._room:
            self._keep(key, stored)
        return stored

    def _keep(self, key: str, stored: Stored) -> None:
        with self._lock:
            if key not in self._kept:
                self._kept[key] = stored
                self._held += len(stored.body)
            while self._held > self._room:
                _, oldest = self._kept.popitem(last=False)
                self._held -= len(oldest.body)
