"""Real exports through the importers. The counts were taken from the files beforehand, without the importers."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from strandline_sdk.importers import ImportedSession, read_sessions
from strandline_sdk.importers.limits import fitting
from strandline_sdk.importers.session_ids import accepted

DATA = Path(__file__).parents[4] / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.exists(), reason=f"the real conversations are not there: {DATA}")

SWE = "swe_agent/marshmallow-1867.function_calling.traj"
TAU = "tau2/gpt-4o-airline.json.gz"
CLAUDE = "formats/representative_messages.jsonl"
FILES: dict[str, tuple[int, dict[str, int]]] = {
    CLAUDE: (1, {"user": 4, "assistant": 5, "tool": 2}),
    "formats/session_b.jsonl": (1, {"user": 2, "assistant": 1}),
    "formats/sharegpt_tools_en.json": (60, {"user": 156, "assistant": 156 + 44, "tool": 44}),
    "formats/sharegpt_tools_zh.json": (60, {"user": 142, "assistant": 142 + 47, "tool": 47}),
    SWE: (1, {"system": 1, "user": 1, "assistant": 11, "tool": 11}),
    TAU: (200, {"system": 200 + 200, "user": 1490, "assistant": 1290 + 1074 + 90, "tool": 1164}),
    "locomo7.json": (187, {"user": 4124}),
}


def sessions(name: str) -> list[ImportedSession]:
    return list(read_sessions(DATA / name))


def parts(name: str) -> list[dict[str, Any]]:
    """The tool parts, in order, each with its message's role."""
    messages = [message for session in sessions(name) for message in session.messages]
    return [
        {**part, "role": m["role"]} for m in messages for part in m.get("parts", ()) if part["type"] == "tool"
    ]


@pytest.mark.parametrize("name", FILES)
def test_every_session_and_message_of_a_file(name: str) -> None:
    found = sessions(name)
    roles = Counter(message["role"] for session in found for message in session.messages)
    assert (len(found), dict(roles)) == FILES[name]
    assert len({session.session_id for session in found}) == len(found)
    assert all(session.session_id == accepted(session.session_id) for session in found)


@pytest.mark.parametrize("name", FILES)
def test_ids_are_the_same_every_time_and_unique_in_their_session(name: str) -> None:
    first, second = sessions(name), sessions(name)
    assert first == second
    for session in first:
        assert len({message["id"] for message in session.messages}) == len(session.messages)
        assert len(session.places) == len(session.messages)


@pytest.mark.parametrize("name", FILES)
def test_none_is_too_large(name: str) -> None:
    for session in sessions(name):
        assert fitting(session, bad=pytest.fail) is session


@pytest.mark.parametrize(
    "name", [CLAUDE, "formats/sharegpt_tools_en.json", "formats/sharegpt_tools_zh.json", SWE, TAU]
)
def test_every_result_has_the_id_and_name_of_a_call_before_it(name: str) -> None:
    for session in sessions(name):
        calls: dict[str, str] = {}
        for message in session.messages:
            for part in message.get("parts", ()):
                if part["type"] == "tool" and message["role"] == "assistant":
                    calls[part["tool_id"]] = part["tool_name"]
                elif part["type"] == "tool":
                    assert calls[part["tool_id"]] == part["tool_name"] != ""


def test_the_log_of_a_coding_session() -> None:
    (session,) = sessions(CLAUDE)
    lines = [json.loads(line) for line in (DATA / CLAUDE).read_text().splitlines()]
    assert session.session_id == "test_session"
    assert [m["id"] for m in session.messages] == [f"msg_{n:03d}" for n in range(1, 12)]
    assert session.messages[0]["created_at"] == "2025-06-14T10:00:00.000Z"
    assert session.messages[0]["parts"] == lines[0]["message"]["content"]
    edit, edited, bash, ran = parts(CLAUDE)
    assert (edit["tool_id"], edit["tool_name"], edited["tool_name"]) == ("tool_001", "Edit", "Edit")
    assert edit["tool_input"] == lines[3]["message"]["content"][0]["input"]
    assert (bash["tool_status"], ran["tool_status"]) == ("pending", "completed")
    assert ran["tool_output"] == "Hello, Alice!\nHello, Alice!\nHello, Alice!"


def test_calls_in_chinese_are_read_as_what_they_say() -> None:
    call = parts("formats/sharegpt_tools_zh.json")[0]
    assert (call["tool_name"], call["tool_input"]["customer_name"]) == ("generate_invoice", "约翰·多伊")


def test_the_results_of_a_coding_agent_are_kept_whole() -> None:
    history = json.loads((DATA / SWE).read_text())["history"]
    outputs = [message["content"] for message in history if message["role"] == "tool"]
    found = parts(SWE)
    assert [part["tool_output"] for part in found if part["role"] == "tool"] == outputs
    assert found[0]["tool_input"] == {"filename": "reproduce.py"}


def test_a_display_of_messages_is_plain_text(tmp_path: Path) -> None:
    """Conversations as few-shot prompts show them: 463 turns of `role: text`, six of them empty tool results."""
    rows = (DATA / "tau2/MockAirlineDomainEnv-few_shot.jsonl").read_text().splitlines()
    counts = []
    for number, row in enumerate(rows):
        path = tmp_path / f"shown-{number}.txt"
        path.write_text(json.loads(row)["messages_display"], encoding="utf-8")
        counts.extend(len(session.messages) for session in read_sessions(path))
    assert (len(counts), sum(counts)) == (19, 463 - 6)
