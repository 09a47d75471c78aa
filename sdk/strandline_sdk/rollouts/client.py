"""Asks a rollout service: its cases, rollouts of them, and how far these are.

What passes (408, 429, 5xx, no answer) is asked again. An execution that is not found may not be there yet, or not yet
again after a restart: it is looked for a minute more. Time is that of the clock that is given.

No answer is waited for without end: each piece of it has `timeout` seconds to come, the whole `Patience.answer`, and it
is cut off at 64 MB.
"""

import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar, cast
from urllib.parse import quote

import httpx

from strandline_sdk.errors import ApiError
from strandline_sdk.rollouts import checks
from strandline_sdk.rollouts.clock import Clock, SystemClock
from strandline_sdk.rollouts.model import (
    IDEMPOTENCY_KEY,
    POLICY_TOKEN,
    Case,
    CasesQuery,
    ExecuteRequest,
    Execution,
    Health,
)

_PASSING = frozenset({408, 429})
_LONGEST_PAUSE = 30.0
_MESSAGE_CHARS = 500
_PAGE = 100
MAX_ANSWER_BYTES = 64_000_000
DEEPEST = 100
"""Levels of an answer: whoever goes through it by recursion comes to its end."""

MAX_PAGES = 1_000
Headers = Mapping[str, str]
T = TypeVar("T")


@dataclass(frozen=True)
class Patience:
    """In seconds: how often to look, how long for one rollout, for one that is not found, for a service that is away,
    and for an answer that has begun."""

    poll: float = 2.0
    timeout: float = 3_600.0
    missing: float = 60.0
    away: float = 300.0
    answer: float = 120.0


