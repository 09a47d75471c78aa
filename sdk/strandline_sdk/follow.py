"""Follows what arrives, as `tail -f` does: by asking again, without a gap and without repeating itself."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from strandline_sdk.client import Client
from strandline_sdk.errors import ApiError
from strandline_sdk.model import JournalEntry, Session, StoredMessage

T = TypeVar("T")
_PAGE = 100


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
        """The newest `last` events of the journal, then each that happens; never ends by itself.

        The service numbers them without a gap, so a reader that asks for those behind the last one misses none.
        """
        found = self._events(None)
        after = found[-1]["id"] if found else None
        yield from found[max(0, len(found) - last) :]
        while True:
            self.client.sleep(self.interval)
            for event in self._events(after):
                yield event
                after = event["id"]

    def _session(self, session_id: str) -> Session | None:
        return self._asked(lambda: self.client.session(session_id))

    def _page(self, session_id: str, after: int, count: int) -> list[StoredMessage]:
        def read() -> list[StoredMessage]:
            return list(islice(self.client.messages(session_id, after_seq=after, page_size=count), count))

        return self._asked(read) or []

    def _events(self, after: str | None) -> list[JournalEntry]:
        return self._asked(lambda: list(self.client.journal(after=after, page_size=_PAGE))) or []

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


def _birth(session: Session | None) -> str | None:
    return session["created_at"] if session else None


def _total(session: Session | None) -> int:
    return session["total_message_count"] if session else 0
