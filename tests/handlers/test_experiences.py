"""Experiences over HTTP and MCP: found by the request, read where they fit, and what became of those who read them."""

import json
from typing import Any

import pytest

from strandline_sdk.client import Client as SdkClient
from tests.handlers.mcp_client import call
from tests.handlers.service import Client, Service
from tests.handlers.test_sdk_topics import run, said, transport

ROOT = "/agent-evolution/experiences"
CANCEL = "viking://user/alice/memories/experiences/cancel-a-reservation.md"
FIVE = {"success": 0, "failure": 0, "partial": 0, "unfinished": 0, "unknown": 0}


def judged(
    client: Client, session: str, asked: str, *, passed: bool, read: str | None = None, **case: Any
) -> Any:
    """A run of a task, committed and learnt from; answers its lesson's task. `read` is an experience it reads first."""
    client.append(session, asked, metadata={"case": {"name": f"case {asked}", **case}})
    if read:
        assert client.get(f"{ROOT}/read", uri=read, session_id=session).status == 200
    tool = {"type": "tool", "tool_id": "c1", "tool_name": "cancel_reservation", "tool_input": {"id": "R1"}}
    client.post(f"/sessions/{session}/messages", {"role": "assistant", "parts": [tool]})
    told = {**tool, "tool_output": "done" if passed else "Error: not allowed"}
    client.post(f"/sessions/{session}/messages", {"role": "tool", "parts": [told]})
    verdict = {"evaluation": {"passed": passed, "score": float(passed)}}
    said = {"role": "system", "content": "Evaluation.", "metadata": verdict}
    client.post(f"/sessions/{session}/messages", said)
    commit = client.post(f"/sessions/{session}/commit", {}).result["task_id"]
    client.service.pump()
    lesson = client.get(f"/tasks/{commit}").result["result"]["learn_task_id"]
    return client.get(f"/tasks/{lesson}").result


@pytest.fixture
def taught(alice: Client) -> Client:
    lesson = judged(
        alice, "one", "Please cancel my reservation.", passed=True, task_signature="Cancel a reservation"
    )
    assert (lesson["task_type"], lesson["status"]) == ("session_learn", "completed")
    diff = json.loads(alice.get("/content/read", uri=lesson["result"]["learn_diff_uri"]).result)
    assert diff["summary"]["by_type"] == lesson["result"]["learned"]
    judged(alice, "two", "I want to book a flight to Oslo.", passed=False, task_signature="Book a flight")
    return alice


def test_a_search_shows_situations_and_where_to_read_on(taught: Client) -> None:
    found = taught.post(f"{ROOT}/search", {"query": "cancel the reservation, please", "limit": 1}).result
    (case,) = found["cases"]
    assert {**case, "score": None} == {
        "uri": "viking://user/alice/memories/cases/case-please-cancel-my-reservation.md",
        "name": "case Please cancel my reservation.",
        "task_signature": "Cancel a reservation",
        "input": "Please cancel my reservation.",
        "score": None,
        "experiences": [
            {"name": "Cancel a reservation", "uri": CANCEL, "situation": "Please cancel my reservation."}
        ],
    }


def test_one_that_somebody_wrote_is_found_too(taught: Client) -> None:
    text = "# Refunds\n\nWhen a refund for a broken suitcase is asked for.\n\n- Ask for a photo.\n"
    taught.put("/memories/experiences/refunds.md", {"content": text})
    found = taught.post(f"{ROOT}/search", {"query": "refund for my broken suitcase", "limit": 1}).result
    (case,) = found["cases"]
    uri = "viking://user/alice/memories/experiences/refunds.md"
    assert (case["uri"], case["experiences"]) == (
        uri,
        [{"name": "Refunds", "uri": uri, "situation": "When a refund for a broken suitcase is asked for."}],
    )
    assert "- Ask for a photo." in taught.get(f"{ROOT}/read", uri=uri).result["content"]


def test_reading_one_gives_its_text(taught: Client) -> None:
    read = taught.get(f"{ROOT}/read", uri=CANCEL).result
    assert (read["name"], read["confidence"], read["version"]) == ("Cancel a reservation", 0.9, 1)
    assert "- Call `cancel_reservation` (id)." in read["content"]
    assert "<!--" not in read["content"]


def test_all_five_outcomes_always(taught: Client) -> None:  # B-E4
    assert taught.get(f"{ROOT}/outcomes", experience_uri=CANCEL).result == {
        "experience_uri": CANCEL,
        "outcomes": FIVE,
        "total": 0,
        "learned_from": {**FIVE, "success": 1},
    }


