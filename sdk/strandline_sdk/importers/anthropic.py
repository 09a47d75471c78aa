"""Anthropic messages: {role, content} with content blocks, a request {"system", "messages"}, or a list or JSON lines
of either.

    tool_use -> tool part, pending, of the assistant message     tool_result -> tool message with the same tool id
    is_error -> its status is error                              system -> system message at the beginning
    image by URL -> image; inline -> "[image]"                   thinking -> dropped: it was said to nobody

A user message that holds tool results and something else stays one message. `chat` says what becomes of ids and times.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from strandline_sdk.importers import chat
from strandline_sdk.importers.anthropic_blocks import says
from strandline_sdk.importers.imported import Bad, Entry, ImportedSession, word

_OWN_BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document"})


def recognises(sample: Sequence[Entry]) -> bool:
    """Whether a file begins with messages of which one is as only Anthropic has it."""
    messages = SHAPE.sampled(sample)
    return bool(messages) and (any(map(_is_own, messages)) or any(_preface(e.value) for e in sample))


def sessions(entries: Iterable[Entry], bad: Bad) -> Iterator[ImportedSession]:
    """One session per conversation."""
    return chat.sessions(SHAPE, entries, bad)


def _role(value: Any) -> str | None:
    return str(value["role"]) if isinstance(value, dict) and "role" in value else None


def _preface(owner: object) -> Mapping[str, Any] | None:
    system = owner.get("system") if isinstance(owner, dict) else None
    return {"role": "system", "content": system} if system else None


def _is_own(message: Any) -> bool:
    content = message.get("content") if isinstance(message, dict) else None
    blocks = content if isinstance(content, list) else ()
    return any(word(block, "type") in _OWN_BLOCKS for block in blocks)


SHAPE = chat.Shape(fields=("messages",), role=_role, says=says, preface=_preface)