@dataclass
class RolloutClient:
    """The service at `url`; `access_token` is what it asks of its callers, if it does. May be shared by threads.

    Raises ApiError for what a service refuses, for answers that are not of the protocol, and for a service that is away
    for too long.
    """

    url: str
    access_token: str | None = field(default=None, repr=False)
    patience: Patience = field(default_factory=Patience)
    clock: Clock = field(default_factory=SystemClock, repr=False)
    transport: httpx.BaseTransport | None = field(default=None, repr=False)
    timeout: float = 30.0

    def __post_init__(self) -> None:
        headers = {"Authorization": f"Bearer {self.access_token}"} if self.access_token else {}
        pool = httpx.Limits(max_connections=None, max_keepalive_connections=100)
        self._http = httpx.Client(
            base_url=self.url, timeout=self.timeout, headers=headers, limits=pool, transport=self.transport
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def health(self) -> Health:
        """How the service is, and how many rollouts it runs at a time. One look: whoever begins is told at once that
        nobody is there."""
        return _checked(checks.health, self._once("GET", "/health", None, {}))

    def cases(
        self, dataset: str, domain: str, split: str, filters: Mapping[str, Any] | None = None
    ) -> Iterator[Case]:
        """The cases of a split, page by page, in the service's order. The first page is asked for once, as health
        is: whoever begins is told at once what is wrong."""
        cursor: str | None = None
        seen: set[str] = set()
        while True:
            query: CasesQuery = {
                "dataset": dataset,
                "domain": domain,
                "split": split,
                "cursor": cursor,
                "limit": _PAGE,
                "filters": dict(filters or {}),
            }
            answer = (self._ask if cursor else self._once)("POST", "/v1/cases/query", query, {})
            page = _checked(checks.case_page, answer)
            yield from page["cases"]
            cursor = page["next_cursor"]
            if cursor is None:
                return
            if cursor in seen:
                raise ApiError("INTERNAL", "the rollout service gives a page of cases again and again")
            seen.add(cursor)
            if len(seen) >= MAX_PAGES:
                raise ApiError(
                    "INTERNAL", f"the rollout service has more than {MAX_PAGES} pages of cases: use filters"
                )

    def execute(
        self, request: ExecuteRequest, *, key: str | None = None, policy_token: str | None = None
    ) -> Execution:
        """Starts a rollout; with a `key`, the one that was started with it before, if there is one."""
        headers = {IDEMPOTENCY_KEY: key, POLICY_TOKEN: policy_token}
        given = {name: value for name, value in headers.items() if value}
        return _checked(checks.execution, self._ask("POST", "/v1/rollouts/execute", request, given))

    def execution(self, execution_id: str) -> Execution:
        """How far a rollout is. One look: nothing is repeated."""
        answer = self._once("GET", f"/v1/rollouts/executions/{quote(execution_id, safe='')}", None, {})
        return _checked(checks.execution, answer)

    def wait(self, execution_id: str) -> Execution:
        """The execution once it has ended, well or not. Raises TimeoutError."""
        end = self.clock.monotonic() + self.patience.timeout
        troubled: float | None = None
        while True:
            try:
                found = self.execution(execution_id)
                troubled = None
                if found["status"] != "running":
                    return found
            except ApiError as error:
                troubled = self._still_patient(error, troubled)
            if self.clock.monotonic() + self.patience.poll > end:
                raise TimeoutError(f"rollout {execution_id} has not ended in {self.patience.timeout:g} s")
            self.clock.sleep(self.patience.poll)

    def _still_patient(self, error: ApiError, since: float | None) -> float:
        """When the trouble began. Raises the error when it is none that passes, or has not passed for too long."""
        now = self.clock.monotonic()
        began = now if since is None else since
        allowed = self.patience.missing if error.status == 404 else self.patience.away
        if (error.status != 404 and not error.retryable) or now - began > allowed:
            raise error
        return began

    def _ask(self, method: str, path: str, body: object = None, headers: Headers | None = None) -> Any:
        began = self.clock.monotonic()
        pause = 1.0
        while True:
            try:
                return self._once(method, path, body, headers or {})
            except ApiError as error:
                if not error.retryable or self.clock.monotonic() - began > self.patience.away:
                    raise
                asked = min(error.retry_after or 0.0, _LONGEST_PAUSE)
            self.clock.sleep(asked + random.SystemRandom().uniform(pause / 2, pause))
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _once(self, method: str, path: str, body: object, headers: Headers) -> Any:
        end = self.clock.monotonic() + self.patience.answer
        try:
            with self._http.stream(method, path, json=body, headers=dict(headers)) as response:
                raw = b"".join(self._pieces(response, end))
        except httpx.RequestError as error:
            raise self._unanswered(type(error).__name__) from error
        if response.is_success:
            return _json(raw)
        raise _refusal(response, raw)

    def _pieces(self, response: httpx.Response, end: float) -> Iterator[bytes]:
        size = 0
        for piece in response.iter_bytes():
            size += len(piece)
            if size > MAX_ANSWER_BYTES:
                raise ApiError(
                    "INTERNAL", f"the rollout service's answer is longer than {MAX_ANSWER_BYTES} bytes"
                )
            if self.clock.monotonic() > end:
                raise self._unanswered(f"not whole after {self.patience.answer:g} s")
            yield piece

    def _unanswered(self, why: str) -> ApiError:
        where = f"{self._http.base_url.host}:{self._http.base_url.port or self._http.base_url.scheme}"
        message = f"no answer from the rollout service at {where} ({why}): is it running there?"
        return ApiError("UNAVAILABLE", message, retryable=True)


def _json(raw: bytes) -> Any:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise ApiError("INTERNAL", "the rollout service's answer is no JSON") from error
    if _is_deep(found):
        raise ApiError("INTERNAL", f"the rollout service's answer is nested deeper than {DEEPEST} levels")
    return found


def _is_deep(document: Any) -> bool:
    level = [document]
    for _ in range(DEEPEST):
        level = [inner for each in level for inner in _inside(each)]
    return bool(level)


def _inside(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _checked(check: Callable[[object], T], document: object) -> T:
    try:
        return _unicode(check(document))
    except ValueError as error:
        raise ApiError("INTERNAL", f"the rollout service's answer is not of the protocol: {error}") from error


def _unicode(found: T) -> T:
    """The document with a question mark for each half of a character: JSON can spell that, no file and no API take
    it."""
    text = json.dumps(found, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return cast(T, json.loads(text.encode("utf-8", "replace")))
    return found


def _refusal(response: httpx.Response, raw: bytes) -> ApiError:
    status = response.status_code
    try:
        message = _unicode(str(json.loads(raw)["error"]["message"])[:_MESSAGE_CHARS])
    except (ValueError, KeyError, TypeError, RecursionError):
        message = f"HTTP status {status}"
    after = response.headers.get("Retry-After", "")
    return ApiError(
        "NOT_FOUND" if status == 404 else "UNAVAILABLE" if status >= 500 else "INVALID_ARGUMENT",
        f"rollout service: {message}",
        retryable=status in _PASSING or status >= 500,
        status=status,
        retry_after=float(after) if after.isdecimal() else None,
    )