def test_the_next_commit_s_outcome_is_that_of_what_was_read(taught: Client) -> None:  # B-E4 B-E5
    judged(taught, "three", "Cancel R7.", passed=False, read=CANCEL)
    result = taught.get(f"{ROOT}/outcomes", experience_uri=CANCEL).result
    assert (result["outcomes"], result["total"]) == ({**FIVE, "failure": 1}, 1)
    page = taught.get(f"{ROOT}/trajectories", experience_uri=CANCEL).result
    runs = {each["relation"]: each for each in page["trajectories"]}
    assert {relation: each["outcome"] for relation, each in runs.items()} == {
        "used": "failure",
        "source": "success",
    }
    assert runs["source"]["case_uri"].endswith("/cases/case-please-cancel-my-reservation.md")
    assert (page["total"], page["limit"], page["offset"]) == (2, 50, 0)
    rest = taught.get(f"{ROOT}/trajectories", experience_uri=CANCEL, limit=1, offset=1).result
    assert [each["uri"] for each in rest["trajectories"]] == [page["trajectories"][1]["uri"]]


def test_what_a_lesson_changed_is_read_as_what_a_commit_changed_is(taught: Client) -> None:  # B-E5
    taught.remember("other", "I love the cello.")
    key = taught.headers["X-API-Key"]
    with SdkClient("http://localhost", key, transport=transport(taught)) as sdk:
        archive = sdk.archive("one", "archive_001")
        diff = sdk.diff(str(archive["learn_diff_uri"]))
        assert sdk.archive("other", "archive_001")["learn_diff_uri"] is None
    (trajectory,) = taught.get("/memories", prefix="trajectories/case-please").result
    added = {each["uri"]: each["after"] for each in diff["operations"]["adds"]}
    assert set(added) == {CANCEL, trajectory["uri"]}
    assert "- Call `cancel_reservation` (id)." in added[CANCEL]
    rows = said(run(taught, "sessions", "diff", "one", "archive_001")).splitlines()
    assert [row for row in rows if "/events/" not in row] == [
        "memories  add     viking://user/alice/memories/cases/case-please-cancel-my-reservation.md",
        f"learnt    add     {CANCEL}",
        f"learnt    add     {trajectory['uri']}",
        "learnt    update  viking://user/alice/memories/cases/case-please-cancel-my-reservation.md",
    ]
    for same in (["1"], []):
        assert said(run(taught, "sessions", "diff", "one", *same)).splitlines() == rows


def test_a_case_that_is_none_is_named_with_the_reason(taught: Client) -> None:
    taught.post("/sessions/odd/messages", {"role": "user", "content": "hm", "metadata": {"case": "a name"}})
    taught.post("/sessions/odd/commit", {})
    taught.service.pump()
    (row,) = said(run(taught, "sessions", "diff", "odd")).splitlines()
    why = "its metadata.case is not valid: case: Input should be a valid dictionary"
    assert row == f"memories  reject  cases, message 1: {why}"


def test_a_session_without_an_archive_says_how_to_make_one(taught: Client) -> None:
    taught.append("new", "hm")
    assert (
        "new has no archive yet: strandline commit makes one" in run(taught, "sessions", "diff", "new").output
    )


@pytest.mark.parametrize(
    ("days", "total"),
    [
        ({"start_date": "2026-01-01", "end_date": "2026-01-01"}, 1),
        ({"start_date": "2026-01-02"}, 0),
        ({"end_date": "2025-12-31"}, 0),
    ],
)
def test_runs_of_some_days(taught: Client, days: dict[str, str], total: int) -> None:
    page = taught.get(f"{ROOT}/trajectories", experience_uri=CANCEL, **days).result
    assert (page["total"], len(page["trajectories"])) == (total, total)


def test_a_day_that_is_none_is_refused(taught: Client) -> None:
    refused = taught.get(f"{ROOT}/trajectories", experience_uri=CANCEL, start_date="yesterday")
    assert refused.refusal == (400, "INVALID_ARGUMENT")


