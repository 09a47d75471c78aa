"""Who is at something that is better done once at a time. A lease saves work and never makes anything right: what it
guards is decided by a conditional write.

    pk                         sk                                  what
    LEASES#<account>/<user>    <session>#<incarnation>#<what>      held by `token` `until` then (epoch milliseconds)

Each holder has a token of its own, so one whose lease is over cannot let go of its successor's. The table deletes
late, so `until` is compared here: by the condition of the write that takes the lease.
"""

from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Literal

from strandline.domain.contracts import SessionRef
from strandline.domain.names import encode
from strandline.ports import Ambiguous, Below, Clock, ConditionFailed, Items, StoreError
from strandline.storage.layout import user_of
from strandline.storage.records import leases

LEASE = timedelta(seconds=120)  # twice what a commit function has

LETTERS = timedelta(seconds=120)  # what a function has, and then what it took is hidden

SUMMARY = timedelta(seconds=600)  # an update that fails is tried again within this time

Matter = Literal["commit", "summary", "letters"]
_LONG: Mapping[Matter, timedelta] = {"commit": LEASE, "summary": SUMMARY, "letters": LETTERS}


class Leases:
    """One write to take, one to let go."""

    def __init__(self, items: Items, clock: Clock) -> None:
        self._items = items
        self._clock = clock

    def take(self, whose: SessionRef, what: Matter, token: str) -> bool:
        """Takes the lease; False while somebody else holds it. Raises Ambiguous when the table does not answer."""
        now = self._clock.now()
        until = now + _LONG[what]
        row = {
            "token": token,
            "until": int(until.timestamp() * 1000),
            "expires_at": int((until + _LONG[what]).timestamp()),
        }
        pk, sk = _key(whose, what)
        try:
            self._items.update(pk, sk, row, when={"until": Below(int(now.timestamp() * 1000) + 1)})
        except ConditionFailed:
            return False
        except Ambiguous:
            if (self._items.get(pk, sk) or {}).get("token") != token:
                raise
        return True

    def let_go(self, whose: SessionRef, what: Matter, token: str) -> None:
        """Lets go of the lease, if it is still this holder's; should the table not answer, it runs out."""
        with suppress(StoreError):
            self._items.delete(*_key(whose, what), when={"token": token})


def _key(whose: SessionRef, what: Matter) -> tuple[str, str]:
    return leases(user_of(whose)), f"{encode(whose.session_id)}#{whose.incarnation}#{what}"
