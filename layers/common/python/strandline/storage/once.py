"""Objects that are written once and never change: whoever comes second finds the work done."""

from strandline.domain.errors import Unavailable
from strandline.ports import Ambiguous, ConditionFailed, Contended, IfAbsent, ObjectStore, StoreError

ATTEMPTS = 3


def write_once(store: ObjectStore, key: str, body: bytes) -> None:
    """Sees to it that there is an object at `key`: this body, or what was there before.

    A repeat after a lost answer is refused by our own first write, which is as good. Raises Unavailable when no
    attempt was answered.
    """
    for _ in range(ATTEMPTS):
        try:
            store.put(key, body, when=IfAbsent())
        except ConditionFailed:
            return
        except (Ambiguous, Contended):
            continue
        return
    raise Unavailable("the store did not answer; repeat the request")


def fetch(store: ObjectStore, key: str) -> bytes | None:
    """The object's bytes, or None. Raises Unavailable when the store does not answer."""
    try:
        stored = store.get(key)
    except StoreError as error:
        raise Unavailable("the store did not answer; repeat the request") from error
    return None if stored is None else stored.body
