"""What a warm function remembers of its documents: those it used last, as many as there is room for.

Others may write the same documents. A key where somebody else was found to have written is shared: its entry still
saves the body of a read, but no write is tried over it until a read has found it unchanged.
"""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

E = TypeVar("E")


class Cache(Generic[E]):
    """The entries kept last, whose sizes come to at most `room`. The last one is kept whatever its size; with no room
    at all, none is."""

    def __init__(self, room: int, size: Callable[[E], int]) -> None:
        self._room = room
        self._size = size
        self._held = 0
        self._entries: OrderedDict[str, tuple[E, int]] = OrderedDict()
        self._shared: set[str] = set()
        self._lock = Lock()

    def get(self, key: str) -> E | None:
        """The entry, if it is remembered."""
        found = self._entries.get(key)
        return found[0] if found else None

    def unshared(self, key: str) -> E | None:
        """The entry, if it is remembered and the key is not shared."""
        return None if key in self._shared else self.get(key)

    def keep(self, key: str, entry: E) -> None:
        """Remembers the entry in place of what was there."""
        if not self._room:
            return
        with self._lock:
            self._drop(key)
            size = self._size(entry)
            self._entries[key] = entry, size
            self._held += size
            while len(self._entries) > 1 and self._held > self._room:
                oldest = next(iter(self._entries))
                self._drop(oldest)
                self._shared.discard(oldest)

    def forget(self, key: str) -> None:
        with self._lock:
            self._drop(key)
            self._shared.discard(key)

    def distrust(self, key: str) -> None:
        """Somebody else has written there."""
        with self._lock:
            if key in self._entries:
                self._shared.add(key)

    def confirm(self, key: str) -> None:
        """A read has found the entry unchanged."""
        self._shared.discard(key)

    def _drop(self, key: str) -> None:
        _, size = self._entries.pop(key, (None, 0))
        self._held -= size
