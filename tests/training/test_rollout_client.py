"""The client of a rollout service: what it waits for, and what not.  # B-E6"""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from strandline_sdk.errors import ApiError
from strandline_sdk.rollouts import RolloutClient
from tests.training.clock import StillClock

CASE = {"name": "c1", "task_signature": "s", "input": "do it"}
RUNNING = {
    "execution_id": "rollout_exec_1",
    "status": "running",
    "case_name": "c1",
    "created_at": "2026-05-01T00:00:00.000Z",
    "updated_at": "2026-05-01T00:00:00.000Z",
    "error": None,
}
ROLLOUT = {
    "case": CASE,
    "messages": [{"role": "user", "content": "do it"}],
    "policy_snapshot_id": "snap_1",
    "evaluation": {"passed": True, "score": 1.0},
}
DONE = {**RUNNING, "status": "completed", "duration_ms": 7, "rollout": ROLLOUT}


def rolled(**other: Any) -> dict[str, Any]:
    """What is done, with another part of its rollout."""
    return {**DONE, "rollout": {**ROLLOUT, **other}}


def nested(levels: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _ in range(levels):
        found = {"in": found}
    return found


def judged(result: dict[str, Any]) -> dict[str, Any]:
    return {"passed": False, "score": 0, "criterion_results": [result]}


Respond = Callable[[httpx.Request], httpx.Response]


def client(respond: Respond) -> tuple[RolloutClient, StillClock]:
    clock = StillClock()
    return RolloutClient("http://127.0.0.1:9", clock=clock, transport=httpx.MockTransport(respond)), clock


def until(seconds: float, trouble: httpx.Response) -> tuple[RolloutClient, StillClock]:
    """A service in trouble until that time."""
    clock = StillClock()

    def respond(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=DONE) if clock.seconds >= seconds else trouble

    return RolloutClient("http://s", clock=clock, transport=httpx.MockTransport(respond)), clock


@pytest.mark.parametrize("status", [404, 408, 429, 500, 503])
def test_polling_survives_a_minute_of_trouble(status: int) -> None:
    asking, clock = until(60, httpx.Response(status))
    assert asking.wait("rollout_exec_1")["status"] == "completed"
    assert clock.slept == [2.0] * 30


def test_what_is_not_found_for_more_than_a_minute_is_given_up() -> None:
    asking, clock = until(1000, httpx.Response(404))
    with pytest.raises(ApiError) as refused:
        asking.wait("rollout_exec_1")
    assert refused.value.status == 404
    assert clock.seconds == 62


def test_a_service_that_is_away_is_waited_for_five_minutes() -> None:
    def away(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    asking, clock = client(away)
    with pytest.raises(ApiError, match="ConnectError"):
        asking.wait("rollout_exec_1")
    assert clock.seconds == 302


def test_a_rollout_is_waited_for_an_hour() -> None:
    asking, clock = client(lambda _: httpx.Response(200, json=RUNNING))
    with pytest.raises(TimeoutError, match="3600 s"):
        asking.wait("rollout_exec_1")
    assert clock.seconds == 3600


def test_a_refusal_is_not_waited_for() -> None:
    asking, clock = client(lambda _: httpx.Response(400, json={"error": {"message": "no such case"}}))
    with pytest.raises(ApiError, match="no such case"):
        asking.wait("rollout_exec_1")
    assert clock.slept == []


def test_a_start_is_repeated_with_its_key_and_its_token() -> None:
    seen: list[httpx.Request] = []

    def respond(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json=RUNNING) if len(seen) == 3 else httpx.Response(503)

    asking, clock = client(respond)
    body: Any = {"case": CASE, "policy_set": {}, "execution_context": {}, "options": {}}
    assert asking.execute(body, key="k", policy_token="t")["status"] == "running"
    assert [r.headers["Idempotency-Key"] for r in seen] == ["k"] * 3
    assert [r.headers["Strandline-Policy-Token"] for r in seen] == ["t"] * 3
    assert len(clock.slept) == 2


def test_only_a_later_page_of_cases_is_waited_for() -> None:
    ill = {"first": True, "later": True}

    def respond(request: httpx.Request) -> httpx.Response:
        page = "later" if json.loads(request.content)["cursor"] else "first"
        if ill[page]:
            ill[page] = False
            return httpx.Response(503, json={"error": {"message": "not ready"}})
        return httpx.Response(200, json={"cases": [CASE], "next_cursor": "1" if page == "first" else None})

    asking, clock = client(respond)
    with pytest.raises(ApiError, match="not ready"):
        list(asking.cases("d", "x", "test"))
    assert clock.slept == []
    assert len(list(asking.cases("d", "x", "test"))) == 2
    assert len(clock.slept) == 1


def test_cases_come_page_by_page() -> None:
    def respond(request: httpx.Request) -> httpx.Response:
        query = json.loads(request.content)
        assert query["limit"] == 100
        assert (query["dataset"], query["domain"], query["split"]) == ("d", "x", "test")
        if query["cursor"] is None:
            return httpx.Response(200, json={"cases": [CASE], "next_cursor": "1"})
        return httpx.Response(200, json={"cases": [{**CASE, "name": "c2"}], "next_cursor": None})

    assert [case["name"] for case in client(respond)[0].cases("d", "x", "test")] == ["c1", "c2"]


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({**DONE, "status": "odd"}, "execution.status"),
        ({**DONE, "rollout": {**ROLLOUT, "evaluation": {"passed": True, "score": 2}}}, "evaluation.score"),
        ({**DONE, "rollout": {**ROLLOUT, "case": {"name": "c"}}}, "case.task_signature"),
        (["no object"], "execution"),
        ({**DONE, "error": 7}, "execution.error"),
        (rolled(case={**CASE, "rubric": ["x"]}), "case.rubric"),
        (rolled(case={**CASE, "rubric": {"criteria": ["x"]}}), "a criterion"),
        (rolled(case={**CASE, "name": "\ud800"}), "case.name: not valid Unicode"),
        (rolled(messages=[{"role": "user", "metadata": [1]}]), "messages.metadata"),
        (rolled(messages=[{"role": "assistant", "parts": [1]}]), "a part"),
        (rolled(messages=[{"role": "assistant", "parts": [{}]}]), "messages.parts.type"),
        (rolled(evaluation={"passed": False, "score": 0, "feedback": 3}), "evaluation.feedback"),
        (rolled(evaluation={"passed": False, "score": 0, "feedback": [{}]}), "evaluation.feedback"),
        (rolled(evaluation=judged({"name": "n"})), "criterion_results.passed"),
        (
            rolled(evaluation=judged({"name": "n", "passed": False, "feedback": 7})),
            "criterion_results.feedback",
        ),
        (rolled(metadata=[1]), "rollout.metadata"),
        (rolled(metadata={"memory": {"context": 7}}), "memory.context"),
        (rolled(metadata={"memory": {"read": 7}}), "memory.read"),
        (rolled(metadata={"memory": {"tool_calls": "many"}}), "memory.tool_calls"),
        (rolled(metadata={"usage": {"cost_usd": "dear"}}), "metadata.usage"),
        (rolled(metadata={"usage": {"prompt_tokens": 10**400}}), "metadata.usage: numbers from 0 to 1e"),
        (rolled(metadata={"usage": {"prompt_tokens": -1}}), "metadata.usage"),
        (rolled(evaluation={"passed": True, "score": 10**400}), "evaluation.score"),
        (rolled(metadata={"deep": nested(100)}), "nested deeper than 100 levels"),
    ],
)
def test_answers_that_are_not_of_the_protocol_are_named(wrong: Any, named: str) -> None:
    raw = json.dumps(wrong).encode()  # with a lone surrogate, as JSON can
    asking, _ = client(lambda _: httpx.Response(200, content=raw))
    with pytest.raises(ApiError, match=named):
        asking.wait("rollout_exec_1")


