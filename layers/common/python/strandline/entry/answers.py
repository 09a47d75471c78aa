"""What a route answers, declared beside it:

    @router.get("/api/v1/tasks/<task_id>")
    @answers(Task)
    def look(task_id: str) -> dict[str, Any]: ...

    @router.get("/api/v1/memories")
    @answers(list[MemoryRow], paged=True)

    @router.put("/api/v1/memories/<path>")
    @answers(Memory, FailedPrecondition, etag=True)

The result is named by its type: a TypedDict of entry/results, or anything else that pydantic has a schema for. Errors
are named by their classes; what every route may answer (`errors_of`) is not repeated. Here both are only noted, so a
declaration costs a cold start nothing; entry/openapi makes schemas of them when somebody asks. Every answer
in tests/handlers is held against them (tests/handlers/declared.py).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from typing_extensions import TypedDict, Unpack

from strandline.domain.errors import (
    Aborted,
    IdempotencyMismatch,
    InvalidArgument,
    NotFound,
    PayloadTooLarge,
    PermissionDenied,
    ResourceExhausted,
    StrandlineError,
    Unauthenticated,
    Unavailable,
)

F = TypeVar("F", bound=Callable[..., Any])
Errors = tuple[type[StrandlineError], ...]

JSON = "application/json"
EVERYWHERE: Errors = (
    InvalidArgument,
    Unauthenticated,
    PermissionDenied,
    ResourceExhausted,
    StrandlineError,
    Unavailable,
)
WITH_BODY: Errors = (PayloadTooLarge, IdempotencyMismatch, Aborted)
WITH_NAME: Errors = (NotFound,)


@dataclass(frozen=True)
class Answers:
    """A route's answers: the type of the result, the errors of its own, what stands around the result."""

    result: Any
    errors: Errors = ()
    paged: bool = False
    etag: bool = False
    bare: bool = False
    listed: bool = False
    dated: bool = False
    media: str = JSON
    headers: tuple[str, ...] = ()


declared: dict[Callable[..., Any], Answers] = {}


class Around(TypedDict, total=False):
    """What stands around a result, as in `Answers`."""

    paged: bool
    etag: bool
    bare: bool
    listed: bool
    dated: bool
    media: str
    headers: tuple[str, ...]


def answers(result: Any, *errors: type[StrandlineError], **around: Unpack[Around]) -> Callable[[F], F]:
    """Declares a route's answers. `paged`: the envelope carries `next_cursor`; `listed`: `has_more`; `dated`: with
    `as_of`, `not_kept`; `etag`: the answer has that header; `bare`: no envelope, no key needed and no error expected;
    `media`: the result alone, as that;
    `headers`: those of the request that are its own, by their names in openapi/parts.py."""

    def note(route: F) -> F:
        declared[route] = Answers(result, errors, **around)
        return route

    return note


def errors_of(route: Callable[..., Any], path: str, method: str) -> Errors:
    """Every error that a route may answer: its own, and those it shares with all routes of its kind."""
    known = declared[route]
    if known.bare:
        return ()
    named = WITH_NAME if "{" in path else ()
    body = WITH_BODY if method in ("post", "put", "patch") else ()
    return tuple(dict.fromkeys((*EVERYWHERE, *named, *body, *known.errors)))
