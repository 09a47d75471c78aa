"""Requests of every size and shape, what they cost, and what is said when no answer can be given."""

import base64
import json
from typing import Any

import pytest

from strandline.ports import Ambiguous
from tests.handlers.service import Client, Service
from tests.handlers.test_messages import nothing_stored, stored

MIB = 1024 * 1024


@pytest.mark.parametrize("text", ["x" * MIB, "é" * (MIB // 2), "\n" * MIB])
def test_a_mebibyte_of_text(alice: Client, text: str) -> None:  # B-A13
    assert alice.append("s", text).status == 200
    assert stored(alice)[0]["content"] == text


@pytest.mark.parametrize("text", ["x" * (MIB + 1), "é" * (MIB // 2) + "x"])
def test_more_than_a_mebibyte(alice: Client, text: str) -> None:  # B-A13
    answer = alice.append("s", text)
    assert answer.refusal == (413, "PAYLOAD_TOO_LARGE")
    assert "1048576" in answer.error["message"]
    assert nothing_stored(alice)


@pytest.mark.parametrize(
    "fields",
    [
        {"parts": [{"type": "text", "text": "x" * 700_000}, {"type": "text", "text": "y" * 700_000}]},
        {"parts": [{"type": "tool", "tool_input": {"a": "x" * (MIB + 1)}}]},
        {"parts": [{"type": "image_url", "image_url": {"url": "data:" + "x" * (MIB + 1)}}]},
        {"content": "x", "metadata": {"a": "x" * (MIB + 1)}},
    ],
)
def test_a_message_that_is_too_large_in_another_way(alice: Client, fields: Any) -> None:  # B-A13
    assert alice.append("s", **fields).refusal == (413, "PAYLOAD_TOO_LARGE")
    assert nothing_stored(alice)


def test_a_request_of_more_than_6_mib(alice: Client) -> None:  # B-A13
    answer = alice.batch("s", *["x" * 700_000] * 10)
    assert answer.refusal == (413, "PAYLOAD_TOO_LARGE")
    assert nothing_stored(alice)


NO_JSON: dict[str, bytes] = {
    "nothing": b"",
    "cut": b"{",
    "text": b"hello",
    "empty array": b"[]",
    "array": b"[1]",
    "string": b'"x"',
    "number": b"7",
    "null": b"null",
    "true": b"true",
    "utf-16": b"\xff\xfe",
    "zero": b"\x00",
    "latin-1": b'{"role":"user","content":"\xff"}',
    "python": b"{'role': 'user'}",
    "nan": b"NaN",
    "comma": b'{"role":"user","content":"x",}',
    "nan inside": b'{"role":"user","content":"x","metadata":{"a":NaN}}',
    "infinite": b'{"role":"user","content":"x","metadata":{"a":1e999}}',
}
DEEP: dict[str, bytes] = {
    "deep array": b"[" * 100_000,
    "deep object": b'{"a":' * 100_000,
    "deep and closed": b'{"role":"user","content":"x","metadata":' + b'{"a":' * 5_000 + b"1" + b"}" * 5_001,
}
APPEND = ["/sessions/s/messages", "/sessions/s/messages/batch"]
PATHS = [*APPEND, "/sessions", "/search/find"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", NO_JSON)
def test_a_body_that_is_none(alice: Client, path: str, name: str) -> None:  # B-A13
    if path == "/sessions" and name == "nothing":
        pytest.skip("every field of a new session may be left out")
    assert alice.send("POST", path, NO_JSON[name]).refusal == (400, "INVALID_ARGUMENT")
    assert nothing_stored(alice)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", DEEP)
def test_a_body_that_is_too_deep(alice: Client, path: str, name: str) -> None:  # B-A13
    assert alice.send("POST", path, DEEP[name]).refusal == (400, "INVALID_ARGUMENT")
    assert nothing_stored(alice)


@pytest.mark.parametrize("content_type", ["text/plain", "application/octet-stream", "image/png", ""])
@pytest.mark.parametrize("path", PATHS)
def test_the_content_type_makes_no_difference(alice: Client, path: str, content_type: str) -> None:  # B-A13
    body = {"role": "user", "content": "é", "messages": [{"role": "user", "content": "é"}], "query": "é"}
    client = alice.acting(content_type=content_type)
    assert client.post(path, body).status == 200


def test_a_body_in_base64_is_a_body(service: Service, alice: Client) -> None:  # B-A13
    from tests.handlers.test_events import event

    sample = event("append")
    body = json.dumps({"role": "user", "content": "é"}).encode()
    sample |= {"isBase64Encoded": True, "body": base64.b64encode(body).decode()}
    assert service.answer("AppendFunction", sample).result["seq"] == 1


@pytest.mark.parametrize(
    "query", [{"after_seq": "-1"}, {"limit": "0"}, {"limit": "1001"}, {"after_seq": "x"}]
)
def test_a_log_read_out_of_range(alice: Client, query: Any) -> None:
    alice.append("s", "x")
    assert alice.get("/sessions/s/messages", **query).refusal == (400, "INVALID_ARGUMENT")


def test_a_log_read_in_parts(service: Service, alice: Client) -> None:
    alice.batch("s", *(f"text {n}" for n in range(1, 8)))
    alice.commit("s", keep_recent_count=3)
    service.pump()
    parts = [alice.get("/sessions/s/messages", after_seq=n, limit=3).result for n in (0, 3, 6)]
    assert [[m["seq"] for m in part] for part in parts] == [[1, 2, 3], [4, 5, 6], [7]]


# ---- what it costs, and when no answer comes


def test_a_warm_append_over_http_is_one_put_and_nothing_else(
    service: Service, alice: Client
) -> None:  # B-A11
    alice.append("s", "first")
    before = len(service.world.calls.names)
    assert alice.append("s", "second").result["seq"] == 2
    assert service.world.calls.since(before) == {"objects.put": 1}


@pytest.mark.parametrize("done", [True, False])
def test_a_store_that_does_not_answer_is_503_and_the_repeat_is_safe(
    service: Service, alice: Client, done: bool
) -> None:  # B-A7
    alice.append("s", "first")
    plan = service.world.objects.faults.after if done else service.world.objects.faults.before
    plan("put", Ambiguous("no answer"))
    for nth in range(1, 20):
        service.world.objects.faults.before("get", Ambiguous("down"), nth=nth)

    answer = alice.append("s", "second", id="m2")

    assert answer.refusal == (503, "UNAVAILABLE")
    assert (answer.error["retryable"], answer.headers["retry-after"]) == (True, "1")
    service.world.mend()
    again = alice.append("s", "second", id="m2").result
    assert (again["seq"], again["duplicate"]) == (2, done)
    assert alice.log("s") == [(1, "first"), (2, "second")]


def test_an_error_of_ours_says_nothing_about_the_inside(service: Service, alice: Client) -> None:
    service.world.objects.faults.before("get", RuntimeError("secret of the inside"))
    answer = alice.look("s")
    assert answer.refusal == (500, "INTERNAL")
    assert "secret" not in answer.text


@pytest.mark.parametrize("body", [b"[]", b"[null]", b'"x"', b"7", b"null", b"true"])
@pytest.mark.parametrize("path", ["/sessions", "/sessions/s/commit", "/search/find"])
def test_a_body_that_is_no_object(alice: Client, path: str, body: bytes) -> None:
    """Also where a body may be left out: what is sent is looked at."""
    alice.append("s", "hello")
    answer = alice.send("POST", path, body)
    assert answer.refusal == (400, "INVALID_ARGUMENT")
    assert answer.error["message"] == "body: must be a JSON object"
    assert alice.look("s").result["message_count"] == 1
