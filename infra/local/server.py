"""Serves the HTTP API's routes on loopback, one thread a connection."""

import logging
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from infra.local import gateway
from infra.local.template import Route
from infra.local.workers import FunctionError, PayloadTooLargeError, Pool, ThrottledError

log = logging.getLogger("http")

# What API Gateway takes in one request body, in bytes.
BODY_LIMIT = 10 * 1024 * 1024
PIECE = 65536


class Api:
    """The routes and the functions behind them."""

    def __init__(self, routes: Sequence[Route], pools: Mapping[str, Pool]) -> None:
        self._routes = routes
        self._pools = pools

    def answer(self, request: gateway.Request) -> gateway.Response:
        """The response to any request; never raises."""
        found = gateway.match(self._routes, request.method, request.path)
        if found is None:
            return gateway.NOT_FOUND
        try:
            return self._call(request, *found)
        except PayloadTooLargeError:
            return gateway.TOO_LARGE
        except ThrottledError:
            return gateway.UNAVAILABLE
        except FunctionError:
            return gateway.SERVER_ERROR
        except (ValueError, TypeError) as error:
            log.error("%s: the function's answer is malformed: %s", found[0].key, error)
            return gateway.SERVER_ERROR

    def _call(
        self, request: gateway.Request, route: Route, parameters: Mapping[str, str]
    ) -> gateway.Response:
        event: dict[str, Any] | None = gateway.request_event(request, route, parameters)
        if route.authorizer is not None and event is not None:
            answer = self._pools[route.authorizer].invoke(gateway.authorizer_event(event))
            event = gateway.authorized(event, answer)
        if event is None:
            return gateway.FORBIDDEN
        return gateway.response(self._pools[route.function].invoke(event))


class Connection(BaseHTTPRequestHandler):
    """One kept-alive connection."""

    protocol_version = "HTTP/1.1"
    server_version = "strandline"
    sys_version = ""
    wbufsize = -1  # head and body leave in one packet
    disable_nagle_algorithm = True
    timeout = 75
    server: "Server"

    def answer(self) -> None:
        """Reads one request of any method and answers it."""
        started = time.monotonic()
        try:
            body = self._body()
        except ValueError:
            self.close_connection = True
            self._write(gateway.BAD_REQUEST)
            return
        headers = list(self.headers.items())
        request = gateway.Request(self.command, self.path, headers, body or b"", self.client_address[0])
        response = gateway.TOO_LARGE if body is None else self.server.api.answer(request)
        self._write(response)
        level = logging.WARNING if response.status >= 500 else logging.INFO
        took = (time.monotonic() - started) * 1000
        log.log(level, "%s %s %d %.0f ms", self.command, self.path, response.status, took)

    def __getattr__(self, name: str) -> Any:
        """The base class looks for a method called `do_` and the HTTP method."""
        if name.startswith("do_"):
            return self.answer
        raise AttributeError(name)

    def log_message(self, format: str, *args: Any) -> None:
        """Malformed requests, which never reach a route."""
        log.info(format, *args)

    def handle_expect_100(self) -> bool:
        """Like the base, but the go-ahead leaves at once."""
        go_on = super().handle_expect_100()
        self.wfile.flush()
        return go_on

    def _body(self) -> bytes | None:
        """The whole body, or None (and all of it read) when it is too large. Raises ValueError when malformed."""
        body = bytearray()
        for piece in self._pieces():
            if len(body) <= BODY_LIMIT:
                body += piece
        return bytes(body) if len(body) <= BODY_LIMIT else None

    def _pieces(self) -> Iterator[bytes]:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            while size := int(self.rfile.readline().partition(b";")[0], 16):
                yield self.rfile.read(size)
                self.rfile.readline()
            while self.rfile.readline().strip():
                continue
            return
        left = int(self.headers.get("content-length") or 0)
        while left > 0:
            piece = self.rfile.read(min(left, PIECE))
            if not piece:
                raise ValueError("the body ends early")
            left -= len(piece)
            yield piece

    def _write(self, response: gateway.Response) -> None:
        self.send_response(response.status)
        for name, value in response.headers:
            self.send_header(name, value)
        self.send_header("content-length", str(len(response.body)))
        if self.close_connection:
            self.send_header("connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(response.body)
        self.wfile.flush()

    def send_response(self, code: int, message: str | None = None) -> None:
        """Like the base, without its access log line."""
        self.send_response_only(code, message)
        self.send_header("date", self.date_time_string())


class Server(ThreadingHTTPServer):
    """The HTTP API on one port of loopback."""

    daemon_threads = True
    request_queue_size = 128
    block_on_close = False

    def __init__(self, port: int, api: Api) -> None:
        """Raises OSError when the port is taken."""
        self.api = api
        super().__init__(("127.0.0.1", port), Connection)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no error of ours."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)
