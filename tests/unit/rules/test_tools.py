"""Counting tool calls."""

from datetime import UTC, datetime
from typing import Any

import pytest

from strandline.domain.extraction import Proposal, ToolCall, Transcript, Turn
from strandline.domain.memory_types import BY_DEFAULT, REGISTRY
from strandline.domain.rules.tools import tool_uses
from strandline.domain.tool_calls import skill_name
from strandline.domain.transcribing import transcribe

AT = datetime(2024, 3, 6, 10, tzinfo=UTC)
COUNTING = (*BY_DEFAULT, REGISTRY["tools"], REGISTRY["skills"])


def counted(*messages: list[ToolCall], types: Any = COUNTING) -> dict[str, dict[str, Any]]:
    """Memory type and name: the counts, and the messages they come from."""
    turns = tuple(
        Turn(seq=n, role="assistant", text="", at=AT, tools=tuple(calls))
        for n, calls in enumerate(messages, 1)
    )
    transcript = Transcript(session_id="s", archive=1, turns=turns, types=types)
    return dict(map(_shown, tool_uses(transcript)))


def _shown(proposal: Proposal) -> tuple[str, dict[str, Any]]:
    (name,) = proposal.fields.values()
    counts: dict[str, Any] = {setting.field: setting.value for setting in proposal.settings}
    spans = {(setting.seq_from, setting.seq_to) for setting in proposal.settings}
    return f"{proposal.memory_type}/{name}", {**counts, "seq": spans.pop()}


def test_a_call_and_its_result_are_one_use() -> None:
    found = counted(
        [ToolCall(tool="search", call="1"), ToolCall(tool="read", call="2")],
        [ToolCall(tool="search", call="1")],
        [ToolCall(tool="", call="2", failed=True)],
        [ToolCall(tool="search", call="3")],
    )
    assert found == {
        "tools/search": {"calls": 2, "errors": 0, "seq": (1, 4)},
        "tools/read": {"calls": 1, "errors": 1, "seq": (1, 3)},
    }


def test_calls_without_ids_count_each() -> None:
    found = counted([ToolCall(tool="search"), ToolCall(tool="search")], [ToolCall(tool="search")])
    assert found == {"tools/search": {"calls": 3, "errors": 0, "seq": (1, 2)}}


def test_a_skill_is_used_by_the_calls_made_for_it() -> None:
    found = counted([ToolCall(tool="bash", call="1", skill="deploy")], [ToolCall(tool="bash", call="1")])
    assert found["skills/deploy"] == {"uses": 1, "errors": 0, "seq": (1, 2)}


def test_nothing_is_counted_that_is_not_looked_for() -> None:
    assert counted([ToolCall(tool="search", skill="x")], types=BY_DEFAULT) == {}
    assert list(counted([ToolCall(tool="search", skill="x")], types=[REGISTRY["skills"]])) == ["skills/x"]


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        ("viking://user/alice/skills/deploy/SKILL.md", "deploy"),
        ("skills/deploy.md", "deploy"),
        ("deploy", "deploy"),
        ("", None),
        (None, None),
        ("SKILL.md", None),
    ],
)
def test_the_name_of_a_skill(uri: str | None, name: str | None) -> None:
    assert skill_name(uri) == name


def test_stored_parts_as_calls() -> None:
    part = {"type": "tool", "tool_id": "t1", "tool_name": "bash", "tool_status": "error", "skill_uri": "a/b"}
    stored = {"seq": 4, "role": "assistant", "created_at": "2024-03-06T10:00:00.000Z", "parts": [part]}
    (turn,) = transcribe([stored])
    assert turn.tools == (ToolCall(tool="bash", call="t1", failed=True, skill="b"),)
