"""The HTTP side of the local run on a real socket, with functions that answer at once."""

import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from infra.local.server import BODY_LIMIT, Api, Server
from infra.local.template import Route
from infra.local.workers import FunctionError, PayloadTooLargeError, ThrottledError

ROUTES = [
    Route("ANY", "/echo", "Echo", None),
    Route("GET", "/guarded", "Echo", "Guard"),
    Route("GET", "/closed", "Echo", "Closed"),
    Route("GET", "/broken-guard", "Echo", "Echo"),
    Route("GET", "/odd", "Odd", None),
    *(Route("GET", f"/{name}", name, None) for name in ("fails", "throttled", "large")),
]


class Answers:
    """A pool whose function answers, or raises, at once."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def invoke(self, event: Any) -> Any:
        if isinstance(self._answer, Exception):
            raise self._answer
        return event if self._answer is None else self._answer


POOLS = {
    "Echo": Answers(None),
    "Guard": Answers({"isAuthorized": True, "context": {"user_id": "ann"}}),
    "Closed": Answers({"isAuthorized": False}),
    "Odd": Answers({"statusCode": 200, "body": {"not": "text"}}),
    "fails": Answers(FunctionError("boom")),
    "throttled": Answers(ThrottledError()),
    "large": Answers(PayloadTooLargeError()),
}


@pytest.fixture
def server() -> Iterator[Server]:
    started = Server(0, Api(ROUTES, POOLS))  # type: ignore[arg-type]
    thread = threading.Thread(target=started.serve_forever, args=(0.01,))
    thread.start()
    yield started
    started.shutdown()
    thread.join()
    started.server_close()


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"http://127.0.0.1:{server.server_address[1]}") as client:
        yield client


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "REPORT"])
def test_any_method(client: httpx.Client, method: str) -> None:
    assert client.request(method, "/echo").json()["requestContext"]["http"]["method"] == method


def test_head_has_no_body(client: httpx.Client) -> None:
    answer = client.head("/echo")
    assert (answer.status_code, answer.content) == (200, b"")
    assert int(answer.headers["content-length"]) > 0


def test_one_connection_serves_many_requests(client: httpx.Client) -> None:
    for number in range(3):
        assert client.post("/echo", json={"n": number}).json()["body"] == json.dumps(
            {"n": number}, separators=(",", ":")
        )


def test_chunked_body(client: httpx.Client) -> None:
    pieces = (piece for piece in (b'{"a":', b"1}"))
    answer = client.post("/echo", content=pieces, headers={"content-type": "application/json"})
    assert answer.json()["body"] == '{"a":1}'


def test_authorizer_context(client: httpx.Client) -> None:
    assert client.get("/guarded").json()["requestContext"]["authorizer"] == {"lambda": {"user_id": "ann"}}


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        ("/nowhere", 404, "Not Found"),
        ("/closed", 403, "Forbidden"),
        ("/fails", 500, "Internal Server Error"),
        ("/odd", 500, "Internal Server Error"),
        ("/broken-guard", 500, "Internal Server Error"),
        ("/throttled", 503, "Service Unavailable"),
        ("/large", 413, "Request Entity Too Large"),
    ],
)
def test_answers_of_the_gateway_itself(client: httpx.Client, path: str, status: int, message: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.json()) == (status, {"message": message})


def test_body_larger_than_the_gateway_takes(client: httpx.Client) -> None:
    answer = client.post("/echo", content=b"x" * (BODY_LIMIT + 1))
    assert (answer.status_code, answer.json()) == (413, {"message": "Request Entity Too Large"})
    assert client.post("/echo", content=b"x").status_code == 200


@pytest.mark.parametrize("head", ["Content-Length: many", "Transfer-Encoding: chunked"])
def test_malformed_framing(server: Server, head: str) -> None:
    assert exchange(server, f"POST /echo HTTP/1.1\r\nHost: h\r\n{head}\r\n\r\nzz\r\n").startswith(
        b"HTTP/1.1 400 "
    )


def test_go_ahead_for_a_body(server: Server) -> None:
    asked = "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n"
    assert exchange(server, asked).startswith(b"HTTP/1.1 100 Continue")


def exchange(server: Server, text: str) -> bytes:
    with socket.create_connection(("127.0.0.1", server.server_address[1]), timeout=5) as connection:
        connection.sendall(text.encode())
        return connection.recv(1000)
