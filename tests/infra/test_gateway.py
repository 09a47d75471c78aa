"""The local HTTP API: which route, which event, which response."""

import base64
import json
from collections.abc import Sequence

import pytest

from infra.local import gateway
from infra.local.gateway import Request
from infra.local.template import Route

ROUTES = [
    Route("ANY", "/api/v1/{proxy+}", "Api", "Guard"),
    Route("POST", "/api/v1/sessions/{session_id}/messages", "Append", "Guard"),
    Route("POST", "/api/v1/sessions/{session_id}/messages/batch", "Append", "Guard"),
    Route("POST", "/api/v1/sessions/fixed/messages", "Fixed", "Guard"),
    Route("GET", "/openapi.json", "Api", None),
]


def request(
    target: str = "/api/v1/x", method: str = "GET", headers: Sequence[tuple[str, str]] = (), body: bytes = b""
) -> Request:
    return Request(method, target, headers, body, "127.0.0.1")


def event(asked: Request) -> dict[str, object]:
    found = gateway.match(ROUTES, asked.method, asked.path)
    assert found is not None
    return gateway.request_event(asked, *found)


@pytest.mark.parametrize(
    ("method", "path", "function", "parameters"),
    [
        ("POST", "/api/v1/sessions/s1/messages", "Append", {"session_id": "s1"}),
        ("POST", "/api/v1/sessions/s1/messages/batch", "Append", {"session_id": "s1"}),
        ("POST", "/api/v1/sessions/fixed/messages", "Fixed", {}),
        ("GET", "/api/v1/sessions/s1/messages", "Api", {"proxy": "sessions/s1/messages"}),
        ("POST", "/api/v1/sessions/a/b/messages", "Api", {"proxy": "sessions/a/b/messages"}),
        ("POST", "/api/v1/sessions/你好 💾/messages", "Append", {"session_id": "你好 💾"}),
        ("POST", "/api/v1/sessions/two\nlines/messages", "Append", {"session_id": "two\nlines"}),
        ("GET", "/openapi.json", "Api", {}),
    ],
)
def test_the_most_specific_route_wins(
    method: str, path: str, function: str, parameters: dict[str, str]
) -> None:
    found = gateway.match(ROUTES, method, path)
    assert found is not None
    assert (found[0].function, found[1]) == (function, parameters)


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/"), ("GET", "/api/v1/"), ("POST", "/openapi.json"), ("GET", "/openapiXjson")],
)
def test_no_route(method: str, path: str) -> None:
    assert gateway.match(ROUTES, method, path) is None


def test_path_is_decoded_once() -> None:
    asked = request("/api/v1/sessions/a%2520b%C3%A9+c/messages?x=%41", "POST")
    made = event(asked)
    assert made["rawPath"] == "/api/v1/sessions/a%20bé+c/messages"
    assert made["pathParameters"] == {"session_id": "a%20bé+c"}
    assert made["rawQueryString"] == "x=%41"
    assert made["routeKey"] == "POST /api/v1/sessions/{session_id}/messages"


def test_an_encoded_slash_parts_segments() -> None:
    """API Gateway matches the decoded path; an id with a slash does not reach the route with {session_id}."""
    found = gateway.match(ROUTES, "POST", request("/api/v1/sessions/a%2Fb/messages").path)
    assert found is not None
    assert found[0].function == "Api"


def test_query_that_comes_twice_is_joined() -> None:
    assert event(request("/api/v1/x?a=1&b=%26+&a=2&c"))["queryStringParameters"] == {
        "a": "1,2",
        "b": "& ",
        "c": "",
    }


def test_headers_are_lower_case_and_joined_and_cookies_apart() -> None:
    made = event(request(headers=[("X-A", "1"), ("x-a", "2"), ("Cookie", "k=v; l=w"), ("Host", "h")]))
    assert made["headers"] == {"x-a": "1,2", "host": "h"}
    assert made["cookies"] == ["k=v", "l=w"]


