"""Stores imported sessions: batches of messages, then one commit, for several sessions at a time.

Safe to repeat, also after a kill at any point: message ids come with the sessions, a session that holds more than the
service recognises by itself is asked what it holds, and a commit with nothing new is skipped. The service is the only
memory of how far an import has come.
"""

import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Event

from strandline_sdk.client import Client
from strandline_sdk.errors import ApiError
from strandline_sdk.importers import Bad, ImportedSession, InputError, refuse
from strandline_sdk.importers.limits import body_bytes
from strandline_sdk.model import Message, Session

MAX_BATCH_MESSAGES = 100
MAX_BATCH_BYTES = 2_000_000
# The service recognises a session's newest thousand ids by itself. Half of them are left for what an interrupted
# import may still have under way: a request becomes at most 500 messages.
IDS_RECOGNISED = 500
# Statuses that are about what was sent. Any other failure would meet every session alike.
_OWN_FAULT = frozenset({400, 409, 413})
_REFUSED = frozenset({400, 413})
_FIELD = re.compile(r"messages\.(\d+)(?:\..*)?")


@dataclass(frozen=True)
class Uploaded:
    """What became of one session: messages stored and duplicates, the commit's task, or why it was refused."""

    session_id: str
    conversation: str
    stored: int = 0
    duplicates: int = 0
    task_id: str | None = None
    error: str | None = None


@dataclass(frozen=True)
class Uploader:
    """How sessions are stored: for which client, committed or not, and who hears of every batch.

    `resume` asks every session what it holds and sends only what it lacks. `on_refused` hears of a message that the
    service refuses; unless it raises that, which ends the session, the others are stored.
    """

    client_for: Callable[[ImportedSession], Client]
    commit: bool = True
    on_messages: Callable[[int], None] = lambda _: None
    resume: bool = False
    on_refused: Bad = refuse

    def upload(self, sessions: Iterable[ImportedSession], jobs: int) -> Iterator[Uploaded]:
        """Stores the sessions, `jobs` at a time, and yields each when it is done.

        At most 2 × `jobs` sessions are held in memory. Raises ApiError for a failure that is not one session's own,
        such as a refused key.
        """
        rest = iter(sessions)
        halt = Event()
        with ThreadPoolExecutor(jobs) as pool:
            running = {pool.submit(self.store, session, halt) for session in itertools.islice(rest, 2 * jobs)}
            try:
                while running:
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    for future in done:
                        yield future.result()
                    running |= {
                        pool.submit(self.store, session, halt)
                        for session in itertools.islice(rest, len(done))
                    }
            finally:
                halt.set()
                for future in running:
                    future.cancel()

    def store(self, session: ImportedSession, halt: Event | None = None) -> Uploaded:
        """Stores one session and commits it. Once `halt` is set, no further request is begun."""
        client = self.client_for(session)
        try:
            return self._store(client, session, halt or Event())
        except ApiError as error:
            if error.status not in _OWN_FAULT:
                raise
            return Uploaded(session.session_id, session.conversation, error=str(error))
        except InputError as error:
            return Uploaded(session.session_id, session.conversation, error=str(error))

    def _store(self, client: Client, session: ImportedSession, halt: Event) -> Uploaded:
        found = _found(client, session.session_id)
        known = self._known_ids(client, found) if found else frozenset()
        fresh = [message for message in session.messages if message.get("id") not in known]
        self.on_messages(len(session.messages) - len(fresh))
        added = refused = 0
        for batch in batches(fresh):
            if halt.is_set():
                raise ApiError("UNAVAILABLE", "the import was ended", retryable=True)
            sent, new = self._append(client, session, batch)
            added, refused = added + new, refused + len(batch) - sent
            self.on_messages(len(batch))
        complete = self.resume and found is not None and not fresh and found.get("message_count") == 0
        task_id = client.commit(session.session_id)["task_id"] if self.commit and not complete else None
        duplicates = len(session.messages) - added - refused
        return Uploaded(session.session_id, session.conversation, added, duplicates, task_id)

    def _append(self, client: Client, session: ImportedSession, batch: list[Message]) -> tuple[int, int]:
        """How many messages were taken, and how many of them were new; those that are refused by name are left out."""
        while batch:
            try:
                return len(batch), client.append_batch(session.session_id, batch)["added"]
            except ApiError as error:
                batch = self._without_refused(session, batch, error)
        return 0, 0

    def _without_refused(
        self, session: ImportedSession, batch: list[Message], error: ApiError
    ) -> list[Message]:
        refused = _refused(error, batch)
        if not refused or not session.places:
            raise error
        for message, place in zip(session.messages, session.places, strict=True):
            if message["id"] in refused:
                self.on_refused(InputError(place, str(error)))
        return [message for message in batch if message["id"] not in refused]

    def _known_ids(self, client: Client, found: Session) -> frozenset[str]:
        """The ids of what is stored already: all, or where the service no longer recognises all of them by itself."""
        total = found.get("total_message_count", 0)
        if total <= (0 if self.resume else IDS_RECOGNISED):
            return frozenset()
        return frozenset(message["id"] for message in client.messages(found["session_id"], page_size=1000))


def _found(client: Client, session_id: str) -> Session | None:
    try:
        return client.session(session_id)
    except ApiError as error:
        if error.status == 404:
            return None
        raise


def _refused(error: ApiError, batch: list[Message]) -> set[str]:
    """The ids of the messages that a refusal names."""
    if error.status not in _REFUSED:
        return set()
    fields = (str(problem.get("field")) for problem in error.details.get("validation_errors") or ())
    numbers = {int(match[1]) for match in map(_FIELD.fullmatch, fields) if match}
    by_number = {message["id"] for n, message in enumerate(batch) if n in numbers}
    return by_number | {m["id"] for m in batch if m["id"] == error.details.get("message_id")}


def batches(messages: Iterable[Message]) -> Iterator[list[Message]]:
    """The messages in order, in batches of at most 100 and about 2 MB; a larger message goes alone."""
    batch: list[Message] = []
    room = MAX_BATCH_BYTES
    for message in messages:
        size = body_bytes(message)
        if batch and (len(batch) == MAX_BATCH_MESSAGES or size > room):
            yield batch
            batch, room = [], MAX_BATCH_BYTES
        batch.append(message)
        room -= size
    if batch:
        yield batch
