"""The line of one HTTP request."""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from strandline.domain.errors import StrandlineError
from strandline.domain.redaction import scrub
from strandline.entry import telemetry
from strandline.entry.identity import identify

Answer = dict[str, Any]
_APPEND = re.compile(r"/api/v1/sessions/[^/]*/messages(/batch)?")
_SESSION = re.compile(r"/api/v1/sessions/([^/]+)")
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
_NAMED = ("sessions", "tasks", "users", "accounts")
_WORDS = frozenset(
    "api v1 sessions tasks users accounts memories search find content read download abstract overview fs ls tree stat"
    " journal admin messages batch commit used context archives tool-results retry cancel health docs openapi.json"
    " skills resources topics index memory-tool mcp".split()
)
MAX_ID_CHARS = 128


def told(event: Mapping[str, Any], action: Callable[[], Answer]) -> Answer:
    """The action's answer, told of in a line: who asked what, and how it ended. A path is told without the names in it,
    save the session's."""
    asked = event.get("requestContext", {})
    method, path = str(asked.get("http", {}).get("method", "")), str(event.get("rawPath", ""))
    stage = "append" if method == "POST" and _APPEND.fullmatch(path) else "mcp" if path == "/mcp" else "api"
    header = (event.get("headers") or {}).get("x-amzn-trace-id")
    with telemetry.work(
        stage,
        trace=header,
        request_id=asked.get("requestId"),
        route=f"{method if method in _METHODS else '*'} {route(path)}",
    ):
        _note_asker(event, path)
        answer = action()
        telemetry.note(status=answer.get("statusCode"))
        telemetry.count(requests=1)
        return answer


def route(path: str) -> str:
    """`/api/v1/sessions/*/messages`: what was asked for, without whose. A word that no route has may be anything."""
    parts = path.split("/")
    if len(parts) > 4 and parts[3] in _NAMED:
        parts[4:] = ["*", *parts[5:6]]
    else:
        parts = parts[:4]
    return "/".join(part if part in _WORDS else "*" if part else "" for part in parts)


def _note_asker(event: Mapping[str, Any], path: str) -> None:
    with suppress(StrandlineError):
        owner = identify(event)
        telemetry.note(account=owner.account_id, user=owner.user_id)
    found = _SESSION.match(path)
    if found:  # not looked at yet: it may be anything, and a secret
        telemetry.note(session=scrub(found[1][:MAX_ID_CHARS]))
