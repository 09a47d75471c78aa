"""What a client may send as a message, and what is stored of it."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from strandline.domain import session
from strandline.domain.errors import InvalidArgument, PayloadTooLarge
from strandline.domain.message import (
    MAX_MESSAGE_BYTES,
    Draft,
    MessageIn,
    draft,
    dumps,
    hash_id,
    read_line,
    split,
)
from strandline.domain.session import Head

NOW = datetime(2026, 1, 1, 12, 0, 0, 123456, tzinfo=UTC)


def parse(body: str | bytes) -> MessageIn:
    return MessageIn.model_validate_json(body)


def sent(**fields: Any) -> MessageIn:
    return parse(json.dumps({"role": "user", **fields}))


def stored(message: MessageIn) -> dict[str, Any]:
    return read_line(draft(message, message_id="m", now=NOW, tokens=3).line(7))


def test_the_stored_line() -> None:
    line = draft(sent(content="hi"), message_id="m", now=NOW, tokens=3).line(7)
    assert line == (
        b'{"seq":7,"id":"m","created_at":"2026-01-01T12:00:00.123Z","tokens":3,"role":"user","content":"hi"}'
    )


# ---- text --------------------------------------------------------------------------------------------------------

TEXTS = [
    "emoji 😀 👩‍👩‍👧‍👦 🏳️‍🌈",
    "中文 日本語 한국어 العربية",
    "combining e\u0301 vs \u00e9",
    "".join(map(chr, range(32))),
    "\x7f\x80\x9f\u2028\u2029\ufeff\ufffe\uffff\U0010ffff",
    '"\\/\b</script>&amp;',
    "",
    " ",
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("ascii_only", [True, False], ids=["escaped", "raw"])
def test_legal_text_comes_back_identical(text: str, ascii_only: bool) -> None:  # B-A6
    body = json.dumps(
        {"role": "user", "content": text, "metadata": {text: [text]}}, ensure_ascii=ascii_only
    ).encode()
    found = stored(parse(body))
    assert found["content"] == text
    assert found["metadata"] == {text: [text]}


@given(st.text())
def test_any_text_comes_back_identical(text: str) -> None:
    line = draft(sent(content=text), message_id="m", now=NOW, tokens=1).line(1)
    assert read_line(line)["content"] == text
    assert b"\n" not in line, "a line is a line"


@pytest.mark.parametrize("escape", [rb"\ud800", rb"\udfff", rb"\ud83dx", rb"\ude00\ud83d"])
@pytest.mark.parametrize(
    "place", [b'"content":"%s"', b'"content":"x","metadata":{"k":"%s"}', b'"content":"x","id":"%s"']
)
def test_a_lone_surrogate_is_refused(escape: bytes, place: bytes) -> None:  # B-A6
    with pytest.raises(ValidationError):
        parse(b'{"role":"user",' + place % escape + b"}")


@pytest.mark.parametrize("value", [{"content": "\ud800"}, {"content": "x", "metadata": {"k": ["\udfff"]}}])
def test_a_lone_surrogate_that_came_another_way_is_refused(value: dict[str, Any]) -> None:
    with pytest.raises((InvalidArgument, ValidationError)):
        draft(MessageIn.model_validate({"role": "user", **value}), message_id="m", now=NOW, tokens=1)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no",
        b"[]",
        b'"x"',
        b"null",
        b"1",
        b'{"role":"user"',
        b"\xff\xfe",
        b'{"role":"user","content":"\xff"}',
    ],
)
def test_what_is_no_message_at_all(body: bytes) -> None:  # B-A13
    with pytest.raises(ValidationError):
        parse(body)


# ---- numbers and nesting ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999", b"9" * 5000])
@pytest.mark.parametrize(
    "place",
    [
        b'"content":"x","metadata":{"k":[%s]}',
        b'"parts":[{"type":"tool","tool_input":{"k":%s}}]',
        b'"parts":[{"type":"tool","duration_ms":%s}]',
    ],
)
def test_a_number_that_json_cannot_hold_is_refused(number: bytes, place: bytes) -> None:
    with pytest.raises((InvalidArgument, ValidationError)):
        stored(parse(b'{"role":"user",' + place % number + b"}"))


@pytest.mark.parametrize(
    "number", ["0", "-0.0", "1e-320", "1.7976931348623157e308", "0.1", "9" * 4300, "-" + "9" * 40]
)
def test_any_other_number_comes_back_as_the_same_bytes(number: str) -> None:
    line = draft(
        parse(f'{{"role":"user","content":"x","metadata":{{"k":{number}}}}}'),
        message_id="m",
        now=NOW,
        tokens=1,
    ).line(1)
    assert dumps(read_line(line)) == line
    assert read_line(line)["metadata"]["k"] == json.loads(number)


@pytest.mark.parametrize("deep", [200, 1000, 100_000])
def test_deep_nesting_is_refused(deep: int) -> None:
    with pytest.raises(ValidationError):
        parse(b'{"role":"user","content":"x","metadata":{"k":' + b"[" * deep + b"]" * deep + b"}}")


def test_deep_nesting_that_came_another_way_is_refused() -> None:
    value: Any = 0
    for _ in range(100_000):
        value = [value]
    with pytest.raises(InvalidArgument):
        dumps(value)


# ---- what a message must be ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"content": None},
        {"parts": None},
        {"parts": []},
        {"content": "x", "parts": [{"type": "text", "text": "x"}]},
        {"content": 1},
        {"content": ["x"]},
        {"parts": [{"type": "image_url"}]},
        {"parts": [{"type": "image_url", "image_url": {}}]},
        {"parts": [{"type": "image_url", "image_url": {"url": ""}}]},
        {"parts": [{"type": "unknown", "text": "x"}]},
        {"parts": [{"text": "x"}]},
        {"parts": [{"type": "text"}]},
        {"parts": [{"type": "context"}]},
        {"parts": [{"type": "tool", "tool_status": "odd"}]},
        {"parts": ["x"]},
        {"content": "x", "role": "robot"},
        {"content": "x", "role": None},
        {"content": "x", "id": ""},
        {"content": "x", "id": "x" * 257},
        {"content": "x", "peer_id": "a/b"},
        {"content": "x", "peer_id": ".."},
        {"content": "x", "peer_id": "."},
        {"content": "x", "peer_id": ""},
        {"content": "x", "peer_id": "a\nb"},
        {"content": "x", "peer_id": "x" * 129},
        {"content": "x", "created_at": "yesterday"},
        {"content": "x", "created_at": 0},
        {"content": "x", "created_at": 1767225600},
        {"content": "x", "created_at": 1.5},
        {"content": "x", "created_at": True},
        {"content": "x", "created_at": "1767225600"},
        {"content": "x", "created_at": "-1"},
        {"parts": [{"type": "tool", "duration_ms": "NaN"}]},
        {"parts": [{"type": "tool", "duration_ms": float("inf")}]},
        {"content": "x", "created_at": "0001-01-01T00:00:00+01:00"},
        {"content": "x", "created_at": "9999-12-31T23:59:59-01:00"},
        {"content": "x", "metadata": []},
    ],
    ids=repr,
)
def test_refused(fields: dict[str, Any]) -> None:  # B-A5
    with pytest.raises(ValidationError):
        sent(**fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"content": ""},
        {"content": "x", "parts": None, "id": None, "peer_id": None, "metadata": None},
        {"parts": [{"type": "text", "text": ""}]},
        {"parts": [{"type": "tool", "tool_output": ""}]},
        {"parts": [{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}]},
        {"content": "x", "peer_id": "Mel 名前 😀"},
        {"content": "x", "id": "any/thing goes\n"},
        {"content": "x", "role": "tool"},
    ],
    ids=repr,
)
def test_accepted(fields: dict[str, Any]) -> None:
    assert stored(sent(**fields))["seq"] == 7


def test_an_unknown_field_is_ignored() -> None:  # B-A5
    message = sent(parts=[{"type": "text", "text": "x", "cache": 1}], colour="red")
    assert stored(message)["parts"] == [{"type": "text", "text": "x"}]
    assert "colour" not in stored(message)


def test_null_inside_free_values_is_kept() -> None:
    message = sent(parts=[{"type": "tool", "tool_input": {"a": None}}], metadata={"b": [None]})
    assert stored(message)["metadata"] == {"b": [None]}
    assert stored(message)["parts"][0]["tool_input"] == {"a": None}


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (None, "2026-01-01T12:00:00.123Z"),
        ("2023-05-08T13:56:00Z", "2023-05-08T13:56:00.000Z"),
        ("2023-05-08T13:56:00.5+02:00", "2023-05-08T11:56:00.500Z"),
        ("2023-05-08T13:56:00", "2023-05-08T13:56:00.000Z"),
    ],
)
def test_times_are_kept_in_utc(given: str | None, kept: str) -> None:
    assert stored(sent(content="x", created_at=given))["created_at"] == kept


# ---- size ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["x" * MAX_MESSAGE_BYTES, "é" * (MAX_MESSAGE_BYTES // 2)], ids=["ascii", "two bytes"]
)
def test_a_mebibyte_of_text_and_not_a_byte_more(text: str) -> None:  # B-A13
    assert stored(sent(content=text))["content"] == text
    with pytest.raises(PayloadTooLarge, match="1048577"):
        stored(sent(content=text + "x"))
    with pytest.raises(PayloadTooLarge):
        stored(sent(parts=[{"type": "text", "text": text}, {"type": "tool", "tool_name": "x"}]))


@pytest.mark.parametrize(
    "fields",
    [
        {"content": "x", "metadata": {"k": "x" * MAX_MESSAGE_BYTES}},
        {"parts": [{"type": "image_url", "image_url": {"url": "data:" + "x" * MAX_MESSAGE_BYTES}}]},
    ],
    ids=["metadata", "image"],
)
def test_nothing_else_makes_a_message_larger(fields: dict[str, Any]) -> None:
    with pytest.raises(PayloadTooLarge):
        stored(sent(**fields))


def test_an_address_is_bounded_by_itself() -> None:
    with pytest.raises(ValidationError, match="2048"):
        sent(parts=[{"type": "context", "uri": "x" * 2049}])


def test_everything_said_counts_as_text() -> None:
    message = sent(
        parts=[
            {"type": "text", "text": "said"},
            {"type": "context", "uri": "u", "abstract": "known"},
            {"type": "tool", "tool_name": "find", "tool_input": {"q": "é"}, "tool_output": "found"},
            {"type": "image_url", "image_url": {"url": "https://example.com"}},
        ]
    )
    assert list(message.texts()) == ["said", "known", "find", '{"q":"é"}', "found"]


# ---- tool results -------------------------------------------------------------------------------------------------


def _tools(*names: str) -> list[dict[str, str]]:
    return [{"type": "tool", "tool_name": name} for name in names]


def test_a_user_message_of_two_tool_results_is_two_messages() -> None:  # B-A5
    first, second = split(sent(parts=_tools("a", "b"), id="m", peer_id="Mel"))
    again = split(sent(parts=_tools("a", "b"), id="m"))
    assert first.id == "m" and str(second.id).startswith("m/2-") and again[1].id == second.id
    assert [stored(one)["parts"][0]["tool_name"] for one in (first, second)] == ["a", "b"]
    assert first.peer_id == second.peer_id == "Mel"
    assert [one.id for one in split(sent(parts=_tools("a", "b")))] == [None, None]


@pytest.mark.parametrize(
    "fields",
    [
        {"content": "x"},
        {"parts": _tools("a")},
        {"parts": [*_tools("a", "b"), {"type": "text", "text": "x"}]},
        {"parts": _tools("a", "b"), "role": "assistant"},
    ],
)
def test_any_other_message_stays_one(fields: dict[str, Any]) -> None:
    message = sent(**fields)
    assert split(message) == [message]


def test_a_split_never_takes_another_messages_id() -> None:
    messages = [*split(sent(parts=_tools("a", "b"), id="m")), sent(content="said", id="m/2")]
    drafts = [draft(one, message_id=one.id or "", now=NOW, tokens=1) for one in messages]
    head = Head("a", "u", "s", "i", "now", "now")
    assert session.append(head, drafts, now="now")[0].last_seq == 3


# ---- ids ----------------------------------------------------------------------------------------------------------


def test_ids_are_told_apart_by_their_hash() -> None:
    ids = [f"{n}" for n in range(1000)] + ["é", "e\u0301", "", " "]
    assert len({hash_id(one) for one in ids}) == len(ids)
    assert Draft("m", b"{}", 1).id_hash == hash_id("m")
