"""A counter of tokens that remembers: a long text that is shown again and again is counted once."""

import hashlib
from collections import OrderedDict
from threading import Lock

from strandline.ports import TokenCounter

KEPT = 4096
LONG = 1_000  # characters; to look up a shorter text takes as long as to count it


class Remembering:
    """`count` of another counter."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._known: OrderedDict[bytes, int] = OrderedDict()
        self._lock = Lock()

    def count(self, text: str) -> int:
        if len(text) < LONG:
            return self._counter.count(text)
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        with self._lock:
            if digest in self._known:
                self._known.move_to_end(digest)
                return self._known[digest]
        tokens = self._counter.count(text)
        with self._lock:
            self._known[digest] = tokens
            while len(self._known) > KEPT:
                self._known.popitem(last=False)
        return tokens