def test_halves_of_characters_are_question_marks() -> None:
    told = rolled(messages=[{"role": "user", "content": "half \ud83d, whole \U0001f600"}])
    raw = json.dumps(told).encode()
    found = client(lambda _: httpx.Response(200, content=raw))[0].wait("rollout_exec_1")["rollout"]
    assert found["messages"] == [{"role": "user", "content": "half ?, whole \U0001f600"}]
    refused = client(lambda _: httpx.Response(422, content=b'{"error": {"message": "half \\ud83d"}}'))[0]
    with pytest.raises(ApiError, match=r"half \?$"):
        refused.health()


def test_what_is_null_and_may_be_absent_is_absent() -> None:
    absent: Any = {"feedback": None, "criterion_results": None}
    told = rolled(
        case={**CASE, "rubric": None, "metadata": None},
        messages=[{"role": "user", "content": "do it", "metadata": None, "parts": None}],
        evaluation={"passed": True, "score": 1.0, **absent},
        metadata={"usage": None, "memory": {"context": None, "read": None}},
    )
    found = client(lambda _: httpx.Response(200, json=told))[0].wait("rollout_exec_1")["rollout"]
    assert found == {
        **ROLLOUT,
        "metadata": {"memory": {}},
    }


def test_a_service_that_turns_its_pages_in_a_circle_is_found_out() -> None:
    pages = {None: "1", "1": "2", "2": "1"}

    def respond(request: httpx.Request) -> httpx.Response:
        return httpx.Response(
            200, json={"cases": [CASE], "next_cursor": pages[json.loads(request.content)["cursor"]]}
        )

    with pytest.raises(ApiError, match="again and again"):
        list(client(respond)[0].cases("d", "x", "test"))


def test_pages_without_end_come_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strandline_sdk.rollouts.client.MAX_PAGES", 3)

    def respond(request: httpx.Request) -> httpx.Response:
        seen = int(json.loads(request.content)["cursor"] or 0)
        return httpx.Response(200, json={"cases": [], "next_cursor": f"{seen + 1}"})

    with pytest.raises(ApiError, match="more than 3 pages of cases"):
        list(client(respond)[0].cases("d", "x", "test"))


@pytest.mark.parametrize(
    "told", [[], {}, {"service": "s"}, {"service": "s", "max_rollout_concurrency": "4"},
             {"service": "s", "max_rollout_concurrency": 0}]
)  # fmt: skip
def test_a_health_that_is_not_of_the_protocol_is_named(told: Any) -> None:
    with pytest.raises(ApiError, match="not of the protocol: health"):
        client(lambda _: httpx.Response(200, json=told))[0].health()


def test_whoever_begins_is_told_at_once_that_nobody_is_there() -> None:
    def away(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    asking, clock = client(away)
    with pytest.raises(ApiError, match="ConnectError"):
        asking.health()
    assert clock.slept == []


def test_a_pause_that_is_no_number_is_no_pause() -> None:
    answers = iter(
        [httpx.Response(503, headers={"Retry-After": "²".encode()}), httpx.Response(200, json=RUNNING)]
    )
    asking, clock = client(lambda _: next(answers))
    body: Any = {"case": CASE, "policy_set": {}, "execution_context": {}, "options": {}}
    assert asking.execute(body)["status"] == "running"
    assert len(clock.slept) == 1
