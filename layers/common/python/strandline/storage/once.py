"""Objects that are written once and never change: whoever comes second finds the work done."""

from collections.abc import Mapping
from typing import Protocol

from strandline.domain.errors import Unavailable
from strandline.ports import Ambiguous, ConditionFailed, Contended, IfAbsent, ObjectStore, Stored
from strandline.storage.answered import answered

ATTEMPTS = 3


class Reads(Protocol):
    """The part of a store that reads one object."""

    def get(self, key: str) -> Stored | None: ...


def write_once(store: ObjectStore, key: str, body: bytes, meta: Mapping[str, str] | None = None) -> bool:
    """Sees to it that there is an object at `key`: this body, with `meta` beside it, or what was there before.

    Answers True when it is certainly this body. A repeat after a lost answer is refused by our own first write, which
    is as good, but not told apart from another's. Raises Unavailable when no attempt was answered.
    """
    for _ in range(ATTEMPTS):
        try:
            store.put(key, body, when=IfAbsent(), meta=meta)
        except ConditionFailed:
            return False
        except (Ambiguous, Contended):
            continue
        return True
    raise Unavailable("the store did not answer; repeat the request")


def fetch(store: Reads, key: str) -> bytes | None:
    """The object's bytes, or None. Raises Unavailable when the store does not answer."""
    with answered("the store did not answer; repeat the request"):
        stored = store.get(key)
    return None if stored is None else stored.body
