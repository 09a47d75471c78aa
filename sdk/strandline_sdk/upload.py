"""Stores imported sessions: batches of messages, then one commit, for several sessions at a time.

Safe to repeat: message ids come with the sessions, the service answers a known id as a duplicate, and a commit with
nothing new is skipped.
"""

import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass

from strandline_sdk.client import Client
from strandline_sdk.errors import ApiError
from strandline_sdk.importers import ImportedSession
from strandline_sdk.model import Message

MAX_BATCH_MESSAGES = 100
MAX_BATCH_BYTES = 2_000_000
# The service recognises at least this many of a session's newest message ids by itself.
IDS_RECOGNISED = 1000
# Statuses that are about what was sent. Any other failure would meet every session alike.
_OWN_FAULT = frozenset({400, 409, 413})


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
    """How sessions are stored: for which client, committed or not, and who hears of every batch."""

    client_for: Callable[[ImportedSession], Client]
    commit: bool = True
    on_messages: Callable[[int], None] = lambda _: None

    def upload(self, sessions: Iterable[ImportedSession], jobs: int) -> Iterator[Uploaded]:
        """Stores the sessions, `jobs` at a time, and yields each when it is done.

        At most 2 × `jobs` sessions are held in memory. Raises ApiError for a failure that is not one session's own,
        such as a refused key.
        """
        rest = iter(sessions)
        with ThreadPoolExecutor(jobs) as pool:
            running = {pool.submit(self.store, session) for session in itertools.islice(rest, 2 * jobs)}
            try:
                while running:
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    for future in done:
                        yield future.result()
                    running |= {
                        pool.submit(self.store, session) for session in itertools.islice(rest, len(done))
                    }
            finally:
                for future in running:
                    future.cancel()

    def store(self, session: ImportedSession) -> Uploaded:
        """Stores one session and commits it."""
        client = self.client_for(session)
        try:
            return self._store(client, session)
        except ApiError as error:
            if error.status not in _OWN_FAULT:
                raise
            return Uploaded(session.session_id, session.conversation, error=str(error))

    def _store(self, client: Client, session: ImportedSession) -> Uploaded:
        known = _known_ids(client, session.session_id)
        fresh = [message for message in session.messages if message.get("id") not in known]
        self.on_messages(len(session.messages) - len(fresh))
        added = 0
        for batch in batches(fresh):
            added += client.append_batch(session.session_id, batch)["added"]
            self.on_messages(len(batch))
        task_id = client.commit(session.session_id)["task_id"] if self.commit else None
        duplicates = len(session.messages) - added
        return Uploaded(session.session_id, session.conversation, added, duplicates, task_id)


def _known_ids(client: Client, session_id: str) -> set[str]:
    """The ids of what is stored already, where the service no longer recognises all of them by itself."""
    try:
        total = client.session(session_id).get("total_message_count", 0)
    except ApiError as error:
        if error.status == 404:
            return set()
        raise
    if total <= IDS_RECOGNISED:
        return set()
    return {message["id"] for message in client.messages(session_id)}


def batches(messages: Iterable[Message]) -> Iterator[list[Message]]:
    """The messages in order, in batches of at most 100 and about 2 MB; a larger message goes alone."""
    batch: list[Message] = []
    room = MAX_BATCH_BYTES
    for message in messages:
        size = len(json.dumps(message, ensure_ascii=False).encode())
        if batch and (len(batch) == MAX_BATCH_MESSAGES or size > room):
            yield batch
            batch, room = [], MAX_BATCH_BYTES
        batch.append(message)
        room -= size
    if batch:
        yield batch
