"""How many requests an account may still make this minute.

    pk                   sk            what
    QUOTA#<account>      <minute>      `taken`: requests handed out to functions in this minute of UTC

A function takes requests in chunks, with one atomic addition, and lets them through from what it has. The first chunk
of a minute is one request, each further one twice as many, up to a twentieth of the limit: so a function never holds
more than it has let through already, and a busy one writes about twenty times a minute. What is handed out adds up
to the limit and no more; what other functions hold and do not use makes a refusal early. Once the minute is used up,
nothing is asked until the next.

When the table does not answer, requests pass: a limit protects a deployment from its users, and losing what they say
would be the greater harm.
"""

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

from strandline.domain.errors import ResourceExhausted
from strandline.domain.names import encode
from strandline.ports import Clock, Items, StoreError
from strandline.storage.accounts import Accounts

MINUTE = 60
KEPT_SECONDS = 600
WINDOWS_KEPT = 1_000
SHARE = 20
MAX_CHUNK = 500


@dataclass
class _Window:
    """What a function knows of an account's minute: `left` has been handed out to it, `chunk` is what it takes next."""

    minute: int
    limit: int
    left: int = 0
    chunk: int = 1
    spent: bool = False


class Quotas:
    """The minutes of the accounts that a warm function saw last."""

    def __init__(self, items: Items, accounts: Accounts, clock: Clock) -> None:
        self._items = items
        self._accounts = accounts
        self._clock = clock
        self._windows: OrderedDict[str, _Window] = OrderedDict()
        self._lock = Lock()

    def admit(self, account_id: str, default: int) -> None:
        """Lets one request through. `default` is the limit of an account that has none of its own; 0 is no limit.

        Raises ResourceExhausted, to be repeated in the next minute.
        """
        now = self._clock.now().timestamp()
        with self._lock:
            window = self._window(account_id, int(now // MINUTE), default)
            if window.limit == 0:
                return
            if window.left == 0 and not window.spent:
                self._take(account_id, window)
            if window.left > 0:
                window.left -= 1
                return
        raise ResourceExhausted(
            f"more than {window.limit} requests in this minute; repeat it in the next"
        ).in_seconds(MINUTE - now % MINUTE)

    def _window(self, account_id: str, minute: int, default: int) -> _Window:
        window = self._windows.pop(account_id, None)
        if window is None or window.minute != minute:
            window = _Window(minute, self._limit(account_id, default))
        self._windows[account_id] = window
        while len(self._windows) > WINDOWS_KEPT:
            self._windows.popitem(last=False)
        return window

    def _limit(self, account_id: str, default: int) -> int:
        try:
            own = self._accounts.settings(account_id).get("requests_per_minute")
        except StoreError:
            return default
        return default if own is None else int(own)

    def _take(self, account_id: str, window: _Window) -> None:
        taken = self._taken(account_id, window)
        window.left = window.chunk if taken is None else max(0, window.chunk - max(0, taken - window.limit))
        window.spent = taken is not None and taken >= window.limit
        window.chunk = min(2 * window.chunk, max(1, window.limit // SHARE), MAX_CHUNK)

    def _taken(self, account_id: str, window: _Window) -> int | None:
        """All that functions have taken of this minute, this chunk included; None when the table does not answer."""
        expires = {"expires_at": window.minute * MINUTE + KEPT_SECONDS}
        pk = f"QUOTA#{encode(account_id)}"
        try:
            return self._items.add(pk, str(window.minute), "taken", window.chunk, values=expires)
        except StoreError:
            return None
