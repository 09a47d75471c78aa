"""As whom requests go out, and which of them are made again."""

from collections.abc import Callable

import httpx
import pytest

from strandline_sdk import ApiError, Client
from strandline_sdk.model import Message
from tests.unit.sdk.fake_service import FakeService, body, failure

# ---- identity


def test_the_key_and_names_travel_in_headers(service: FakeService) -> None:
    client = Client("http://test/", "good", account="acme", user="mia", actor_peer="Anna", transport=service)
    list(client.sessions())
    list(client.acting_for("ben").sessions())
    assert {request.headers["X-Strandline-Actor-Peer"] for request in service.requests} == {"Anna"}
    sent = [(r.headers["X-Strandline-Account"], r.headers["X-Strandline-User"]) for r in service.requests]
    assert sent == [("acme", "mia"), ("acme", "ben")]
    assert {request.headers["X-API-Key"] for request in service.requests} == {"good"}


def test_url_and_key_come_from_the_environment(monkeypatch: pytest.MonkeyPatch, service: FakeService) -> None:
    monkeypatch.setenv("STRANDLINE_URL", "http://elsewhere:1")
    monkeypatch.setenv("STRANDLINE_KEY", "good")
    list(Client(transport=service).sessions())
    assert str(service.requests[0].url).startswith("http://elsewhere:1/api/v1/")
    monkeypatch.delenv("STRANDLINE_URL")
    assert Client(transport=service).url == "http://127.0.0.1:8787"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"url": "127.0.0.1:8787"}, "must be like"),
        ({"url": "ftp://host"}, "must be like"),
        ({"url": "http://host:port"}, "not a URL"),
        ({"key": "se\ncret"}, "X-API-Key travels in an HTTP header"),
        ({"user": "Zoë"}, "X-Strandline-User"),
    ],
)
def test_what_cannot_be_sent_is_refused_at_once(arguments: dict[str, str], problem: str) -> None:
    with pytest.raises(ValueError, match=problem) as refused:
        Client(**{"url": "http://test", "key": "good", **arguments})  # type: ignore[arg-type]
    assert "cret" not in str(refused.value)


def test_the_key_is_in_no_representation() -> None:
    assert "sesame" not in repr(Client("http://test", "sesame"))


# ---- errors and repetition


def test_a_refusal_carries_everything_the_service_says(client: Client) -> None:
    with pytest.raises(ApiError) as refused:
        client.append_batch("a", [{"role": "user", "content": "refuse me"}] * 2)
    error = refused.value
    assert (error.code, error.status, error.retryable, error.request_id) == (
        "INVALID_ARGUMENT",
        400,
        False,
        "r-1",
    )
    assert (
        str(error)
        == "INVALID_ARGUMENT: messages.0.content: refused; messages.1.content: refused (request r-1)"
    )


@pytest.mark.parametrize(
    "passing",
    [
        failure(409, "ABORTED"),
        failure(503, "UNAVAILABLE"),
        httpx.Response(503, json={"message": "Service Unavailable"}),
        httpx.Response(502, text="<html>"),
        httpx.Response(429, json={"message": "Too Many Requests"}),
        httpx.ConnectError("refused"),
        httpx.ReadTimeout("slow"),
        httpx.RemoteProtocolError("closed"),
    ],
)
def test_what_passes_is_repeated(
    client: Client, service: FakeService, pauses: list[float], passing: httpx.Response | httpx.TransportError
) -> None:
    service.failures.append(passing)
    client.append("a", {"role": "user", "content": "x"})
    assert len(service.requests) == 2
    assert len(pauses) == 1
    assert 0 <= pauses[0] <= 0.2


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (failure(409, "ALREADY_EXISTS"), "ALREADY_EXISTS"),
        (failure(412, "FAILED_PRECONDITION"), "FAILED_PRECONDITION"),
        (httpx.Response(413, json={"message": "Request Entity Too Large"}), "PAYLOAD_TOO_LARGE"),
        (httpx.Response(403, json={"message": "Forbidden"}), "PERMISSION_DENIED"),
        (httpx.Response(500, text="oops"), "INTERNAL"),
        (httpx.Response(200, text="<html>a login page</html>"), "INTERNAL"),
        (httpx.Response(200, json=["not", "an", "envelope"]), "INTERNAL"),
        (httpx.UnsupportedProtocol("no"), "INVALID_ARGUMENT"),
    ],
)
def test_what_does_not_pass_is_not_repeated(
    client: Client, service: FakeService, answer: httpx.Response | httpx.TransportError, code: str
) -> None:
    service.failures.append(answer)
    with pytest.raises(ApiError) as refused:
        client.session("a")
    assert refused.value.code == code
    assert not refused.value.retryable
    assert len(service.requests) == 1


