"""Which messages a commit may not part."""

from typing import Any

import pytest

from strandline.domain.tool_calls import before_open_calls


def talk(script: str) -> list[dict[str, Any]]:
    """One message a word: `.` speech, `>a` a call with the id a, `<a` its result, `>a>b` two calls at once, `~a` an
    answer that is not the last."""
    return [
        {"seq": seq, "created_at": f"2026-01-01T00:00:{seq:02d}.000Z", **_message(word)}
        for seq, word in enumerate(script.split(), start=1)
    ]


def _message(word: str) -> dict[str, Any]:
    if word == ".":
        return {"role": "user", "content": "said"}
    parts = []
    for sign, name in zip(word[::2], word[1::2], strict=True):
        part = {"type": "tool", "tool_id": name}
        answer = {"tool_output": "found", "tool_status": "running" if sign == "~" else "completed"}
        parts.append(part if sign == ">" else {**part, **answer})
    return {"role": "assistant", "parts": parts}


@pytest.mark.parametrize(
    ("script", "wanted", "last"),
    [
        (". . . .", 2, 2),
        (". >a <a .", 1, 1),  # the pair stays together behind the cut
        (". >a <a .", 2, 1),
        (". >a <a .", 3, 3),
        (">a <a .", 1, 0),
        (">a . . <a .", 3, 0),  # however far apart
        (">a >b <a <b", 2, 0),  # one pair draws another along
        (">a <a >b <b", 3, 2),
        (". >a>b <a <b .", 3, 1),  # two calls in one message
        (". >a <a . >a <a .", 5, 4),  # an id used again is another call
        (". >a . .", 3, 3),  # a call without a result has nothing to be parted from
        (". <a . .", 2, 2),  # nor has a result without a call
        (". >a ~a . <a .", 3, 1),  # an answer that is not the last does not close a call
        (". >a <a <a .", 3, 3),  # what comes after the result does not count
    ],
)
def test_no_call_is_parted_from_its_result(script: str, wanted: int, last: int) -> None:  # B-B5
    assert before_open_calls(talk(script), wanted) == last


def unnamed(script: str) -> list[dict[str, Any]]:
    """One message a word: `>` calls without an id, as many as there are, `<` a user's result, `t` what a tool says."""
    part = {"type": "tool", "tool_id": ""}
    bodies: dict[str, dict[str, Any]] = {
        "<": {"role": "user", "parts": [{**part, "tool_output": "found"}]},
        "t": {"role": "tool", "content": "found"},
        ".": {"role": "user", "content": "said"},
    }
    return [
        {"seq": seq, **bodies.get(word, {"role": "assistant", "parts": [part] * len(word)})}
        for seq, word in enumerate(script.split(), start=1)
    ]


@pytest.mark.parametrize(
    ("script", "wanted", "last"),
    [
        (". > < .", 2, 1),
        (". > t .", 2, 1),
        (". >> < t .", 3, 1),  # two calls, two results
        (". >> < t t .", 4, 4),  # a third has no call to be parted from
        ("> > < .", 1, 1),
        ("> > < t .", 3, 0),  # the newest first; the other is what is left
        (". > < > t .", 3, 3),
        (". t . .", 2, 2),
    ],
)
def test_without_ids_a_result_belongs_to_the_newest_open_call(script: str, wanted: int, last: int) -> None:
    """X32, B-B5"""
    assert before_open_calls(unnamed(script), wanted) == last


def test_what_a_tool_says_answers_a_call_with_an_id_too() -> None:
    call = {"seq": 1, "role": "assistant", "parts": [{"type": "tool", "tool_id": "a"}]}
    for body in (
        {"content": "found"},
        {"parts": [{"type": "tool", "tool_id": "a"}, {"type": "text", "text": "x"}]},
    ):
        assert before_open_calls([call, {"seq": 2, "role": "tool", **body}], 1) == 0


def test_an_assistants_parts_without_an_id_pair_with_nothing() -> None:  # B-B5
    call = {"seq": 1, "parts": [{"type": "tool", "tool_id": ""}]}
    result = {"seq": 2, "parts": [{"type": "tool", "tool_id": "", "tool_output": "found"}]}
    assert before_open_calls([call, result], 1) == 1


@pytest.mark.parametrize(
    ("script", "wanted", "since", "last"),
    [
        (". >a>b <a . .", 4, "2026-01-01T00:00:00.000Z", 1),  # b may still answer
        (". >a>b <a . .", 4, "2026-01-01T00:00:02.000Z", 1),
        (". >a>b <a . .", 4, "2026-01-01T00:00:02.001Z", 4),  # it has had its time
        (". >a ~a . .", 4, "2026-01-01T00:00:00.000Z", 1),
        (". >a <a >b .", 4, "2026-01-01T00:00:00.000Z", 3),
        (". >a <a >b .", 3, "2026-01-01T00:00:00.000Z", 3),
        (">a . . .", 3, "2026-01-01T00:00:00.000Z", 0),
    ],
)
def test_a_call_whose_result_may_still_come_stays(script: str, wanted: int, since: str, last: int) -> None:
    assert before_open_calls(talk(script), wanted, open_since=since) == last
