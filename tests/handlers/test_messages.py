"""Messages: what is accepted, what is refused, and that what was accepted comes back as it was."""

from typing import Any

import pytest

from tests.handlers.service import Client, Service

TOOL = {
    "type": "tool",
    "tool_id": "t1",
    "tool_name": "grep",
    "tool_input": {"q": "x"},
    "tool_output": "two words",
}


def stored(client: Client, session: str = "s") -> list[Any]:
    return list(client.get(f"/sessions/{session}/messages", limit=1000).result)


def nothing_stored(client: Client, session: str = "s") -> bool:
    return client.look(session).refusal == (404, "NOT_FOUND")


# ---- batches


@pytest.mark.parametrize("count", [1, 2, 100])
def test_a_batch_of_up_to_100(alice: Client, count: int) -> None:  # B-A3
    result = alice.batch("s", *["x"] * count).result
    assert (result["added"], result["message_count"]) == (count, count)
    assert [m["seq"] for m in result["messages"]] == list(range(1, count + 1))
    assert not any(m["duplicate"] for m in result["messages"])
    assert len({m["id"] for m in result["messages"]}) == count


@pytest.mark.parametrize("messages", [[], [{"role": "user", "content": "x"}] * 101, None, {}, "x", 1])
def test_a_batch_of_any_other_size_or_kind(alice: Client, messages: Any) -> None:  # B-A3
    answer = alice.post("/sessions/s/messages/batch", {"messages": messages})
    assert answer.refusal == (400, "INVALID_ARGUMENT")
    assert answer.error["details"]["validation_errors"][0]["field"] == "messages"
    assert nothing_stored(alice)


BAD: list[Any] = [
    {"role": "nobody", "content": "x"},
    {"content": "x"},
    {"role": "user"},
    {"role": "user", "content": "x", "parts": [{"type": "text", "text": "x"}]},
    {"role": "user", "parts": []},
    {"role": "user", "parts": [{"type": "image_url"}]},
    {"role": "user", "parts": [{"type": "image_url", "image_url": {}}]},
    {"role": "user", "parts": [{"type": "image_url", "image_url": {"url": ""}}]},
    {"role": "user", "parts": [{"type": "image_url", "image_url": {"url": None}}]},
    {"role": "user", "parts": [{"type": "nonsense"}]},
    {"role": "user", "parts": [{"type": "text"}]},
    {"role": "user", "parts": [{"type": "tool", "tool_status": "lost"}]},
    {"role": "user", "parts": ["x"]},
    {"role": "user", "content": 7},
    {"role": "user", "content": ["x"]},
    {"role": "user", "content": "x", "peer_id": "a/b"},
    {"role": "user", "content": "x", "peer_id": ".."},
    {"role": "user", "content": "x", "peer_id": ""},
    {"role": "user", "content": "x", "peer_id": "a\nb"},
    {"role": "user", "content": "x", "peer_id": "a\\b"},
    {"role": "user", "content": "x", "peer_id": "😀" * 30},
    {"role": "user", "content": "x", "id": ""},
    {"role": "user", "content": "x", "id": "x" * 257},
    {"role": "user", "content": "x", "created_at": "yesterday"},
    {"role": "user", "content": "x", "created_at": "9999-12-31T23:59:59-14:00"},
    {"role": "user", "content": "x", "metadata": []},
    {"role": "user", "content": "\ud800"},
    {"role": "user", "parts": [{"type": "text", "text": "a\udfff"}]},
    {"role": "user", "content": "x", "metadata": {"\ud800": 1}},
    {"role": "user", "content": "x", "id": "\ud800"},
    {"role": "user", "content": "x", "peer_id": "\ud800"},
    None,
    "x",
    7,
    [],
]


@pytest.mark.parametrize("message", BAD)
def test_a_bad_message_is_refused(alice: Client, message: Any) -> None:  # B-A5 B-A6
    answer = alice.post("/sessions/s/messages", message)
    assert answer.refusal == (400, "INVALID_ARGUMENT")
    assert nothing_stored(alice)


@pytest.mark.parametrize("message", BAD)
def test_a_batch_whose_third_message_is_bad_stores_none(alice: Client, message: Any) -> None:  # B-A3
    good = {"role": "user", "content": "x"}
    answer = alice.post("/sessions/s/messages/batch", {"messages": [good, good, message, good]})
    assert answer.refusal == (400, "INVALID_ARGUMENT")
    assert nothing_stored(alice)


def test_the_bad_field_of_a_batch_is_named(alice: Client) -> None:  # B-A3
    good = {"role": "user", "content": "x"}
    bad = {"role": "nobody", "content": "x"}
    answer = alice.post("/sessions/s/messages/batch", {"messages": [good, good, bad]})
    assert [e["field"] for e in answer.error["details"]["validation_errors"]] == ["messages.2.role"]