def test_the_answer_says_how_long_to_wait(client: Client, service: FakeService, pauses: list[float]) -> None:
    service.failures.append(failure(503, "UNAVAILABLE", retry_after="3"))
    client.append("a", {"role": "user", "content": "x"})
    assert 3.0 <= pauses[0] <= 3.2  # the answer's time, and a little apart from others who were told the same


def test_an_answer_that_asks_for_too_long_is_an_error(client: Client, service: FakeService) -> None:
    service.failures.append(failure(429, "RESOURCE_EXHAUSTED", retry_after="3600"))
    with pytest.raises(ApiError) as refused:
        client.session("a")
    assert refused.value.retry_after == 3600
    assert len(service.requests) == 1


def test_repeating_ends(client: Client, service: FakeService, pauses: list[float]) -> None:
    service.failures.extend(httpx.ConnectError("refused") for _ in range(9))
    with pytest.raises(ApiError, match="no connection to test:http") as refused:
        client.session("a")
    assert (refused.value.code, refused.value.status, refused.value.retryable) == ("UNAVAILABLE", None, True)
    assert len(service.requests) == 4
    assert len(pauses) == 3


def test_a_message_keeps_its_id_when_it_is_sent_again(client: Client, service: FakeService) -> None:
    service.failures.append(httpx.ReadError("answer lost"))
    client.append("a", {"role": "user", "content": "x"})
    first, second = map(body, service.requests)
    assert first == second
    assert first["id"]
    assert client.append("a", {"role": "user", "content": "y", "id": "own"})["message_id"] == "own"


HELLO: Message = {"role": "user", "content": "hello"}
WRITES: dict[str, Callable[[Client], object]] = {
    "create": lambda client: client.create_session("b"),
    "append": lambda client: client.append("a", HELLO),
    "batch": lambda client: client.append_batch("a", [HELLO]),
    "commit": lambda client: client.commit("a"),
    "used": lambda client: client.used("a", ["viking://x"]),
    "retry": lambda client: client.retry_task("task-1"),
    "cancel": lambda client: client.cancel_task("task-1"),
    "put": lambda client: client.put_memory("profile.md", "text"),
}


@pytest.mark.parametrize("write", WRITES)
def test_a_write_keeps_its_idempotency_key_when_it_is_sent_again(
    client: Client, service: FakeService, write: str
) -> None:
    service.polls = 1_000_000
    client.append("a", HELLO)
    client.commit("a")
    service.requests.clear()
    service.failures.append(httpx.ReadError("answer lost"))
    WRITES[write](client)
    client.append("a", HELLO)
    keys = [request.headers["Idempotency-Key"] for request in service.requests]
    assert keys[0] == keys[1] != keys[2]


def test_idempotency_keys_may_be_left_out(service: FakeService) -> None:
    Client("http://test", "good", transport=service, idempotency_keys=False).append("a", HELLO)
    assert "Idempotency-Key" not in service.requests[0].headers
    assert body(service.requests[0])["id"]


def test_what_only_reads_has_no_idempotency_key(client: Client, service: FakeService) -> None:
    client.find("bowl")
    list(client.tasks())
    assert all("Idempotency-Key" not in request.headers for request in service.requests)


def test_a_lone_surrogate_reaches_the_service_as_an_escape(client: Client, service: FakeService) -> None:
    client.append("a", {"role": "user", "content": "x\ud800"})
    assert b"\\ud800" in service.requests[0].content
