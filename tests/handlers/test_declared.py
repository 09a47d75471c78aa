"""The check that every test of a handler goes through: it finds what is not as declared."""

import json
from typing import Any

import pytest

from tests.handlers.declared import described, differences, operation_of
from tests.handlers.service import Service

TASK = {
    "task_id": "t",
    "task_type": "session_commit",
    "status": "pending",
    "stage": "commit",
    "resource_id": "s",
    "created_at": "2026-01-01T00:00:00.000Z",
    "updated_at": "2026-01-01T00:00:00.000Z",
    "attempts": 0,
    "result": None,
    "error": None,
}
ERROR = {"code": "NOT_FOUND", "message": "no", "details": {}, "retryable": False, "request_id": "r"}
LOOK = ("GET", "/api/v1/tasks/t")


def good(result: Any, **more: Any) -> str:
    return json.dumps({"status": "ok", "result": result, "time": "2026-01-01T00:00:00.000Z", **more})


def refusal(**changed: Any) -> str:
    return json.dumps({"status": "error", "error": {**ERROR, **changed}})


def test_what_is_as_declared_passes() -> None:
    assert differences(*LOOK, 200, {}, good(TASK)) == []
    assert differences(*LOOK, 404, {}, refusal()) == []
    retryable = refusal(code="UNAVAILABLE", retryable=True)
    assert differences(*LOOK, 503, {"retry-after": "1"}, retryable) == []


@pytest.mark.parametrize(
    ("status", "text"),
    [
        pytest.param(200, good({**TASK, "owner": "x"}), id="a field more"),
        pytest.param(200, good({k: v for k, v in TASK.items() if k != "stage"}), id="a field less"),
        pytest.param(200, good({**TASK, "attempts": "0"}), id="another type"),
        pytest.param(200, good({**TASK, "status": "lost"}), id="another value"),
        pytest.param(200, good(TASK, next_cursor=None), id="a cursor that is not declared"),
        pytest.param(200, json.dumps(TASK), id="no envelope"),
        pytest.param(404, refusal(code="GONE"), id="another code"),
        pytest.param(404, refusal(hint="x"), id="a field more in the error"),
        pytest.param(412, refusal(code="FAILED_PRECONDITION"), id="a status that is not declared"),
        pytest.param(503, refusal(code="UNAVAILABLE", retryable=True), id="no Retry-After"),
    ],
)
def test_what_is_not_as_declared_is_found(status: int, text: str) -> None:
    assert differences(*LOOK, status, {}, text)


@pytest.mark.parametrize(
    ("method", "path", "found"),
    [
        ("GET", "/api/v1/memories/a/b.md", "get /api/v1/memories/{path}"),
        ("GET", "/api/v1/memories", "get /api/v1/memories"),
        ("POST", "/api/v1/sessions/s/messages/batch", "post /api/v1/sessions/{session_id}/messages/batch"),
        ("POST", "/api/v1/sessions/s/messages", "post /api/v1/sessions/{session_id}/messages"),
    ],
)
def test_an_answer_belongs_to_the_most_specific_route(method: str, path: str, found: str) -> None:
    operation = operation_of(method, path)
    assert operation is not None
    assert operation[0] == found


def test_a_path_that_is_no_route_has_nothing_declared() -> None:
    assert operation_of("PATCH", "/api/v1/tasks/t") is None
    assert operation_of("GET", "/api/v1/nowhere") is None


def test_the_service_of_the_tests_checks_what_it_answers(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(described()["paths"]["/health"]["get"], "responses", {"201": {}})
    with pytest.raises(AssertionError, match="answers 200, which is not declared"):
        service.request("GET", "/health", {}, b"")