# ---- counters


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        ({"content": "one two three"}, 3),
        ({"content": ""}, 0),
        ({"parts": [{"type": "text", "text": "one two"}, {"type": "text", "text": "three"}]}, 3),
        ({"parts": [{"type": "context", "uri": "viking://x", "abstract": "one two"}]}, 2),
        ({"parts": [TOOL]}, 4),  # its name, its input as JSON, its two words of output
        ({"parts": [{"type": "text", "text": "look"}, TOOL]}, 5),
    ],
)
def test_the_answer_says_what_the_next_look_says(alice: Client, message: Any, tokens: int) -> None:  # B-A4
    alice.append("s", "before it")
    result = alice.append("s", **message).result
    shown = alice.look("s").result
    assert (result["message_count"], result["pending_tokens"]) == (2, 2 + tokens)
    assert (shown["message_count"], shown["pending_tokens"]) == (2, 2 + tokens)


def test_a_batch_says_so_too(alice: Client) -> None:  # B-A4
    result = alice.batch("s", "one", "two three").result
    shown = alice.look("s").result
    assert (result["message_count"], result["pending_tokens"]) == (2, 3)
    assert (shown["message_count"], shown["pending_tokens"], shown["total_message_count"]) == (2, 3, 2)


def test_the_real_counter_counts_a_tool_only_message(service: Service, alice: Client) -> None:  # B-A4
    from strandline.adapters.tokens import TiktokenCounter

    service.world.tokens = TiktokenCounter("cl100k_base")
    service.cold()
    result = alice.append("s", parts=[{"type": "tool", "tool_output": "hello world"}]).result
    assert result["pending_tokens"] == alice.look("s").result["pending_tokens"] == 2


def test_an_answer_in_full(alice: Client) -> None:  # B-A4
    assert alice.append("s", "hello there", id="m1").result == {
        "session_id": "s",
        "message_id": "m1",
        "seq": 1,
        "duplicate": False,
        "added": 1,
        "message_count": 1,
        "pending_tokens": 2,
    }


# ---- tool parts


@pytest.mark.parametrize("count", [2, 3, 5])
def test_a_user_message_of_tool_parts_is_one_message_per_result(alice: Client, count: int) -> None:  # B-A5
    parts = [{**TOOL, "tool_id": f"t{n}"} for n in range(count)]
    result = alice.append("s", parts=parts, id="m").result
    assert (result["message_count"], result["seq"], result["message_id"]) == (count, 1, "m")
    assert [m["parts"][0]["tool_id"] for m in stored(alice)] == [f"t{n}" for n in range(count)]
    again = alice.append("s", parts=parts, id="m").result
    assert (again["message_count"], again["duplicate"]) == (count, True)


@pytest.mark.parametrize(
    ("role", "parts"),
    [
        ("assistant", [TOOL, TOOL]),
        ("tool", [TOOL, TOOL]),
        ("user", [TOOL]),
        ("user", [{"type": "text", "text": "look"}, TOOL]),
    ],
)
def test_any_other_message_stays_one(alice: Client, role: str, parts: Any) -> None:  # B-A5
    assert alice.append("s", role=role, parts=parts).result["message_count"] == 1


def test_unknown_fields_are_ignored(alice: Client) -> None:  # B-A5
    assert alice.append("s", "x", sentiment="good", nested={"a": [1]}).status == 200
    assert "sentiment" not in stored(alice)[0]


@pytest.mark.parametrize("peer", ["Bob", "小明", "a b", "a.b", "...", "x" * 128, "b%41"])
def test_a_peer_may_be_called_anything_else(alice: Client, peer: str) -> None:  # B-A5
    alice.append("s", "x", peer_id=peer)
    assert stored(alice)[0]["peer_id"] == peer


# ---- what comes back

TEXTS = [
    "👩‍👩‍👧‍👦 and 🏳️‍🌈",
    "漢字かな交じり文、한국어",
    "e\u0301 is not \u00e9",
    "".join(map(chr, range(32))),
    "\u2028 and \u2029",
    "\x7f\x80\x9f\ufeff\ufffe\uffff",
    "\U0010ffff",
    "</script><!-- --> {{ }} ${x} %s",
    '"quotes" and \\backslashes\\ and \n newlines\r\n',
    " leading and trailing ",
    "",
    "مرحبا \u202e reversed",
]


@pytest.mark.parametrize("text", TEXTS)
def test_text_comes_back_as_it_was(service: Service, alice: Client, text: str) -> None:  # B-A6
    alice.append("s", text, id="a")
    alice.append("s", parts=[{"type": "text", "text": text}], id="b", role="assistant")
    assert [stored(alice)[0]["content"], stored(alice)[1]["parts"][0]["text"]] == [text, text]
    assert alice.context("s").result["messages"][0]["content"] == text
    alice.commit("s")
    service.pump()
    archived = alice.get("/sessions/s/archives/archive_001").result
    assert (archived["status"], archived["messages"][0]["content"]) == ("completed", text)
    assert alice.append("s", "later writes work").result["seq"] == 3


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("2023-05-08T13:56:00+02:00", "2023-05-08T11:56:00.000Z"),
        ("2023-05-08T13:56:00.123456Z", "2023-05-08T13:56:00.123Z"),
        ("2023-05-08T13:56:00", "2023-05-08T13:56:00.000Z"),
        (None, "2026-01-01T00:00:00.000Z"),
    ],
)
def test_any_offset_in_utc_out(alice: Client, given: str | None, shown: str) -> None:
    alice.append("s", "x", created_at=given)
    assert stored(alice)[0]["created_at"] == shown
