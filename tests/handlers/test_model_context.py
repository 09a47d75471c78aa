"""`POST /sessions/{id}/context`: what a model is to be given before its next call."""

from typing import Any

import pytest

from strandline.domain.errors import Corrupt
from tests.handlers.service import Answer, Client, Service, at
from tests.handlers.test_commits import failing

SMALL = {"model_context_window_tokens": 400}
"""The thresholds are 340, 360 and 380 tokens."""


def build(client: Client, session: str = "s", **fields: Any) -> Answer:
    return client.post(f"{at(session)}/context", {**SMALL, "memory": None, **fields})


def talk(client: Client, texts: int, session: str = "s", words: int = 20) -> None:
    for n in range(texts):
        role = ("user", "assistant")[n % 2]
        text = " ".join(f"word{n}" for _ in range(words))
        assert client.append(session, text, role=role).status == 200


def test_a_short_session(alice: Client) -> None:
    alice.append("s", "I love the cello.")
    alice.append("s", "So do I.", role="assistant")
    result = build(alice).result
    assert [m["content"] for m in result["messages"]] == ["I love the cello.", "So do I."]
    assert "tokens" not in result["messages"][0]
    assert (result["summary"], result["memories"], result["decisions"], result["dropped"]) == (
        None,
        [],
        [],
        [],
    )
    assert result["compaction"] == {"status": "none", "failures": 0, "last_error": None, "retry_at": None}
    assert (result["degraded"], result["memory_block"]["text"]) == (False, "")
    assert result["tokens"]["estimate"] == result["tokens"]["used"] < 40


def test_effective_window_and_thresholds(alice: Client) -> None:  # B-D3
    alice.append("s", "hello")
    window = {"model_context_window_tokens": 1000, "max_output_tokens": 100}
    tokens = build(alice, **window).result["tokens"]
    names = ("effective_window", "warning", "auto", "blocking")
    assert [tokens[name] for name in names] == [900, 765, 810, 855]


def test_without_a_window_there_are_no_thresholds(alice: Client) -> None:
    alice.append("s", "hello")
    tokens = alice.post("/sessions/s/context").result["tokens"]
    assert [tokens[name] for name in ("effective_window", "warning", "auto", "blocking")] == [None] * 4


def test_a_long_session_gets_a_summary_in_time(service: Service, alice: Client) -> None:
    alice.create("s", compaction={"auto_compact": {"keep_recent": 4}})
    talk(alice, 16)
    before = build(alice).result
    assert before["compaction"]["status"] == "scheduled"
    assert before["tokens"]["used"] <= 400
    task = before["compaction"]["task_id"]
    service.pump()
    after = build(alice).result
    covered = after["summary"]["covered_through_seq"]
    assert covered == before["compaction"]["through_seq"]
    assert [m["seq"] for m in after["messages"]] == list(range(covered + 1, 17))
    assert after["summary"]["text"]
    assert after["tokens"]["used"] < before["tokens"]["used"]
    assert alice.get(f"/tasks/{task}").result["status"] == "completed"
    service.cold()
    assert build(alice).result == after  # B-D6


def test_three_failures_block_what_is_too_long(service: Service, alice: Client) -> None:  # B-D7
    failing(service, 99)
    alice.create("s", compaction={"auto_compact": {"keep_recent": 4}})
    talk(alice, 18)
    assert build(alice).result["compaction"]["status"] == "scheduled"
    service.pump()
    refused = build(alice)
    assert refused.refusal == (409, "CONTEXT_BLOCKED")
    assert refused.headers["retry-after"] == "300"
    details = refused.error["details"]
    assert (details["failures"], "prose" in details["last_error"]) == (3, True)
    served = build(alice, model_context_window_tokens=10_000).result
    assert (served["degraded"], served["compaction"]["status"]) == (True, "open")
    assert service.world.model.refused == 3  # type: ignore[attr-defined]  # and no more, though the queue would try five times
    assert service.dead == []


def test_memories_come_by_the_newest_user_message_and_within_their_budget(
    service: Service, alice: Client
) -> None:  # B-D10
    alice.remember("old", "I love the cello.", "I live in Lisbon.")
    alice.append("s", "Which instrument do I love, is it the cello?")
    result = build(alice, memory={"max_tokens": 200}).result
    assert "cello" in result["memory_block"]["text"]
    assert result["memory_block"]["tokens"] <= 200
    (first, *_) = result["memories"]
    assert first["uri"].startswith("viking://user/alice/memories/")
    assert first["explain"] and first["best"]
    assert result == build(alice, memory={"max_tokens": 200}).result
    named = build(alice, memory={"max_tokens": 200}, query="Lisbon").result
    assert "Lisbon" in named["memory_block"]["text"]
    assert build(alice, memory={"max_tokens": 0}).result["memory_block"]["text"] == ""
    assert build(alice, memory={"types": ["events"]}).result["memories"] == []


