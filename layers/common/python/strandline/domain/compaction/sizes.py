"""How much of a model's window, and how many characters, a message takes: one rule for all, before and after.

A stored message carries the tokens of its texts, counted when it was stored. To them come what a message costs by
itself and the ids of its tool parts. A message that is shown otherwise than stored is counted anew, text by text.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Count = Callable[[str], int]

MESSAGE_TOKENS = 4
TOOL_PART_TOKENS = 4
CHARS_PER_ID_TOKEN = 2
"""Ids are random letters and digits: no encoding makes much more than two characters one token."""
SHORT = 80

_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def remembering(count: Count) -> Count:
    """The same count, which looks at a short text only once: names of tools and placeholders come again and again."""
    known = {"": 0}

    def counted_once(text: str) -> int:
        if len(text) > SHORT:
            return count(text)
        if text not in known:
            known[text] = count(text)
        return known[text]

    return counted_once


def texts(message: Mapping[str, Any]) -> Iterator[str]:
    """What counts of a stored message: the same as of one that comes in (`MessageIn.texts`)."""
    if message.get("content") is not None:
        yield message["content"]
    for part in message.get("parts") or ():
        yield from part_texts(part)


def part_texts(part: Mapping[str, Any]) -> tuple[str, ...]:
    """What counts of a part."""
    match part["type"]:
        case "text":
            return (part["text"],)
        case "context":
            return (part.get("abstract") or "",)
        case "tool":
            given = part.get("tool_input")
            asked = "" if given is None else _json(given)
            return (part.get("tool_name") or "", asked, part.get("tool_output") or "")
    return ()


def characters(message: Mapping[str, Any]) -> int:
    """Characters of its texts."""
    return sum(map(len, texts(message)))


def overhead(message: Mapping[str, Any]) -> int:
    """Tokens of a message beside its texts."""
    tools = [part for part in message.get("parts") or () if part["type"] == "tool"]
    return MESSAGE_TOKENS + sum(TOOL_PART_TOKENS + _id_tokens(part) for part in tools)


def counted(message: Mapping[str, Any], count: Count) -> int:
    """Tokens of its texts, counted now."""
    return sum(map(count, texts(message)))


def _id_tokens(part: Mapping[str, Any]) -> int:
    return -(-len(part.get("tool_id") or "") // CHARS_PER_ID_TOKEN)
