"""Follows what arrives, as `tail -f` does: by asking again, without a gap and without repeating itself."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeVar

from strandline_sdk.client import Client
from strandline_sdk.errors import ApiError
from strandline_sdk.model import JournalEntry, Session, StoredMessage

T = TypeVar("T")
_PAGE = 100
# How long after a journal entry one with a lower id may still appear: several functions write them, each with a
# clock of its own.
_LATE_SECONDS = 120.0


@dataclass(frozen=True)
class Follower:
    """Asks every `interval` seconds. A service that is away is asked until it is back; `on_away` hears of it.

    `on_missing` hears that a session does not exist yet.
    """

    client: Client
    interval: float = 1.0
    on_away: Callable[[ApiError], None] = lambda _: None
    on_missing: Callable[[], None] = lambda: None

    def messages(self, session_id: str, *, last: int = 10) -> Iterator[StoredMessage]:
        """The newest `last` messages of a session, then each that arrives; never ends by itself.

        The session need not exist yet. One that is deleted and made anew is followed from its first message: what
        was read counts only if the session was the same before and after. Raises ApiError for a refusal.
        """
        session = self._session(session_id)
        if session is None:
            self.on_missing()
        born, after = _birth(session), max(0, _total(session) - last)
        while True:
            if session and _birth(session) != born:
                born, after = _birth(session), 0
            if _total(session) <= after:
                self.client.sleep(self.interval)
                session = self._session(session_id)
                continue
            page = self._page(session_id, after, min(_PAGE, _total(session) - after))
            session = self._session(session_id)
            if page and _birth(session) == born:
                yield from page
                after = page[-1]["seq"]

    def journal(self, *, last: int = 10) -> Iterator[JournalEntry]:
        """The newest `last` changes of the user's memories, then each that happens; never ends by itself."""
        seen = _Seen()
        before = self._fresh(seen)
        yield from before[max(0, len(before) - last) :]
        while True:
            self.client.sleep(self.interval)
            yield from self._fresh(seen)

    def _session(self, session_id: str) -> Session | None:
        return self._asked(lambda: self.client.session(session_id))

    def _page(self, session_id: str, after: int, count: int) -> list[StoredMessage]:
        def read() -> list[StoredMessage]:
            return list(islice(self.client.messages(session_id, after_seq=after, page_size=count), count))

        return self._asked(read) or []

    def _fresh(self, seen: "_Seen") -> list[JournalEntry]:
        found = self._asked(lambda: list(self.client.journal(after=seen.settled(), page_size=_PAGE))) or []
        return [entry for entry in found if seen.add(entry["id"])]

    def _asked(self, ask: Callable[[], T]) -> T | None:
        """What the service answers, however long it takes; None for what does not exist."""
        while True:
            try:
                return ask()
            except ApiError as error:
                if error.status == 404:
                    return None
                if not error.retryable:
                    raise
                self.on_away(error)
                self.client.sleep(self.interval)


@dataclass
class _Seen:
    """The ids of a journal that were seen lately, and the newest that nothing late can come before any more."""

    clock: Callable[[], float] = time.monotonic
    lately: dict[str, float] = field(default_factory=dict)
    anchor: str | None = None

    def add(self, entry_id: str) -> bool:
        """Notes it; whether it is new."""
        if entry_id in self.lately:
            return False
        self.lately[entry_id] = self.clock()
        return True

    def settled(self) -> str | None:
        """From where to ask again. What is older is forgotten."""
        due = self.clock() - _LATE_SECONDS
        old = [entry_id for entry_id, at in self.lately.items() if at <= due]
        self.anchor = max([*old, *filter(None, [self.anchor])], default=None)
        self.lately = {i: at for i, at in self.lately.items() if self.anchor is None or i > self.anchor}
        return self.anchor


def _birth(session: Session | None) -> str | None:
    return session["created_at"] if session else None


def _total(session: Session | None) -> int:
    return session["total_message_count"] if session else 0