def test_absent_parts_are_left_out() -> None:
    made = event(request("/openapi.json"))
    assert not made.keys() & {"cookies", "queryStringParameters", "body", "pathParameters"}


@pytest.mark.parametrize("kind", ["application/json", "application/ld+json; charset=utf-8", "text/plain"])
def test_text_body_stays_text(kind: str) -> None:
    made = event(request(headers=[("content-type", kind)], body='{"ü":1}'.encode()))
    assert (made["isBase64Encoded"], made["body"]) == (False, '{"ü":1}')


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/octet-stream", b"\x00\xff"),
        ("image/svg+xml", b"<svg/>"),
        ("", b"{}"),
        ("application/json", b"\xff{}"),
    ],
)
def test_other_bodies_are_base64(kind: str, body: bytes) -> None:
    made = event(request(headers=[("content-type", kind)], body=body))
    assert made["isBase64Encoded"] is True
    assert base64.b64decode(str(made["body"])) == body


def test_request_context() -> None:
    context = event(request("/api/v1/a%20b", "PUT", [("User-Agent", "u")]))["requestContext"]
    assert isinstance(context, dict)
    assert context["http"] == {
        "method": "PUT",
        "path": "/api/v1/a b",
        "protocol": "HTTP/1.1",
        "sourceIp": "127.0.0.1",
        "userAgent": "u",
    }
    assert (context["stage"], context["routeKey"]) == ("$default", "ANY /api/v1/{proxy+}")


def test_authorizer_sees_no_body() -> None:
    asked = gateway.authorizer_event(event(request("/api/v1/x?q=1", "POST", [("x-api-key", "k")], b"secret")))
    assert (asked["type"], asked["version"], asked["identitySource"]) == ("REQUEST", "2.0", None)
    assert asked["routeArn"].endswith(":local/$default/POST/api/v1/x")
    assert asked["headers"] == {"x-api-key": "k"}
    assert "body" not in asked


def test_authorizer_context_reaches_the_function() -> None:
    made = gateway.authorized(event(request()), {"isAuthorized": True, "context": {"account_id": "a"}})
    assert made is not None
    assert made["requestContext"]["authorizer"] == {"lambda": {"account_id": "a"}}


def test_refusal() -> None:
    assert gateway.authorized(event(request()), {"isAuthorized": False}) is None


@pytest.mark.parametrize("answer", [None, {}, {"isAuthorized": "yes"}, "Allow", {"policyDocument": {}}])
def test_malformed_authorizer_answer(answer: object) -> None:
    with pytest.raises(ValueError, match="authorizer"):
        gateway.authorized(event(request()), answer)


def test_function_response() -> None:
    made = gateway.response(
        {
            "statusCode": 201,
            "headers": {"Content-Type": "text/html", "X-N": 1},
            "cookies": ["a=1", "b=2"],
            "body": "é",
        }
    )
    assert (made.status, made.body) == (201, "é".encode())
    assert made.headers == [
        ("content-type", "text/html"),
        ("x-n", "1"),
        ("set-cookie", "a=1"),
        ("set-cookie", "b=2"),
    ]


def test_binary_function_response() -> None:
    made = gateway.response(
        {"statusCode": 200, "body": base64.b64encode(b"\x00\x01").decode(), "isBase64Encoded": True}
    )
    assert made.body == b"\x00\x01"


def test_response_without_a_status_is_the_body() -> None:
    made = gateway.response({"a": 1})
    assert (made.status, json.loads(made.body)) == (200, {"a": 1})


def test_response_without_a_body() -> None:
    assert gateway.response({"statusCode": 204}).body == b""


@pytest.mark.parametrize(
    "result",
    [{"statusCode": "ok"}, {"statusCode": 200, "body": {"a": 1}}, {"statusCode": 200, "headers": ["a"]}],
)
def test_malformed_function_response(result: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        gateway.response(result)
