"""What one OpenAI chat message says: role, and content or parts."""

from collections.abc import Iterator, Mapping
from typing import Any

from strandline_sdk.importers.chat import Calls
from strandline_sdk.importers.imported import Entry, InputError, Place, peer, word
from strandline_sdk.importers.json_list import loads
from strandline_sdk.model import Message, Part, Role

ROLES: dict[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}
# The field that holds the text of a content part, by the part's type.
_TEXT_FIELD = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
_IMAGES = ("image_url", "input_image")
# What stays of a part whose data is no text to remember; so it is with an image that is inline data.
_MEDIA = {
    "input_audio": "[audio]",
    "audio": "[audio]",
    "video_url": "[video]",
    "file": "[file]",
    "input_file": "[file]",
}
# Of another format, whose file began as this one may.
_ANTHROPIC = ("tool_use", "tool_result", "thinking", "image", "document")


def body(entry: Entry, calls: Calls) -> Message | None:
    """Role, content or parts, and peer; None when the message says nothing. Raises InputError."""
    source, place = entry.value, entry.place
    role = ROLES.get(word(source, "role"))
    if role is None:
        raise InputError(place, f"must be an object whose 'role' is one of {', '.join(ROLES)}")
    if role == "tool":
        return {"role": role, "parts": [_result(source, calls, place)]}
    parts = [*_content(source, place), *_calls(source, calls, place)]
    message = _message(role, parts, plain=isinstance(source.get("content"), str))
    if message and role == "user" and source.get("name"):
        message["peer_id"] = peer(str(source["name"]), place)
    return message


def _message(role: Role, parts: list[Part], *, plain: bool) -> Message | None:
    if plain and len(parts) == 1 and parts[0]["type"] == "text":
        return {"role": role, "content": parts[0]["text"]}
    return {"role": role, "parts": parts} if parts else None


def _content(source: Mapping[str, Any], place: Place) -> Iterator[Part]:
    content = source.get("content") or source.get("refusal") or []
    if isinstance(content, str):
        yield {"type": "text", "text": content}
        return
    if not isinstance(content, list):
        raise InputError(place, "'content' must be a string, a list of parts or null")
    for number, part in enumerate(content, start=1):
        yield from _part(part, place.at(f"content part {number}"))


def _part(part: Any, place: Place) -> Iterator[Part]:
    if isinstance(part, str):
        part = {"type": "text", "text": part}
    kind = word(part, "type")
    if kind in _MEDIA:
        yield {"type": "text", "text": _MEDIA[kind]}
    elif kind in _IMAGES:
        yield _image(part, place)
    elif kind in _TEXT_FIELD:
        yield from _text(part, _TEXT_FIELD[kind], place)
    else:
        known = ", ".join((*_TEXT_FIELD, *_IMAGES, *_MEDIA))
        hint = "import it with --format anthropic" if kind in _ANTHROPIC else "remove the part"
        raise InputError(place, f"cannot import type {kind!r}: {hint} or make it one of {known}")


def _text(part: Mapping[str, Any], field: str, place: Place) -> Iterator[Part]:
    text = part.get(field)
    if not isinstance(text, str):
        raise InputError(place, f"'{field}' must be a string")
    if text:
        yield {"type": "text", "text": text}


def _image(part: Mapping[str, Any], place: Place) -> Part:
    image = part.get("image_url")
    url = image.get("url") if isinstance(image, dict) else image
    if not isinstance(url, str) or not url:
        raise InputError(place, "'image_url' must hold a 'url'")
    if url.startswith("data:"):
        return {"type": "text", "text": "[image]"}
    detail = image.get("detail") if isinstance(image, dict) else part.get("detail")
    return {"type": "image_url", "image_url": {"url": url, "detail": detail} if detail else {"url": url}}


def _calls(source: Mapping[str, Any], calls: Calls, place: Place) -> Iterator[Part]:
    for number, call in enumerate(_raw_calls(source), start=1):
        function = (call.get("function") or call.get("custom")) if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise InputError(place.at(f"tool call {number}"), "must hold a 'function' with a 'name'")
        tool_id, tool = calls.called(function["name"], call.get("id") or function["name"])
        yield {
            "type": "tool",
            "tool_id": tool_id,
            "tool_name": tool,
            "tool_input": arguments(function.get("arguments", function.get("input"))),
            "tool_status": "pending",
        }


def _raw_calls(source: Mapping[str, Any]) -> list[Any]:
    """The calls; a deprecated `function_call` is one whose id is the function's name."""
    if isinstance(source.get("function_call"), dict):
        return [{"function": source["function_call"]}]
    calls = source.get("tool_calls")
    return calls if isinstance(calls, list) else []


def arguments(written: object) -> object:
    """Arguments come as JSON text that a model wrote: what is no JSON stays text."""
    try:
        return loads(written) if isinstance(written, str) else written
    except (ValueError, RecursionError):
        return written


def _result(source: Mapping[str, Any], calls: Calls, place: Place) -> Part:
    tool_id, tool = calls.answered(_call_id(source))
    texts = [part["text"] for part in _content(source, place) if part["type"] == "text"]
    return {
        "type": "tool",
        "tool_id": tool_id,
        "tool_name": tool or word(source, "name")[:256],
        "tool_output": "\n".join(texts),
        "tool_status": "completed",
    }


def _call_id(source: Mapping[str, Any]) -> object:
    """The id of the call that a result names, or, where the call had none, its tool's name."""
    several = source.get("tool_call_ids")
    first = several[0] if isinstance(several, list) and several else None
    return source.get("tool_call_id") or first or source.get("name")
