"""A rollout service on a port: the standard library's HTTP server, a thread a connection.

service = RolloutService("my-agent", cases, attempt, Path("spool"), concurrency=8)
with serve(service, port=8900) as server:
    server.wait()
"""

import hmac
import json
import re
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from strandline_sdk.rollouts import checks
from strandline_sdk.rollouts.model import IDEMPOTENCY_KEY, POLICY_TOKEN
from strandline_sdk.rollouts.scrub import Scrubber
from strandline_sdk.rollouts.service import Busy, RolloutService

MAX_BODY_BYTES = 16_000_000
_EXECUTION = re.compile(r"/v1/rollouts/executions/([A-Za-z0-9_-]{1,80})")
Headers = dict[str, str]


@dataclass(frozen=True)
class Answer:
    """What is answered: a status and a JSON document."""

    status: int
    document: Any
    headers: Headers = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    """A request; the body is a JSON document."""

    method: str
    path: str
    headers: Headers
    body: Any = None


Respond = Callable[[Asked], Answer]


class JsonServer(ThreadingHTTPServer):
    """Answers JSON by a function, each connection in a thread of its own."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, respond: Respond, host: str, port: int) -> None:
        self.respond = respond
        super().__init__((host, port), _Handler)

    @property
    def url(self) -> str:
        """Where it is."""
        host, port = self.server_address[:2]
        return f"http://{host!s}:{port}"

    def wait(self) -> None:
        """Until ctrl-C."""
        threading.Event().wait()


@contextmanager
def listening(respond: Respond, host: str = "127.0.0.1", port: int = 0) -> Iterator[JsonServer]:
    """A server from `with` to its end, on a free port unless one is given."""
    server = JsonServer(respond, host, port)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def serve(
    service: RolloutService, host: str = "127.0.0.1", port: int = 0, *, access_token: str | None = None
) -> Iterator[JsonServer]:
    """The service on a port; with an `access_token`, only for who has it. Another host than loopback needs one: whoever
    may ask can run the agent, at its owner's cost."""
    if host not in ("127.0.0.1", "localhost", "::1") and not access_token:
        raise ValueError("a service that others can reach needs an access token")
    service.start()
    try:
        with listening(_guarded(service, access_token), host, port) as server:
            yield server
    finally:
        service.stop()


def _guarded(service: RolloutService, access_token: str | None) -> Respond:
    wanted = f"Bearer {access_token}"

    def respond(asked: Asked) -> Answer:
        given = asked.headers.get("authorization", "")
        if access_token and not hmac.compare_digest(given.encode(), wanted.encode()):
            return refusal(401, "UNAUTHENTICATED", "the access token is missing or wrong")
        try:
            return answered(service, asked)
        except Exception as error:  # noqa: BLE001 - of `cases`: its owner sees where, and who asked is answered
            traceback.print_exc()
            return refusal(500, "INTERNAL", f"{asked.path} failed there: {type(error).__name__}: {error}")

    return respond


def answered(service: RolloutService, asked: Asked) -> Answer:
    """The protocol's routes."""
    try:
        return _route(service, asked)
    except Busy as error:
        return refusal(429, "RESOURCE_EXHAUSTED", str(error), {"Retry-After": "5"})
    except LookupError as error:
        return refusal(404, "NOT_FOUND", str(error.args[0] if error.args else error))
    except ValueError as error:
        return refusal(400, "INVALID_ARGUMENT", str(error))
    except RecursionError:
        return refusal(400, "INVALID_ARGUMENT", "the body is nested too deep")
    except OSError as error:
        return refusal(503, "UNAVAILABLE", str(error), {"Retry-After": "1"})


def _route(service: RolloutService, asked: Asked) -> Answer:
    route = (asked.method, asked.path)
    if route == ("GET", "/health"):
        return Answer(200, service.health())
    if route == ("POST", "/v1/cases/query"):
        return Answer(200, service.query(checks.cases_query(asked.body)))
    if route == ("POST", "/v1/rollouts/execute"):
        request = checks.execute_request(asked.body)
        key, token = (asked.headers.get(name.lower()) for name in (IDEMPOTENCY_KEY, POLICY_TOKEN))
        return Answer(200, service.execute(request, key, token))
    named = _EXECUTION.fullmatch(asked.path) if asked.method == "GET" else None
    found = service.execution(named[1]) if named else None
    if found is None:
        raise LookupError(f"nothing at {asked.path}")
    return Answer(200, found)


def refusal(status: int, code: str, message: str, headers: Headers | None = None) -> Answer:
    """An error, in words that hold no secret."""
    return Answer(status, {"error": {"code": code, "message": Scrubber().text(message)}}, headers or {})


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 75
    wbufsize = 65_536  # head and body in one packet: two of them wait for each other
    disable_nagle_algorithm = True
    server: JsonServer

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
            self.close_connection = True
            return self._send(refusal(413, "PAYLOAD_TOO_LARGE", "a body of known length, at most 16 MB"))
        try:
            body = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            return self._send(refusal(400, "INVALID_ARGUMENT", "the body is no JSON"))
        return self._answer(body)

    def log_message(self, *_: object) -> None:
        """Says nothing: a request's line is no news, and its headers are nobody's business."""

    def _answer(self, body: Any) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._send(self.server.respond(Asked(self.command, self.path, headers, body)))

    def _send(self, answer: Answer) -> None:
        raw = json.dumps(answer.document, ensure_ascii=False).encode("utf-8", "backslashreplace")
        self.send_response(answer.status)
        fixed = {"Content-Type": "application/json", "Content-Length": str(len(raw))}
        for name, value in {**fixed, **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)
