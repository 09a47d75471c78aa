"""ShareGPT: {"conversations": [{"from", "value"}, …], "system"?, "tools"?}, or a list or JSON lines of it.

    human -> user    gpt -> assistant    system, also beside the conversation -> system message at the beginning
    function_call {"name", "arguments"} -> tool part, pending, of an assistant message
    observation, tool -> tool message that belongs to the first call without a result
    tools, the descriptions of what could be called -> dropped: they were said to nobody

`chat` says what becomes of ids and times.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from strandline_sdk.importers import chat
from strandline_sdk.importers.imported import Bad, Entry, ImportedSession, InputError
from strandline_sdk.importers.openai_parts import arguments
from strandline_sdk.model import Message, Part, Role

ROLES: dict[str, Role] = {
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "assistant": "assistant",
    "model": "assistant",
    "bot": "assistant",
    "system": "system",
}
_CALLS = ("function_call", "tool_call")
_RESULTS = ("observation", "tool", "tool_response", "function_response")


def recognises(sample: Sequence[Entry]) -> bool:
    """Whether a file begins with a ShareGPT conversation or with its messages."""
    return bool(SHAPE.sampled(sample))


def sessions(entries: Iterable[Entry], bad: Bad) -> Iterator[ImportedSession]:
    """One session per conversation."""
    return chat.sessions(SHAPE, entries, bad)


def _role(value: Any) -> str | None:
    return str(value["from"]) if isinstance(value, dict) and "from" in value and "value" in value else None


def _preface(owner: Mapping[str, Any]) -> Mapping[str, Any] | None:
    system = owner.get("system")
    return {"from": "system", "value": system} if system else None


def _says(entry: Entry, calls: chat.Calls) -> Sequence[Message]:
    role, value = _role(entry.value), entry.value.get("value") if isinstance(entry.value, dict) else None
    if role not in (*ROLES, *_CALLS, *_RESULTS):
        known = ", ".join((*ROLES, *_CALLS, *_RESULTS))
        raise InputError(entry.place, f"must be an object with a 'value' whose 'from' is one of {known}")
    if role in _CALLS:
        return [{"role": "assistant", "parts": [_call(call, calls) for call in _written(value)]}]
    if not isinstance(value, str):
        raise InputError(entry.place, f"'value' must be a string, not {type(value).__name__}")
    if role in _RESULTS:
        return [{"role": "tool", "parts": [_result(value, calls)]}]
    return [{"role": ROLES[role], "content": value}] if value else []


def _written(value: object) -> list[Any]:
    """The calls of a value: one or a list, as JSON text that a model wrote."""
    found = arguments(value)
    return found if isinstance(found, list) and found else [found]


def _call(call: Any, calls: chat.Calls) -> Part:
    """What is no call stays text, as the input of a tool without a name."""
    named = isinstance(call, dict) and isinstance(call.get("name"), str)
    tool_id, tool = calls.called(call["name"] if named else "")
    return {
        "type": "tool",
        "tool_id": tool_id,
        "tool_name": tool,
        "tool_input": arguments(call.get("arguments")) if named else call,
        "tool_status": "pending",
    }


def _result(value: str, calls: chat.Calls) -> Part:
    tool_id, tool = calls.answered()
    return {
        "type": "tool",
        "tool_id": tool_id,
        "tool_name": tool,
        "tool_output": value,
        "tool_status": "completed",
    }


SHAPE = chat.Shape(
    fields=("conversations",), role=_role, says=_says, user=("human", "user"), preface=_preface
)
