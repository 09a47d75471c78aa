"""The context: everything that was said, as overview or in full, once, in order, within the budget."""

import pytest

from tests.handlers.service import Client, Service
from tests.handlers.test_commits import failing


def shown(client: Client, session: str = "s") -> list[str]:
    return [m["content"] for m in client.context(session).result["messages"]]


def test_the_context_while_an_archive_is_pending_completed_and_after(service: Service, alice: Client) -> None:
    # B-D1
    alice.batch("s", "I love the cello.", "It is a large one.")
    alice.commit("s")
    alice.append("s", "live")
    assert shown(alice) == ["I love the cello.", "It is a large one.", "live"]
    assert alice.context("s").result["latest_archive_overview"] == ""

    service.pump()
    result = alice.context("s").result
    assert [m["content"] for m in result["messages"]] == ["live"]
    assert "cello" in result["latest_archive_overview"]
    assert result["pre_archive_abstracts"] == []
    assert {k: result["stats"][k] for k in ("totalArchives", "includedArchives", "failedArchives")} == {
        "totalArchives": 1,
        "includedArchives": 1,
        "failedArchives": 0,
    }
    assert result["estimatedTokens"] == result["stats"]["activeTokens"] + result["stats"]["archiveTokens"]


def test_two_pending_archives_and_live_messages_in_order(service: Service, alice: Client) -> None:  # B-D1
    for n in range(2):
        alice.batch("s", f"first {n}", f"second {n}")
        alice.commit("s")
    alice.append("s", "live")
    assert shown(alice) == ["first 0", "second 0", "first 1", "second 1", "live"]


def test_an_archive_that_is_done_before_an_older_one(service: Service, alice: Client) -> None:  # B-D1 B-D9
    """Overview and messages together always cover everything, once: behind what is not done everything is visible."""
    alice.append("s", "older: cello")
    alice.commit("s")
    (held,) = service.world.extract_queue.receive(1)
    alice.append("s", "newer: oboe")
    alice.commit("s")
    service.pump()
    alice.append("s", "live")
    assert shown(alice) == ["older: cello", "newer: oboe", "live"]
    assert alice.context("s").result["latest_archive_overview"] == ""
    service.world.extract_queue.back(held)
    service.pump()
    assert shown(alice) == ["live"]
    assert "oboe" in alice.context("s").result["latest_archive_overview"]


def test_no_result_without_its_call(service: Service, alice: Client) -> None:  # B-D2
    call = {"type": "tool", "tool_id": "t", "tool_name": "Read", "tool_input": {"path": "a"}}
    alice.append("s", role="assistant", parts=[{**call, "tool_status": "running"}])
    alice.append("s", role="user", parts=[{"type": "tool", "tool_id": "t", "tool_output": "found"}])
    alice.append("s", "thank you")
    roles = [m["role"] for m in alice.context("s").result["messages"]]
    assert roles == ["assistant", "user", "user"]
    few = alice.context("s", token_budget=12).result
    assert [m.get("content") for m in few["messages"]] == ["thank you"]
    assert few["estimatedTokens"] <= 12


def test_the_context_of_a_failed_archive(service: Service, alice: Client) -> None:  # B-D1 B-B15
    failing(service, 99)
    alice.remember("s", "I love the cello.")
    alice.append("s", "live")
    assert shown(alice) == ["I love the cello.", "live"]
    assert alice.context("s").result["stats"]["failedArchives"] == 1


@pytest.mark.parametrize(("budget", "texts"), [(128_000, 3), (100, 3), (20, 2), (11, 1), (1, 0), (0, 0)])
def test_the_newest_messages_within_the_budget(alice: Client, budget: int, texts: int) -> None:
    alice.batch("s", *(f"message of six words number {n}" for n in range(3)))
    result = alice.context("s", token_budget=budget).result
    expected = [f"message of six words number {n}" for n in range(3)][3 - texts :]
    assert [m["content"] for m in result["messages"]] == expected
    assert result["estimatedTokens"] <= budget


@pytest.mark.parametrize("budget", [-1, -128_000])
def test_a_negative_budget(alice: Client, budget: int) -> None:
    alice.append("s", "x")
    error = alice.context("s", token_budget=budget).error
    assert (error["code"], error["details"]) == (
        "INVALID_ARGUMENT",
        {"field": "token_budget", "value": budget},
    )


@pytest.mark.parametrize("budget", [5, 8, 12, 20, 40])
def test_the_newest_user_message_within_a_tiny_budget(alice: Client, budget: int) -> None:  # B-D2
    question = "Which of the two trains to Bergen is the faster one? " * 20
    alice.append("s", "older")
    alice.append("s", question)
    alice.append("s", role="assistant", content="I will have a look at all the timetables of this week.")
    result = alice.context("s", token_budget=budget).result
    (asked,) = result["messages"]
    assert (asked["role"], asked["seq"]) == ("user", 2)
    assert "…" in asked["content"] and len(asked["content"]) < len(question)
    assert result["estimatedTokens"] <= budget
    assert alice.get("/sessions/s/messages").result[1]["content"] == question


def test_what_is_newer_than_the_newest_user_message_goes_before_it(alice: Client) -> None:  # B-D2
    alice.append("s", "Where is it?")
    for n in range(40):
        alice.append("s", role="assistant", content=f"step {n}")
    result = alice.context("s", token_budget=30).result
    texts = [m["content"] for m in result["messages"]]
    assert texts[0] == "Where is it?"
    assert texts[1:] and texts[1:] == [f"step {n}" for n in range(40)][-len(texts) + 1 :]
    assert result["estimatedTokens"] <= 30
