"""Message parts as the published client makes them come back as they were sent, live, archived and in a context."""

from typing import Any

import pytest
from openviking_sdk.message import ContextPart, ImagePart, TextPart, ToolPart, normalize_part

from tests.handlers.service import Client

FULL = ToolPart(
    tool_id="call_1",
    tool_name="search",
    tool_uri="viking://~/memories/tools/search.md",
    skill_uri="viking://~/memories/skills/find.md",
    tool_input={"q": "regatta", "深": [1, None, {"a": 0.5}]},
    tool_output="three boats",
    tool_status="error",
    duration_ms=12.5,
    prompt_tokens=7,
    completion_tokens=0,
    tool_output_ref="tr_1",
    tool_output_truncated=True,
    tool_output_original_chars=40_000,
    tool_output_preview_chars=11,
    tool_output_sha256="ab" * 32,
    tool_output_storage_uri="viking://~/sessions/s/tool-results/tr_1",
    tool_output_mime_type="application/json",
    tool_output_source_ref="tr_0",
    tool_output_source_offset=0,
    tool_output_source_limit=100,
    tool_output_externalization_error="too slow",
    tool_output_group_id="g1",
    tool_output_externalized_reason="single_threshold",
    tool_output_group_original_chars=50_000,
    tool_output_group_budget_chars=20_000,
)
PARTS = {
    "text": TextPart("Hello 👋"),
    "context": ContextPart(uri="viking://~/memories/profile.md", context_type="skill", abstract="who"),
    "image": ImagePart(url="https://example.com/x.png", detail="low"),
    "plain image": ImagePart(url="data:image/png;base64,AAAA"),
    "full tool": FULL,
    "call": ToolPart(tool_id="call_1", tool_name="search", tool_input={}, tool_status="running"),
    "empty tool": ToolPart(),
}


@pytest.mark.parametrize("name", PARTS)
def test_a_part_comes_back(alice: Client, name: str) -> None:
    sent = normalize_part(PARTS[name])
    more = {"turn_id": "t1", "message_kind": "tool_transport", "source_message_ids": ["m1", "m2"]}
    assert alice.append("s", role="assistant", parts=[sent], id="m", **more).status == 200

    def expect(messages: list[dict[str, Any]]) -> None:
        (message,) = messages
        assert message["parts"] == [sent]
        assert {field: message[field] for field in more} == more

    expect(alice.get("/sessions/s/messages").result)
    expect(alice.context("s").result["messages"])
    alice.commit("s")
    alice.service.pump()
    expect(alice.get("/sessions/s/archives/archive_001").result["messages"])
    expect(alice.get("/sessions/s/messages").result)


@pytest.mark.parametrize(
    "fields",
    [
        {"tool_output_original_chars": -1},
        {"tool_output_source_limit": -2},
        {"tool_output_truncated": "perhaps"},
        {"tool_output_ref": "x" * 513},
        {"tool_status": "cancelled"},
    ],
)
def test_a_tool_part_that_is_none(alice: Client, fields: Any) -> None:
    answer = alice.append("s", role="assistant", parts=[{"type": "tool", **fields}])
    assert answer.refusal == (400, "INVALID_ARGUMENT")