@pytest.mark.parametrize(
    ("uri", "refusal"),
    [
        ("viking://user/alice/memories/experiences/none.md", (404, "NOT_FOUND")),
        ("viking://user/bob/memories/experiences/cancel-a-reservation.md", (404, "NOT_FOUND")),
        ("viking://user/alice/memories/cases/x.md", (400, "INVALID_URI")),
        ("viking://user/alice/sessions/one", (400, "INVALID_URI")),
        ("nonsense", (400, "INVALID_URI")),
    ],
)
def test_what_is_no_experience_of_one_s_own(taught: Client, uri: str, refusal: tuple[int, str]) -> None:
    assert taught.get(f"{ROOT}/read", uri=uri).refusal == refusal
    assert taught.get(f"{ROOT}/outcomes", experience_uri=uri).refusal == refusal
    assert taught.get(f"{ROOT}/trajectories", experience_uri=uri).refusal == refusal


def test_nobody_finds_another_s(service: Service, taught: Client) -> None:
    bob = service.client("bob")
    assert bob.post(f"{ROOT}/search", {"query": "cancel my reservation"}).result == {"cases": []}


def test_switched_off_nothing_is_learnt(service: Service) -> None:
    service.configure(STRANDLINE_LEARNING="false")
    client = service.client("carl")
    client.append("s", "Cancel.", metadata={"case": {"name": "c"}})
    said = {"role": "system", "content": "Evaluation.", "metadata": {"evaluation": {"passed": True}}}
    client.post("/sessions/s/messages", said)
    commit = client.post("/sessions/s/commit", {}).result["task_id"]
    service.pump()
    assert client.get(f"/tasks/{commit}").result["result"]["learn_task_id"] is None
    assert client.get("/memories", prefix="cases/").result == []


def test_an_agent_searches_and_reads_by_its_tools(taught: Client) -> None:
    found, _ = call(taught, "search_experience", query="please cancel my reservation", limit=1)
    assert found == (
        "case case Please cancel my reservation.\n"
        f"- situation: Please cancel my reservation.\n  read_experience: {CANCEL}"
    )
    text, is_error = call(taught, "read_experience", uri=CANCEL)
    assert not is_error
    assert "- Call `cancel_reservation` (id)." in text
    _, is_error = call(taught, "read_experience", uri="viking://user/alice/memories/profile.md")
    assert is_error


def test_reading_it_as_a_file_for_a_session_counts_too(taught: Client) -> None:
    taught.append("four", "Cancel R8.", metadata={"case": {"name": "r8"}})
    assert taught.get("/content/read", uri=CANCEL, session_id="four").status == 200
    said = {"role": "system", "content": "Evaluation.", "metadata": {"evaluation": {"passed": True}}}
    taught.post("/sessions/four/messages", said)
    taught.post("/sessions/four/commit", {})
    taught.service.pump()
    result = taught.get(f"{ROOT}/outcomes", experience_uri=CANCEL).result
    assert result["outcomes"] == {**FIVE, "success": 1}
    assert taught.get("/content/read", uri=CANCEL, session_id="none").refusal == (404, "NOT_FOUND")


def finish(client: Client, name: str) -> None:
    """A run comes to its end, and is learnt from."""
    said = {"role": "system", "content": "Evaluation.", "metadata": {"evaluation": {"passed": True}}}
    client.post(f"/sessions/{name}/messages", said)
    client.post(f"/sessions/{name}/commit", {})
    client.service.pump()


ASKS = {"query": "cancel a reservation: which call?"}
GIVEN: dict[str, tuple[str, dict[str, Any]]] = {
    "context": ("/sessions/five/context", ASKS),
    "block": ("/search/block", {**ASKS, "session_id": "five"}),
    "find": ("/search/find", {**ASKS, "session_id": "five"}),
    "search": ("/search/search", {**ASKS, "session_id": "five", "read_content": True}),
}


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ({}, {"events", "experiences"}),
        ({"quotas": {"cases": 500}}, {"events", "experiences", "cases"}),
        ({"types": ["trajectories"]}, {"trajectories"}),
    ],
)
def test_a_block_shows_the_lesson_and_what_it_was_drawn_from_where_that_is_asked_for(
    taught: Client, asked: dict[str, Any], shown: set[str]
) -> None:
    found = taught.post("/search/block", {"query": "Please cancel my reservation.", **asked}).result[
        "memories"
    ]
    assert {each["uri"].partition("/memories/")[2].partition("/")[0] for each in found} == shown


