"""A framework's own objects in the metadata of messages, and what they say as parts.

Signatures by which a model's provider knows its own thoughts again are no credentials, but are named as some are, and
the service takes those out of what it stores. They are kept under another name.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from strandline_sdk.model import Message, Part, Role, ToolPart, ToolStatus

MAX_PARTS = 100
_ID_CHARS = 256
# A signature stands beside what it signs and nothing else; any other is a value of that name.
_THOUGHT = ({"signature", "text"}, {"signature", "thinking", "type"})
_OTHERWISE = {
    "thought_signature": "thought_signed",
    "thoughtSignature": "thoughtSigned",
    "signature": "signed",
}
_AGAIN = {other: name for name, other in _OTHERWISE.items()}


def sealed(value: Any) -> Any:
    """The JSON value with its signatures under names that are no secret's."""
    if isinstance(value, Mapping):
        return {_sealed_key(key, value): sealed(item) for key, item in value.items()}
    return [sealed(item) for item in value] if isinstance(value, list | tuple) else value


def opened(value: Any) -> Any:
    """What `sealed` was given."""
    if isinstance(value, dict):
        return {_opened_key(key): opened(item) for key, item in value.items()}
    return [opened(item) for item in value] if isinstance(value, list) else value


def _sealed_key(key: str, beside: Mapping[str, Any]) -> str:
    if key.rstrip("~") in _AGAIN:
        return f"{key}~"
    signs = key != "signature" or beside.keys() in _THOUGHT
    return _OTHERWISE.get(key, key) if signs else key


def _opened_key(key: str) -> str:
    return key[:-1] if key.endswith("~") and key.rstrip("~") in _AGAIN else _AGAIN.get(key, key)


def message(role: Role, parts: Iterable[Part], metadata: Mapping[str, Any]) -> Message:
    """A message that says these parts, and has a framework's own object as metadata."""
    said = list(parts)[:MAX_PARTS]
    if said:
        return {"role": role, "parts": said, "metadata": dict(metadata)}
    return {"role": role, "content": "", "metadata": dict(metadata)}


def call(tool_id: Any, name: Any, arguments: Any) -> ToolPart:
    """A tool call. Arguments that are JSON as text are taken as what they say."""
    return {
        "type": "tool",
        "tool_id": str(tool_id or "")[:_ID_CHARS],
        "tool_name": str(name or "")[:_ID_CHARS],
        "tool_input": _read(arguments),
        "tool_status": "pending",
    }


def result(tool_id: Any, name: Any, output: Any, status: ToolStatus = "completed") -> ToolPart:
    """The result of a tool call, as text."""
    return {
        "type": "tool",
        "tool_id": str(tool_id or "")[:_ID_CHARS],
        "tool_name": str(name or "")[:_ID_CHARS],
        "tool_output": output if isinstance(output, str) else as_text(output),
        "tool_status": status,
    }


def as_text(value: Any) -> str:
    """Any JSON value as text."""
    return json.dumps(value, ensure_ascii=False)


def _read(arguments: Any) -> Any:
    try:
        return json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        return arguments
