"""What one Anthropic message says: its content blocks as parts."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from strandline_sdk.importers.chat import Calls
from strandline_sdk.importers.imported import Entry, InputError, Place, word
from strandline_sdk.model import Message, Part, Role

ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
# Thoughts were said to nobody; the signature of one that is hidden says nothing.
_DROPPED = frozenset({"thinking", "redacted_thinking"})


def says(entry: Entry, calls: Calls) -> Sequence[Message]:
    """One message, one per result where it holds nothing but tool results, none where it says nothing.

    Raises InputError.
    """
    source, place = entry.value, entry.place
    role = ROLES.get(word(source, "role"))
    if role is None:
        raise InputError(place, f"must be an object whose 'role' is one of {', '.join(ROLES)}")
    content = source.get("content")
    if isinstance(content, str):
        return [{"role": role, "content": content}] if content else []
    if not isinstance(content, list):
        raise InputError(place, "'content' must be a string or a list of blocks")
    blocks = [(block, place.at(f"block {number}")) for number, block in enumerate(content, start=1)]
    parts = [part for block, where in blocks for part in _parts(block, calls, where)]
    if parts and all("tool_output" in part for part in parts):
        return [{"role": "tool", "parts": [part]} for part in parts]
    return [{"role": role, "parts": parts}] if parts else []


def _parts(block: Any, calls: Calls, place: Place) -> Iterator[Part]:
    kind = word(block, "type")
    if kind == "text":
        yield from _text(block, place)
    elif kind == "image":
        yield _image(block)
    elif kind == "document":
        yield {"type": "text", "text": _document(block)}
    elif kind.endswith("tool_use"):
        yield _call(block, calls, place)
    elif kind.endswith("tool_result"):
        yield _result(block, calls)
    elif kind not in _DROPPED:
        known = "text, image, document, tool_use, tool_result, thinking"
        raise InputError(place, f"cannot import type {kind!r}: remove the block or make it one of {known}")


def _text(block: Mapping[str, Any], place: Place) -> Iterator[Part]:
    if not isinstance(block.get("text"), str):
        raise InputError(place, "'text' must be a string")
    if block["text"]:
        yield {"type": "text", "text": block["text"]}


def _source(block: Mapping[str, Any]) -> Mapping[str, Any]:
    source = block.get("source")
    return source if isinstance(source, dict) else {}


def _image(block: Mapping[str, Any]) -> Part:
    """An image that is inline data, or a file that only its owner can read, is no more than a mark."""
    url = _source(block).get("url")
    if isinstance(url, str) and url and not url.startswith("data:"):
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "text", "text": "[image]"}


def _document(block: Mapping[str, Any]) -> str:
    """The title; and the text, where the document is one."""
    source, title = _source(block), block.get("title")
    mark = f"[document: {title}]" if title else "[document]"
    return f"{mark}\n{source['data']}" if source.get("type") == "text" and source.get("data") else mark


def _call(block: Mapping[str, Any], calls: Calls, place: Place) -> Part:
    if not isinstance(block.get("name"), str):
        raise InputError(place, "a tool use must have a 'name'")
    tool_id, tool = calls.called(block["name"], block.get("id"))
    return {
        "type": "tool",
        "tool_id": tool_id,
        "tool_name": tool,
        "tool_input": block.get("input"),
        "tool_status": "pending",
    }


def _result(block: Mapping[str, Any], calls: Calls) -> Part:
    tool_id, tool = calls.answered(block.get("tool_use_id"))
    return {
        "type": "tool",
        "tool_id": tool_id,
        "tool_name": tool,
        "tool_output": _output(block.get("content")),
        "tool_status": "error" if block.get("is_error") else "completed",
    }


def _output(content: Any) -> str:
    """The text of a result: a string, blocks of text and marks of what is no text, or whatever a tool answered."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list):
        return "\n".join(map(_shown, content))
    return json.dumps(content, ensure_ascii=False)


def _shown(block: Any) -> str:
    if isinstance(block, dict) and isinstance(block.get("text"), str):
        return str(block["text"])
    if isinstance(block, dict) and block.get("type") in ("image", "document"):
        return f"[{block['type']}]"
    return json.dumps(block, ensure_ascii=False)
