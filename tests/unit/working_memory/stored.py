"""Stored messages for these tests, numbered from 1."""

from collections.abc import Sequence
from typing import Any

Stored = dict[str, Any]


def user(text: str, **more: Any) -> Stored:
    return {"role": "user", "content": text, **more}


def assistant(text: str, **more: Any) -> Stored:
    return {"role": "assistant", "content": text, **more}


def call(name: str, identity: str, say: str = "", **given: Any) -> Stored:
    """An assistant's message that calls a tool."""
    tool = {
        "type": "tool",
        "tool_id": identity,
        "tool_name": name,
        "tool_input": given,
        "tool_status": "pending",
    }
    return {"role": "assistant", "parts": [*([{"type": "text", "text": say}] if say else []), tool]}


def result(identity: str, output: str, status: str = "completed", name: str = "") -> Stored:
    tool = {
        "type": "tool",
        "tool_id": identity,
        "tool_name": name,
        "tool_output": output,
        "tool_status": status,
    }
    return {"role": "tool", "parts": [tool]}


def log(*messages: Stored, first: int = 1) -> Sequence[Stored]:
    """The messages as they are stored, ten tokens each unless they say otherwise."""
    return [
        {"seq": n, "tokens": 10, "created_at": "2024-03-06T10:15:00.000Z", **message}
        for n, message in enumerate(messages, first)
    ]
