"""The limits of compaction: defaults as published, a call's over its session's, and only what goes together."""

from typing import Any

import pytest
from pydantic import ValidationError

from strandline.domain.compaction.limits import resolve


def test_the_defaults() -> None:
    tools = ["Read", "Bash", "Grep", "Glob", "Search", "CodeSearch", "WebFetch", "WebSearch", "Edit", "Write"]
    assert resolve(None, None).model_dump(mode="json") == {
        "tool_result_budget": {"max_chars": 50_000, "group_chars": 200_000, "preview_chars": 2_000},
        "history_snip": {
            "trigger_chars": 600_000,
            "target_chars": 400_000,
            "keep_recent": 5,
            "tools": tools,
        },
        "micro_compact": {"gap_seconds": 3_600, "trigger_count": 20, "keep_recent": 5, "tools": tools},
        "auto_compact": {
            "enabled": True,
            "trigger_chars": 700_000,
            "target_chars": 350_000,
            "blocking_chars": 780_000,
            "keep_recent": 8,
            "max_failures": 3,
            "cool_down_seconds": 300,
        },
    }


def test_a_call_overrides_its_session_field_by_field() -> None:
    session = {
        "history_snip": {"keep_recent": 2, "trigger_chars": 500_000},
        "auto_compact": {"max_failures": 1},
    }
    found = resolve(session, {"history_snip": {"keep_recent": 9}})
    assert (found.history_snip.keep_recent, found.history_snip.trigger_chars) == (9, 500_000)
    assert (found.history_snip.target_chars, found.auto_compact.max_failures) == (400_000, 1)
    assert session["history_snip"]["keep_recent"] == 2


@pytest.mark.parametrize(
    "given",
    [
        {"tool_result_budget": {"max_chars": 2_000}},  # the preview has as many
        {"history_snip": {"target_chars": 600_000}},
        {"micro_compact": {"keep_recent": 20}},
        {"micro_compact": {"trigger_count": 5}},
        {"auto_compact": {"target_chars": 700_000}},
        {"auto_compact": {"trigger_chars": 780_000}},
        {"auto_compact": {"max_failures": 0}},
        {"auto_compact": {"unknown": 1}},
        {"unknown": {}},
        {"history_snip": 5},
        {"history_snip": None},
    ],
)
def test_what_does_not_go_together_is_refused(given: Any) -> None:
    with pytest.raises(ValidationError):
        resolve(None, given)
    with pytest.raises(ValidationError):
        resolve(given, {"tool_result_budget": {"group_chars": 1_000_000}})
