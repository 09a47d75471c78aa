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
State = dict[str, Any]


def said_by(event: Event) -> Message:
    """The message that an event is, without `temp:` state. Its id is a hash of all that it holds: the same event is the
    same message, another one with its id is not."""
    whole = event.model_dump(mode="json", exclude_none=True)
    whole["actions"]["state_delta"] = lasting(whole["actions"].get("state_delta", {}))
    identity = hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:32]
    if "content" in whole:
        whole["content"] = sealed(whole["content"])
    said: Message = message(_role(event), _parts(event), {KEY: {"event": whole}})
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


def _parts(event: Event) -> Iterator[Part]:
    for part in (event.content and event.content.parts) or []:
        if asked := part.function_call:
            yield call(asked.id or asked.name, asked.name, asked.args)
        elif answer := part.function_response:
            yield result(answer.id or answer.name, answer.name, _output(answer.response))
        elif not part.thought and (text := _text(part)):
            yield {"type": "text", "text": text}


def _output(response: Mapping[str, Any] | None) -> Any:
    """What a tool said; ADK puts what is no object under `result`."""
    said = response or {}
    return said["result"] if said.keys() == {"result"} else said


def _text(part: types.Part) -> str:
    """A part's text, or a mark of what is no text."""
    if part.text is not None:
        return part.text
    if part.executable_code:
        return part.executable_code.code or ""
    if part.code_execution_result:
        return part.code_execution_result.output or ""
    data = part.inline_data or part.file_data
    return f"[{data.mime_type or 'data'}]" if data else ""
