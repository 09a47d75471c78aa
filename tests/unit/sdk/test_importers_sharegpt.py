import json
from pathlib import Path
from typing import Any

import pytest

from strandline_sdk.importers import InputError, read_sessions
from tests.unit.sdk.chats import imported

ASK = {"from": "human", "value": "How hot is it?"}
CALL = {"from": "function_call", "value": '{"name": "kiln", "arguments": {"cone": 6}}'}
SEEN = {"from": "observation", "value": '{"celsius": 1222}'}
ANSWER = {"from": "gpt", "value": "1222 °C."}


def said(tmp_path: Path, *turns: dict[str, Any], **fields: Any) -> list[dict[str, Any]]:
    """The messages that the turns become, without ids."""
    (session,) = imported(tmp_path, {"conversations": list(turns), **fields})
    return [{k: v for k, v in message.items() if k != "id"} for message in session.messages]


def part(tool_id: str, name: str, **fields: Any) -> dict[str, Any]:
    return {"type": "tool", "tool_id": tool_id, "tool_name": name, **fields}


def test_words_calls_and_what_was_observed(tmp_path: Path) -> None:
    assert said(tmp_path, ASK, CALL, SEEN, ANSWER, tools="[]") == [
        {"role": "user", "content": "How hot is it?"},
        {
            "role": "assistant",
            "parts": [part("call-1", "kiln", tool_input={"cone": 6}, tool_status="pending")],
        },
        {
            "role": "tool",
            "parts": [part("call-1", "kiln", tool_output='{"celsius": 1222}', tool_status="completed")],
        },
        {"role": "assistant", "content": "1222 °C."},
    ]


def test_results_belong_to_the_calls_in_their_order(tmp_path: Path) -> None:
    two = {"from": "function_call", "value": '[{"name": "kiln"}, {"name": "clock", "arguments": "{}"}]'}
    noon = {"from": "tool", "value": "noon"}
    found = said(tmp_path, ASK, two, SEEN, noon, CALL, SEEN)
    ids = [(p["tool_id"], p["tool_name"]) for message in found[1:] for p in message["parts"]]
    first, second, third = ("call-1", "kiln"), ("call-2", "clock"), ("call-3", "kiln")
    assert ids == [first, second, first, second, third, third]
    assert found[1]["parts"][1]["tool_input"] == {}


def test_what_is_no_call_stays_the_words_it_was(tmp_path: Path) -> None:
    odd = {"from": "function_call", "value": "kiln(6)"}
    assert said(tmp_path, ASK, odd)[1]["parts"] == [
        part("call-1", "", tool_input="kiln(6)", tool_status="pending")
    ]


@pytest.mark.parametrize("turns", [[ASK], [{"from": "system", "value": "Be a potter."}, ASK]])
def test_a_system_prompt_beside_the_conversation_or_in_it(
    tmp_path: Path, turns: list[dict[str, str]]
) -> None:
    beside = {} if len(turns) == 2 else {"system": "Be a potter."}
    assert said(tmp_path, *turns, **beside) == [
        {"role": "system", "content": "Be a potter."},
        {"role": "user", "content": "How hot is it?"},
    ]


def test_the_id_of_a_conversation_names_the_session(tmp_path: Path) -> None:
    (session,) = imported(tmp_path, [{"id": "identity_0", "conversations": [ASK]}])
    assert session.session_id == "identity_0"


def test_conversations_that_begin_alike_are_apart_and_empty_turns_passed_over(tmp_path: Path) -> None:
    both = imported(
        tmp_path, [{"conversations": [ASK, ANSWER]}, {"conversations": [ASK, {**ANSWER, "value": ""}]}]
    )
    assert [len(session.messages) for session in both] == [2, 1]
    assert len({session.session_id for session in both}) == 2


def test_json_lines_and_bare_turns(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join([json.dumps({"conversations": [ASK]})] * 3), encoding="utf-8")
    assert len(list(read_sessions(path))) == 3
    assert len(imported(tmp_path, [ASK, ANSWER])[0].messages) == 2


@pytest.mark.parametrize(
    ("turn", "problem"),
    [
        (
            {"from": "narrator", "value": "x"},
            r"message 2: must be an object with a 'value' whose 'from' is one of human",
        ),
        ({"from": "gpt", "value": 7}, r"message 2: 'value' must be a string, not int"),
        ({"from": "gpt"}, r"message 2: must be an object with a 'value'"),
        ("hello", r"message 2: must be an object with a 'value'"),
    ],
)
def test_bad_turns_are_reported(tmp_path: Path, turn: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        imported(tmp_path, {"conversations": [ASK, turn]})