def test_memories_that_cannot_be_chosen_are_none(
    service: Service, alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:  # B-D10
    alice.remember("old", "I love the cello.")
    alice.append("s", "the cello?")

    def broken(*_: object) -> None:
        raise Corrupt("the index cannot be read")

    monkeypatch.setattr("strandline.pipeline.block.memory_block", broken)
    result = build(alice, memory={}).result
    assert (result["memories"], result["memory_block"]["text"]) == ([], "")
    assert [m["content"] for m in result["messages"]] == ["the cello?"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"model_context_window_tokens": 0}, "model_context_window_tokens"),
        ({"model_context_window_tokens": "many"}, "model_context_window_tokens"),
        ({"max_output_tokens": -1}, "max_output_tokens"),
        ({"memory": {"max_token": 1}}, "memory.max_token"),
        ({"usage": {"input_tokens": 1}}, "usage.fingerprint"),
        ({"compactoin": {}}, "compactoin"),
        ({"compaction": {"auto_compact": {"keep": 1}}}, "compaction.auto_compact.keep"),
        ({"compaction": {"history_snip": {"trigger_chars": 10}}}, "compaction.history_snip"),
        ({"compaction": {"micro_compact": {"keep_recent": 20}}}, "compaction.micro_compact"),
        ({"as_of": "yesterday"}, "as_of"),
    ],
)
def test_a_body_that_is_wrong_names_its_field(alice: Client, body: dict[str, Any], field: str) -> None:
    alice.append("s", "hello")
    answer = build(alice, **body)
    assert answer.refusal == (400, "INVALID_ARGUMENT")
    assert answer.error["details"]["validation_errors"][0]["field"] == field


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"max_output_tokens": 400}, "max_output_tokens"),
        ({"reserved_tokens": 400}, "reserved_tokens"),
        ({"max_output_tokens": 200, "reserved_tokens": 200}, "reserved_tokens"),
    ],
)
def test_a_window_that_leaves_no_token(alice: Client, body: dict[str, Any], field: str) -> None:
    alice.append("s", "hello")
    answer = build(alice, **body)
    assert answer.refusal == (400, "INVALID_ARGUMENT")
    assert answer.error["details"]["field"] == field


def test_a_session_that_is_not_there(alice: Client, bob: Client) -> None:
    alice.append("s", "hello")
    assert build(bob).refusal == build(alice, "none").refusal == (404, "NOT_FOUND")


# ---- limits of a session


def test_a_session_has_limits_of_its_own(alice: Client) -> None:
    made = alice.create(
        "s", compaction={"tool_result_budget": {"max_chars": 100, "preview_chars": 40}}
    ).result
    assert made["compaction"]["tool_result_budget"] == {
        "max_chars": 100,
        "group_chars": 200_000,
        "preview_chars": 40,
    }
    assert alice.look("s").result["compaction"] == made["compaction"]
    alice.append("s", role="assistant", parts=[{"type": "tool", "tool_id": "t", "tool_name": "Read"}])
    alice.append("s", role="tool", parts=[{"type": "tool", "tool_id": "t", "tool_output": "x" * 101}])
    (row,) = build(alice).result["decisions"]
    assert (row["stage"], row["tool_id"], row["chars_before"]) == ("budget", "t", 101)
    assert row["chars_after"] < 101


def test_a_session_without_has_the_defaults(alice: Client) -> None:
    limits = alice.create("s").result["compaction"]
    assert limits["auto_compact"]["max_failures"] == 3
    assert limits["micro_compact"] == {
        "gap_seconds": 3_600,
        "trigger_count": 20,
        "keep_recent": 5,
        "tools": limits["history_snip"]["tools"],
    }


@pytest.mark.parametrize(
    ("compaction", "field"),
    [
        ({"history_snip": {"target_chars": 700_000}}, "compaction.history_snip"),
        (
            {"auto_compact": {"trigger_chars": 10, "target_chars": 5, "blocking_chars": 10}},
            "compaction.auto_compact",
        ),
        ({"micro": {}}, "compaction.micro"),
        ({"auto_compact": {"keep_recent": 0}}, "compaction.auto_compact.keep_recent"),
        ([], "compaction"),
    ],
)
def test_limits_that_do_not_go_together(alice: Client, compaction: Any, field: str) -> None:
    answer = alice.create("s", compaction=compaction)
    assert answer.refusal == (400, "INVALID_ARGUMENT")
    assert answer.error["details"]["validation_errors"][0]["field"] == field


def test_one_call_overrides_the_sessions_limits_field_by_field(alice: Client) -> None:
    alice.create("s", compaction={"history_snip": {"trigger_chars": 200, "target_chars": 100}})
    alice.append("s", "hello")
    assert build(alice, compaction={"history_snip": {"target_chars": 199}}).status == 200
    answer = build(alice, compaction={"history_snip": {"target_chars": 200}})
    assert answer.error["details"]["validation_errors"] == [
        {"field": "compaction.history_snip", "message": "target_chars must be less than trigger_chars"}
    ]


# ---- as of


def test_a_context_of_the_past_writes_nothing(service: Service, alice: Client) -> None:
    def say(text: str, day: int) -> None:
        alice.append("s", text, created_at=f"2025-05-{day:02d}T08:00:00Z")

    say("first", 1)
    say("second", 2)
    alice.commit("s")
    service.pump()
    say("third", 3)
    say("fourth", 4)
    expected = {
        "2025-04-30T00:00:00Z": (None, []),
        "2025-05-01T12:00:00Z": (None, ["first"]),
        "2025-05-02T12:00:00Z": (2, []),
        "2025-05-03T12:00:00Z": (2, ["third"]),
        "2100-01-01T00:00:00Z": (2, ["third", "fourth"]),
    }
    for then, (covered, texts) in expected.items():
        result = build(alice, as_of=then).result
        assert (result["summary"] or {}).get("covered_through_seq") == covered, then
        said = [m["content"] for m in result["messages"]]
        assert said == texts or (not texts and said == ["second"]), then
        if then != "2100-01-01T00:00:00Z":
            assert service.world.stored("context.json") == []
