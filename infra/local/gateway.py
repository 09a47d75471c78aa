"""The HTTP API as a pure translation: a request to a payload 2.0 event, a function's result to a response.

As API Gateway does it: the path is decoded once, before routes are matched, so an encoded slash parts segments; query
and header fields that come twice are joined by commas; cookies are taken out of the headers.
"""

import base64
import json
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, unquote

from infra.local.template import ACCOUNT, Route

TEXT_TYPES = re.compile(r"text/|application/(json|xml|javascript|[\w.+-]+\+(json|xml))\b")
DOMAIN = "localhost"


@dataclass(frozen=True)
class Request:
    """An HTTP request as received; `target` is path and query, still encoded."""

    method: str
    target: str
    headers: Sequence[tuple[str, str]]
    body: bytes
    source_ip: str

    @property
    def path(self) -> str:
        """The decoded path."""
        return unquote(self.target.partition("?")[0], errors="replace")

    @property
    def query(self) -> str:
        """The query string, still encoded."""
        return self.target.partition("?")[2]


@dataclass(frozen=True)
class Response:
    """An HTTP response to be sent."""

    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes


def message(status: int, text: str) -> Response:
    """A response of API Gateway's own."""
    body = json.dumps({"message": text}, separators=(",", ":")).encode()
    return Response(status, [("content-type", "application/json")], body)


BAD_REQUEST = message(400, "Bad Request")
NOT_FOUND = message(404, "Not Found")
FORBIDDEN = message(403, "Forbidden")
TOO_LARGE = message(413, "Request Entity Too Large")
SERVER_ERROR = message(500, "Internal Server Error")
UNAVAILABLE = message(503, "Service Unavailable")


def match(routes: Sequence[Route], method: str, path: str) -> tuple[Route, dict[str, str]] | None:
    """The most specific route for a decoded path, and its path parameters.

    A full match goes before a greedy one, a fixed segment before a variable, a named method before ANY.
    """
    hits = [
        (route, found.groupdict())
        for route in routes
        if route.method in (method, "ANY") and (found := _pattern(route.path).fullmatch(path))
    ]
    if not hits:
        return None
    route, groups = min(hits, key=lambda hit: _rank(hit[0]))
    return route, {_names(route.path)[int(group[1:])]: value for group, value in groups.items()}


def request_event(request: Request, route: Route, parameters: Mapping[str, str]) -> dict[str, Any]:
    """The event of payload format 2.0, without the authorizer's context."""
    headers, cookies = _headers(request.headers)
    body, encoded = _body(request.body, headers.get("content-type", ""))
    event = {
        "version": "2.0",
        "routeKey": route.key,
        "rawPath": request.path,
        "rawQueryString": request.query,
        "cookies": cookies,
        "headers": headers,
        "queryStringParameters": _query(request.query),
        "requestContext": _context(request, route, headers),
        "body": body,
        "pathParameters": dict(parameters),
        "isBase64Encoded": encoded,
    }
    optional = ("cookies", "queryStringParameters", "body", "pathParameters")
    return {key: value for key, value in event.items() if value or key not in optional}


def authorizer_event(event: Mapping[str, Any]) -> dict[str, Any]:
    """What a REQUEST authorizer gets for that event: no body, and the ARN of the route."""
    context = event["requestContext"]
    arn = f"arn:aws:execute-api:us-east-1:{ACCOUNT}:local/$default/{context['http']['method']}{event['rawPath']}"
    kept = {key: value for key, value in event.items() if key not in ("body", "isBase64Encoded")}
    return {**kept, "type": "REQUEST", "routeArn": arn, "identitySource": None}


def authorized(event: Mapping[str, Any], answer: Any) -> dict[str, Any] | None:
    """The event with the context of a simple authorizer answer; None when refused. Raises ValueError for another."""
    if not isinstance(answer, dict) or not isinstance(answer.get("isAuthorized"), bool):
        raise ValueError(f"not a simple authorizer response: {answer!r}")
    if not answer["isAuthorized"]:
        return None
    context = {**event["requestContext"], "authorizer": {"lambda": answer.get("context") or {}}}
    return {**event, "requestContext": context}


def response(result: Any) -> Response:
    """A function's result as an HTTP response. Without `statusCode` the result itself is the JSON body of a 200.

    Raises ValueError or TypeError when it is malformed.
    """
    if not isinstance(result, dict) or "statusCode" not in result:
        return Response(200, [("content-type", "application/json")], json.dumps(result).encode())
    named, text = result.get("headers") or {}, result.get("body") or ""
    if not isinstance(named, dict) or not isinstance(text, str):
        raise ValueError("headers are not an object, or the body is not a string")
    headers = [(str(name).lower(), str(value)) for name, value in named.items()]
    headers += [("set-cookie", cookie) for cookie in result.get("cookies") or ()]
    if not any(name == "content-type" for name, _ in headers):
        headers.append(("content-type", "text/plain;charset=UTF-8"))
    body = base64.b64decode(text) if result.get("isBase64Encoded") else text.encode()
    return Response(int(result["statusCode"]), headers, body)


def _names(path: str) -> list[str]:
    return re.findall(r"\{(\w+)\+?\}", path)


@cache
def _pattern(path: str) -> re.Pattern[str]:
    parts = re.split(r"(\{\w+\+?\})", path)
    variables = iter(range(len(parts)))
    return re.compile(
        "".join(
            f"(?P<p{next(variables)}>{'.+' if part.endswith('+}') else '[^/]+'})"
            if part.startswith("{")
            else re.escape(part)
            for part in parts
        ),
        re.DOTALL,
    )


def _rank(route: Route) -> tuple[bool, int, bool]:
    return "+}" in route.path, len(_names(route.path)), route.method == "ANY"


def _headers(received: Sequence[tuple[str, str]]) -> tuple[dict[str, str], list[str]]:
    headers: dict[str, str] = {}
    cookies: list[str] = []
    for name, value in ((name.lower(), value) for name, value in received):
        if name == "cookie":
            cookies += [each.strip() for each in value.split(";") if each.strip()]
        else:
            headers[name] = f"{headers[name]},{value}" if name in headers else value
    return headers, cookies


def _query(query: str) -> dict[str, str]:
    joined: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True, errors="replace"):
        joined[name] = f"{joined[name]},{value}" if name in joined else value
    return joined


def _body(body: bytes, content_type: str) -> tuple[str | None, bool]:
    if not body:
        return None, False
    if TEXT_TYPES.match(content_type.lower()):
        try:
            return body.decode(), False
        except UnicodeDecodeError:
            pass
    return base64.b64encode(body).decode(), True


def _context(request: Request, route: Route, headers: Mapping[str, str]) -> dict[str, Any]:
    now = datetime.now(UTC)
    return {
        "accountId": ACCOUNT,
        "apiId": "local",
        "domainName": headers.get("host", DOMAIN),
        "domainPrefix": "local",
        "http": {
            "method": request.method,
            "path": request.path,
            "protocol": "HTTP/1.1",
            "sourceIp": request.source_ip,
            "userAgent": headers.get("user-agent", ""),
        },
        "requestId": str(uuid.uuid4()),
        "routeKey": route.key,
        "stage": "$default",
        "time": now.strftime("%d/%b/%Y:%H:%M:%S +0000"),
        "timeEpoch": int(now.timestamp() * 1000),
    }