@pytest.mark.parametrize("how", GIVEN)
def test_what_a_context_or_a_search_gives_a_session_is_used_by_it(taught: Client, how: str) -> None:  # B-E4
    taught.append("five", "Cancel R9.", metadata={"case": {"name": "r9"}})
    path, body = GIVEN[how]
    for _ in range(2):
        given = taught.post(path, body).result
        assert CANCEL in [each["uri"] for each in given["memories"]]
    finish(taught, "five")
    result = taught.get(f"{ROOT}/outcomes", experience_uri=CANCEL).result
    assert (result["outcomes"], result["total"]) == ({**FIVE, "success": 1}, 1)
    used = taught.get(f"{ROOT}/trajectories", experience_uri=CANCEL).result["trajectories"]
    assert {each["relation"]: each["task"] for each in used}["used"] == "Cancel R9."


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/search/find", ASKS),
        ("/search/block", ASKS),
        ("/search/find", {**ASKS, "session_id": "five", "as_of": "2026-01-01T00:00:00Z"}),
        ("/search/block", {**ASKS, "session_id": "five", "as_of": "2026-01-01T00:00:00Z"}),
        ("/sessions/five/context", {**ASKS, "as_of": "2026-01-01T00:00:00Z"}),
        ("/sessions/five/context", {**ASKS, "memory": None}),
        ("/sessions/five/context", {"query": "zebra"}),
        ("/search/find", {**ASKS, "session_id": "none"}),
        (f"{ROOT}/search", {**ASKS, "session_id": "five"}),
    ],
)
def test_what_gives_no_session_a_text_is_no_use(taught: Client, path: str, body: dict[str, Any]) -> None:
    taught.append("five", "Cancel R9.", metadata={"case": {"name": "r9"}})
    taught.service.world.clock.advance(60)
    assert taught.post(path, body).status == 200
    finish(taught, "five")
    assert taught.get(f"{ROOT}/outcomes", experience_uri=CANCEL).result["outcomes"] == FIVE
    assert taught.get("/sessions/none").status == 404


def test_another_user_s_session_of_that_name_has_used_nothing(service: Service, taught: Client) -> None:
    bob = service.client("bob")
    bob.append("five", "Hello.")
    stored = service.world.stored("/bob/")
    taught.post("/search/block", {**ASKS, "session_id": "five"})
    assert taught.get("/sessions/five").status == 404
    assert service.world.stored("/bob/") == stored


def kinds(client: Client) -> set[str]:
    return {row["type"] for row in client.get("/memories").result} & {"cases", "trajectories", "experiences"}


def test_a_conversation_without_a_case_teaches_nothing(alice: Client) -> None:  # B-E1
    alice.append("s", "Please cancel my reservation.")
    tool = {"type": "tool", "tool_id": "c1", "tool_name": "cancel_reservation", "tool_input": {"id": "R1"}}
    alice.post("/sessions/s/messages", {"role": "assistant", "parts": [tool]})
    alice.post("/sessions/s/messages", {"role": "tool", "parts": [{**tool, "tool_output": "done"}]})
    said = {"case": {"name": "c"}, "evaluation": {"passed": True}}
    alice.append("s", json.dumps({"metadata": said}))  # text claims nothing
    commit = alice.post("/sessions/s/commit", {}).result["task_id"]
    alice.service.pump()
    assert alice.get(f"/tasks/{commit}").result["result"]["learn_task_id"] is None
    assert kinds(alice) == set()


@pytest.mark.parametrize(
    ("types", "learnt"),
    [(["cases"], set()), (["experiences"], {"cases", "trajectories", "experiences"})],
)
def test_experiences_bring_cases_and_trajectories_and_cases_alone_are_dropped(
    alice: Client, types: list[str], learnt: set[str]
) -> None:  # B-E2
    made = alice.post("/sessions", {"session_id": "s", "memory_policy": {"memory_types": types}})
    assert made.status == 200
    alice.append("s", "Cancel it.", metadata={"case": {"name": "c"}})
    finish(alice, "s")
    assert kinds(alice) == learnt


def test_a_case_that_is_there_is_trained_on_as_it_is_stored(alice: Client) -> None:  # B-E3
    judged(alice, "one", "Cancel R1.", passed=True, name="c", task_signature="Cancel a reservation")
    judged(alice, "two", "Sell me a boat.", passed=False, name="c", task_signature="Sell boats")
    rows = alice.get("/memories", prefix="experiences/").result
    assert [row["uri"] for row in rows] == [CANCEL]
    result = alice.get(f"{ROOT}/outcomes", experience_uri=CANCEL).result
    assert result["learned_from"] == {**FIVE, "success": 1, "failure": 1}
    (case,) = alice.post(f"{ROOT}/search", {"query": "Cancel R1."}).result["cases"]
    assert (case["input"], case["task_signature"]) == ("Cancel R1.", "Cancel a reservation")
