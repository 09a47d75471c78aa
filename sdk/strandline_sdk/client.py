"""The service's routes as methods. What comes back is the JSON as it came, typed by `model`."""

import copy
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self, Unpack, cast
from urllib.parse import quote
from uuid import uuid4

import httpx

from strandline_sdk.model import (
    Appended,
    BatchAppended,
    Committed,
    FindOptions,
    Found,
    Memory,
    Message,
    Session,
    SessionSettings,
    Task,
)
from strandline_sdk.transport import Request, Retry, Transport

DEFAULT_URL = "http://127.0.0.1:8787"
API = "/api/v1"
ENDED = frozenset({"completed", "failed", "cancelled"})
_FIRST_POLL_SECONDS = 0.1
_LONGEST_POLL_SECONDS = 2.0


@dataclass
class Client:
    """A connection to the service at `url` (default STRANDLINE_URL) with `key` (default STRANDLINE_KEY).

    `account` and `user` say for whom an admin or root key acts. Every method raises ApiError when the service
    refuses; passing failures are repeated first, which is safe: appends carry message ids, other writes an
    Idempotency-Key. May be shared by threads. Raises ValueError for a URL or a name that cannot be sent.
    """

    url: str = field(default_factory=lambda: os.environ.get("STRANDLINE_URL", DEFAULT_URL))
    key: str = field(default_factory=lambda: os.environ.get("STRANDLINE_KEY", ""), repr=False)
    _: KW_ONLY
    account: str | None = None
    user: str | None = None
    timeout: float = 30.0
    retry: Retry = field(default_factory=Retry, repr=False)
    transport: httpx.BaseTransport | None = field(default=None, repr=False)
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)

    def __post_init__(self) -> None:
        http = httpx.Client(base_url=_checked_url(self.url), timeout=self.timeout, transport=self.transport)
        self._transport = Transport(http, self.retry, self.sleep)
        self._identity = _identity(self.key, self.account, self.user)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections, also those of the clients made by `acting_for`."""
        self._transport.http.close()

    def acting_for(self, user: str) -> "Client":
        """A client for another user of the account, over the same connections. Needs an admin or root key."""
        other = copy.copy(self)
        other.user = user
        other._identity = _identity(self.key, self.account, user)
        return other

    # ---- sessions --------------------------------------------------------------------------------------

    def create_session(self, session_id: str | None = None, **settings: Unpack[SessionSettings]) -> Session:
        """A new session, with a generated id when none is given; ALREADY_EXISTS when the id is taken."""
        body = {"session_id": session_id, **settings} if session_id else dict(settings)
        return cast(Session, self._write("POST", "/sessions", body))

    def session(self, session_id: str) -> Session:
        """The session's meta: counters, policies, archives."""
        return cast(Session, self._get(f"/sessions/{_segment(session_id)}"))

    def sessions(self, *, page_size: int = 100) -> Iterator[Session]:
        """All sessions, newest first, fetched page by page."""
        return cast(Iterator[Session], self._pages("/sessions", {"limit": page_size}))

    def delete_session(self, session_id: str) -> dict[str, Any]:
        """Removes every object of the session; its memories stay. Answers what was erased, per store."""
        return cast(dict[str, Any], self._call(Request("DELETE", f"/sessions/{_segment(session_id)}")))

    def append(self, session_id: str, message: Message) -> Appended:
        """Appends one message. One without an id gets one, so that a repeated request stores it once."""
        path = f"/sessions/{_segment(session_id)}/messages"
        return cast(Appended, self._call(Request("POST", path, body=_with_id(message))))

    def append_batch(self, session_id: str, messages: Sequence[Message]) -> BatchAppended:
        """Appends 1 to 100 messages, all or none; `messages` of the answer says which were there before."""
        path = f"/sessions/{_segment(session_id)}/messages/batch"
        body = {"messages": [_with_id(message) for message in messages]}
        return cast(BatchAppended, self._call(Request("POST", path, body=body)))

    def messages(
        self, session_id: str, *, after_seq: int = 0, page_size: int = 100
    ) -> Iterator[dict[str, Any]]:
        """The whole log in seq order, archived or live, fetched page by page."""
        path = f"/sessions/{_segment(session_id)}/messages"
        while page := self._get(path, {"after_seq": after_seq, "limit": page_size}):
            yield from page
            after_seq = page[-1]["seq"]

    def commit(self, session_id: str, *, keep_recent_count: int = 0) -> Committed:
        """Archives the live messages but the newest `keep_recent_count`, and starts their extraction."""
        path = f"/sessions/{_segment(session_id)}/commit"
        return cast(Committed, self._write("POST", path, {"keep_recent_count": keep_recent_count}))

    def context(self, session_id: str, *, token_budget: int | None = None) -> dict[str, Any]:
        """The overview of what is archived and the live messages, within the budget."""
        path = f"/sessions/{_segment(session_id)}/context"
        return cast(dict[str, Any], self._get(path, {"token_budget": token_budget}))

    def archives(self, session_id: str) -> list[dict[str, Any]]:
        """The session's archives with their status."""
        return list(self._pages(f"/sessions/{_segment(session_id)}/archives", {}))

    def archive(self, session_id: str, archive_id: str) -> dict[str, Any]:
        """One archive: abstract, overview, messages, seq range."""
        path = f"/sessions/{_segment(session_id)}/archives/{_segment(archive_id)}"
        return cast(dict[str, Any], self._get(path))

    # ---- tasks -----------------------------------------------------------------------------------------

    def task(self, task_id: str) -> Task:
        """The task as it stands."""
        return cast(Task, self._get(f"/tasks/{_segment(task_id)}"))

    def wait_for_task(self, task_id: str, *, timeout: float = 600.0) -> Task:
        """The task once it has ended, well or not. Raises TimeoutError after `timeout` seconds."""
        pauses = self._pauses(timeout)
        while (task := self.task(task_id))["status"] not in ENDED:
            if not next(pauses):
                raise TimeoutError(f"task {task_id} is still {task['status']} after {timeout:g} s")
        return task

    def wait_for_tasks(self, task_ids: Sequence[str], *, timeout: float = 600.0) -> Iterator[Task]:
        """Each task once it has ended, in the given order. Raises TimeoutError after `timeout` seconds in all."""
        deadline = time.monotonic() + timeout
        for task_id in task_ids:
            yield self.wait_for_task(task_id, timeout=max(0.0, deadline - time.monotonic()))

    def wait_for_archives(self, session_id: str, *, timeout: float = 600.0) -> Session:
        """The session once none of its archives is pending, whichever commit made them. Raises TimeoutError."""
        pauses = self._pauses(timeout)
        while (session := self.session(session_id)).get("archives", {}).get("pending", 0):
            if not next(pauses):
                raise TimeoutError(f"session {session_id} has pending archives after {timeout:g} s")
        return session

    # ---- memories --------------------------------------------------------------------------------------

    def memories(self, prefix: str | None = None, *, memory_type: str | None = None) -> Iterator[Memory]:
        """The memories, all or those under a path prefix or of a type, fetched page by page, without content."""
        return cast(Iterator[Memory], self._pages("/memories", {"prefix": prefix, "type": memory_type}))

    def memory(self, path: str) -> Memory:
        """One memory: its markdown without front matter as `content`, and what the front matter says as fields."""
        return cast(Memory, self._get(f"/memories/{_path(path)}"))

    def memory_file(self, uri: str) -> str:
        """The whole markdown file at a `viking://` address, front matter included."""
        return cast(str, self._get("/content/read", {"uri": uri}))

    def put_memory(
        self, path: str, content: str, *, if_match: str | None = None, new: bool = False
    ) -> Memory:
        """Writes a memory. `if_match` (a sha256) or `new` make it fail with FAILED_PRECONDITION on another state."""
        headers = {"If-Match": f'"{if_match}"'} if if_match else {"If-None-Match": "*"} if new else {}
        return cast(Memory, self._write("PUT", f"/memories/{_path(path)}", {"content": content}, headers))

    def delete_memory(self, path: str) -> None:
        """Deletes a memory; its history stays in the bucket's versions."""
        self._call(Request("DELETE", f"/memories/{_path(path)}"))

    def find(self, query: str, **options: Unpack[FindOptions]) -> Found:
        """Searches memories, or messages with `context_type="message"`; best first."""
        body = {"query": query, **_given(options)}
        return cast(Found, self._call(Request("POST", "/search/find", body=body)))

    def health(self) -> dict[str, Any]:
        """The service's version; needs no key."""
        return self._transport.send(Request("GET", "/health"))

    # ---- how ---------------------------------------------------------------------------------------------

    def _get(self, path: str, params: Mapping[str, Any] | None = None) -> Any:
        return self._call(Request("GET", path, params=_given(params or {})))

    def _write(self, method: str, path: str, body: object, headers: Mapping[str, str] | None = None) -> Any:
        once = {"Idempotency-Key": str(uuid4()), **(headers or {})}
        return self._call(Request(method, path, body=body, headers=once))

    def _call(self, request: Request) -> Any:
        return self._envelope(request)["result"]

    def _envelope(self, request: Request) -> dict[str, Any]:
        headers = {**self._identity, "Content-Type": "application/json", **request.headers}
        return self._transport.send(
            Request(request.method, API + request.path, request.params, request.body, headers)
        )

    def _pauses(self, timeout: float) -> Iterator[bool]:
        """Sleeps, longer each time, and says True; False, without sleeping, from `timeout` seconds on."""
        deadline = time.monotonic() + timeout
        pause = _FIRST_POLL_SECONDS
        while time.monotonic() < deadline:
            self.sleep(pause)
            yield True
            pause = min(pause * 1.5, _LONGEST_POLL_SECONDS)
        yield False

    def _pages(self, path: str, params: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        cursor: str | None = None
        while True:
            envelope = self._envelope(Request("GET", path, params=_given({**params, "cursor": cursor})))
            yield from envelope["result"]
            cursor = envelope.get("next_cursor")
            if not cursor:
                return


def _checked_url(url: str) -> str:
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise ValueError(f"not a URL: {error}") from error
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise ValueError("the service's URL must be like https://host or http://127.0.0.1:8787")
    return url


def _identity(key: str, account: str | None, user: str | None) -> dict[str, str]:
    headers = _given({"X-API-Key": key or None, "X-Strandline-Account": account, "X-Strandline-User": user})
    for name, value in headers.items():
        if not (value.isascii() and value.isprintable()):
            raise ValueError(f"{name} travels in an HTTP header: printable ASCII only")
    return headers


def _with_id(message: Message) -> Message:
    return message if message.get("id") else {**message, "id": str(uuid4())}


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _segment(text: str) -> str:
    return quote(text, safe="")


def _path(text: str) -> str:
    return quote(text.strip("/"), safe="/")
