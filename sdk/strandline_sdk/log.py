"""The log of a session: appended to at its end, read from either, cut into archives by its commits."""

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import cast
from uuid import uuid4

from strandline_sdk.connection import Connection, given, segment, session_path
from strandline_sdk.model import Appended, Archive, BatchAppended, MemoryDiff, Message, StoredMessage

MAX_PAGE = 1_000


class Log(Connection):
    """The part of the client that writes and reads messages, and what became of them."""

    def append(self, session_id: str, message: Message, *, expected_last_seq: int | None = None) -> Appended:
        """Appends one message. One without an id gets one, so that a repeated request stores it once. Where the session
        is not at `expected_last_seq`, ApiError with `overtaken`, and nothing was written."""
        path = session_path(session_id, "/messages")
        body = {**_with_id(message), **given({"expected_last_seq": expected_last_seq})}
        return cast(Appended, self._write("POST", path, body))

    def append_batch(self, session_id: str, messages: Sequence[Message]) -> BatchAppended:
        """Appends 1 to 100 messages, all or none; `messages` of the answer says which were there before."""
        body = {"messages": [_with_id(message) for message in messages]}
        return cast(BatchAppended, self._write("POST", session_path(session_id, "/messages/batch"), body))

    def messages(
        self, session_id: str, *, after_seq: int = 0, page_size: int = 100
    ) -> Iterator[StoredMessage]:
        """The whole log in seq order, archived or live."""
        path = session_path(session_id, "/messages")
        while page := self._get(path, after_seq=after_seq, limit=page_size):
            yield from page
            after_seq = page[-1]["seq"]

    def newest_messages(self, session_id: str, *, page_size: int = 100) -> Iterator[StoredMessage]:
        """The whole log from its end backwards, archived or live."""
        path = session_path(session_id, "/messages")
        before: int | None = None
        while page := self._get(path, order="desc", before_seq=before, limit=page_size):
            yield from page
            before = page[-1]["seq"]
            if before == 1:
                return

    def last_messages(self, session_id: str, count: int) -> list[StoredMessage]:
        """The newest `count` messages in seq order."""
        newest = self.newest_messages(session_id, page_size=min(count, MAX_PAGE))
        return list(islice(newest, count))[::-1]

    def archives(self, session_id: str) -> list[Archive]:
        """The session's archives with their status."""
        return list(self._pages(session_path(session_id, "/archives")))

    def archive(self, session_id: str, archive_id: str) -> Archive:
        """One archive: abstract, overview, messages, seq range."""
        return cast(Archive, self._get(session_path(session_id, f"/archives/{segment(archive_id)}")))

    def diff(self, uri: str) -> MemoryDiff:
        """What an archive changed in the memories, by its `memory_diff_uri`, or what was learnt of it, by its
        `learn_diff_uri`."""
        return cast(MemoryDiff, json.loads(self._get("/content/read", uri=uri)))


def _with_id(message: Message) -> Message:
    return message if message.get("id") else {**message, "id": str(uuid4())}
