"""Events of ADK as messages, and back."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from google.adk.events.event import Event
from google.genai import types

from strandline_sdk.frameworks.raw import call, message, opened, result, sealed
from strandline_sdk.model import Message, Part, Role, StoredMessage

KEY = "adk"
APP, USER, TEMP = "app:", "user:", "temp:"
_SAID = {"text": None, "executable_code": "code", "code_execution_result": "output"}
State = dict[str, Any]


def said_by(event: Event) -> Message:
    """The message that an event is, without `temp:` state. Its id is a hash of all that it holds: the same event is the
    same message, another one with its id is not."""
    whole = event.model_dump(mode="json", exclude_none=True)
    whole["actions"]["state_delta"] = lasting(whole["actions"].get("state_delta", {}))
    identity = hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:32]
    content = whole.get("content", {})
    if content:
        whole["content"] = sealed(content)
    said = message(_role(event), _parts(content), {KEY: {"event": whole}})
    said["id"] = identity
    said["created_at"] = datetime.fromtimestamp(event.timestamp, UTC).isoformat(timespec="milliseconds")
    return said


def begun_with(state: State) -> Message:
    """A message that says nothing and holds what a session begins with."""
    return message("system", [], {KEY: {"state": state}})


def changes_of(said: Message) -> State:
    """The state that an event of `said_by` changes, of all scopes."""
    delta: State = said["metadata"][KEY]["event"]["actions"]["state_delta"]
    return delta


def read(stored: Iterable[StoredMessage]) -> Iterator[tuple[Event | None, State]]:
    """Each event, or None for what a session begins with, and the state of the session that it changes."""
    for each in stored:
        note = each.get("metadata", {}).get(KEY, {})
        if "state" in note:
            yield None, note["state"]
        elif "event" in note:
            whole = note["event"]
            if "content" in whole:
                whole = {**whole, "content": opened(whole["content"])}
            yield Event.model_validate_json(json.dumps(whole)), own(whole["actions"]["state_delta"])


def lasting(state: Mapping[str, Any]) -> State:
    return {key: value for key, value in state.items() if not key.startswith(TEMP)}


def own(state: Mapping[str, Any]) -> State:
    """What is the session's."""
    return {key: value for key, value in state.items() if not key.startswith((APP, USER, TEMP))}


def scope(prefix: str, state: Mapping[str, Any]) -> State:
    """What is of that scope, without the prefix."""
    return {key.removeprefix(prefix): value for key, value in state.items() if key.startswith(prefix)}


def texts(content: types.Content | None) -> list[str]:
    """What a content says in words; thoughts are said to nobody."""
    parts = (content and content.parts) or []
    return [part.text for part in parts if part.text and not part.thought]


def _role(event: Event) -> Role:
    if event.get_function_responses():
        return "tool"
    return "user" if event.author == "user" else "assistant"


def _parts(content: Mapping[str, Any]) -> Iterator[Part]:
    """What the parts of a content say, as JSON: the objects that tools answer are text there."""
    for part in content.get("parts") or ():
        if asked := part.get("function_call"):
            yield call(asked.get("id") or asked.get("name"), asked.get("name"), asked.get("args"))
        elif answer := part.get("function_response"):
            name = answer.get("name")
            yield result(answer.get("id") or name, name, _output(answer.get("response") or {}))
        elif not part.get("thought") and (text := _text(part)):
            yield {"type": "text", "text": text}


def _output(response: Mapping[str, Any]) -> Any:
    """What a tool said; ADK puts what is no object under `result`."""
    return response["result"] if response.keys() == {"result"} else response


def _text(part: Mapping[str, Any]) -> str:
    """A part's text, or a mark of what is no text."""
    for kind, field in _SAID.items():
        if part.get(kind):
            said = part[kind].get(field) if field else part[kind]
            return str(said or "")
    data = part.get("inline_data") or part.get("file_data")
    return f"[{data.get('mime_type') or 'data'}]" if data else ""
