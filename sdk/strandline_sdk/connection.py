"""A connection: where, as whom, and how requests are made safe to repeat. `client` puts the routes on it."""

import copy
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self
from urllib.parse import quote
from uuid import uuid4

import httpx

from strandline_sdk.transport import Request, Retry, Transport

DEFAULT_URL = "http://127.0.0.1:8787"
API = "/api/v1"
_FIRST_POLL_SECONDS = 0.1
_LONGEST_POLL_SECONDS = 2.0


@dataclass
class Connection:
    """The service at `url` (default STRANDLINE_URL), asked with `key` (default STRANDLINE_KEY).

    `account` and `user` say for whom an admin or root key acts, `actor_peer` which peer is acting. Every method
    raises ApiError when the service refuses. Passing failures are repeated first, which is safe: every write carries
    an Idempotency-Key. Without `idempotency_keys` the service is spared two small table writes a request; appends
    stay safe by their message ids. May be shared by threads. Raises ValueError for a URL or a name that cannot be sent.
    """

    url: str = field(default_factory=lambda: os.environ.get("STRANDLINE_URL", DEFAULT_URL))
    key: str = field(default_factory=lambda: os.environ.get("STRANDLINE_KEY", ""), repr=False)
    _: KW_ONLY
    account: str | None = None
    user: str | None = None
    actor_peer: str | None = None
    idempotency_keys: bool = True
    timeout: float = 30.0
    retry: Retry = field(default_factory=Retry, repr=False)
    transport: httpx.BaseTransport | None = field(default=None, repr=False)
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)

    def __post_init__(self) -> None:
        http = httpx.Client(base_url=_checked_url(self.url), timeout=self.timeout, transport=self.transport)
        self._transport = Transport(http, self.retry, self.sleep)
        self._headers = self._identity()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections, also those of the clients made by `acting_for`."""
        self._transport.http.close()

    def acting_for(self, user: str) -> Self:
        """A client for another user of the account, over the same connections. Needs an admin or root key."""
        other = copy.copy(self)
        other.user = user
        other._headers = other._identity()
        return other

    def health(self) -> dict[str, Any]:
        """The service's version; needs no key."""
        return self._transport.send(Request("GET", "/health"))

    # ---- how ---------------------------------------------------------------------------------------------

    def _get(self, path: str, **params: Any) -> Any:
        return self._call(Request("GET", path, params=params))

    def _write(self, method: str, path: str, body: object, headers: Mapping[str, str] | None = None) -> Any:
        """A request that changes something: repeated with the same key, it is answered as it was at first."""
        once = {"Idempotency-Key": str(uuid4())} if self.idempotency_keys else {}
        return self._call(Request(method, path, body=body, headers={**once, **(headers or {})}))

    def _call(self, request: Request) -> Any:
        return self._envelope(request)["result"]

    def _envelope(self, request: Request) -> dict[str, Any]:
        headers = {**self._headers, "Content-Type": "application/json", **request.headers}
        params = given(request.params)
        return self._transport.send(
            Request(request.method, API + request.path, params, request.body, headers)
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

    def _pages(self, path: str, **params: Any) -> Iterator[Any]:
        cursor: str | None = None
        while True:
            envelope = self._envelope(Request("GET", path, params={**params, "cursor": cursor}))
            yield from envelope["result"]
            cursor = envelope.get("next_cursor")
            if not cursor:
                return

    def _results(self, path: str) -> Iterator[Any]:
        """The results of a list whose pages say more than their items, page by page."""
        cursor: str | None = None
        while True:
            envelope = self._envelope(Request("GET", path, params={"cursor": cursor}))
            yield envelope["result"]
            cursor = envelope.get("next_cursor")
            if not cursor:
                return

    def _rolled_back(self, path: str, body: Mapping[str, Any]) -> Any:
        """Asks page by page until nothing is left to be changed; answers all pages as one."""
        changed, conflicts, cursor = [], [], None
        while True:
            once = {"Idempotency-Key": str(uuid4())} if self.idempotency_keys else {}
            wanted = {**body, "cursor": cursor} if cursor else body
            envelope = self._envelope(Request("POST", path, body=wanted, headers=once))
            changed += envelope["result"]["changed"]
            conflicts += envelope["result"]["conflicts"]
            cursor = envelope.get("next_cursor")
            if not cursor:
                return {"changed": changed, "conflicts": conflicts}

    def _identity(self) -> dict[str, str]:
        headers = given(
            {
                "X-API-Key": self.key or None,
                "X-Strandline-Account": self.account,
                "X-Strandline-User": self.user,
                "X-Strandline-Actor-Peer": self.actor_peer,
            }
        )
        for name, value in headers.items():
            if not (value.isascii() and value.isprintable()):
                raise ValueError(f"{name} travels in an HTTP header: printable ASCII only")
        return headers


def _checked_url(url: str) -> str:
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise ValueError(f"not a URL: {error}") from error
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise ValueError("the service's URL must be like https://host or http://127.0.0.1:8787")
    return url


def given(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that are not None."""
    return {name: value for name, value in options.items() if value is not None}


def segment(text: str) -> str:
    """One segment of a URL's path."""
    return quote(text, safe="")


def session_path(session_id: str, rest: str = "") -> str:
    """Where a session is, or what is below it."""
    return f"/sessions/{segment(session_id)}{rest}"


def memory_path(path: str) -> str:
    """Where a memory is; its own slashes stay."""
    return f"/memories/{quote(path.strip('/'), safe='/')}"
