"""Objects that are written once are rewritten by nobody but a scrub, which takes secrets out of them.

Under the same key, and only over exactly what was read: whoever else writes there wins, and is looked at again.
"""

from collections.abc import Callable

from strandline.domain.errors import Unavailable
from strandline.ports import Ambiguous, ConditionFailed, Contended, IfMatch, ObjectStore
from strandline.storage.answered import answered

ATTEMPTS = 5


def rewrite(store: ObjectStore, key: str, clean: Callable[[bytes], bytes]) -> None:
    """Puts what `clean` makes of the object in its place; what stays the same, or is not there, is left alone.

    Raises Unavailable when no attempt was answered; repeating is safe.
    """
    for _ in range(ATTEMPTS):
        with answered("the store did not answer; repeat the request"):
            stored = store.get(key)
        body = clean(stored.body) if stored else b""
        if stored is None or body == stored.body:
            return
        try:
            store.put(key, body, when=IfMatch(stored.etag), meta=stored.meta or None)
        except (ConditionFailed, Contended, Ambiguous):
            continue
        return
    raise Unavailable("the store did not answer, or somebody writes there all the time; repeat the request")
