"""OpenAI chat JSON: messages {role, content}, a conversation {"messages": [...]}, or a list or JSON lines of either.

    tool call -> tool part, pending, of the assistant message  tool result -> tool message with the same tool id
    name of a user -> peer                                     developer -> system

Logs of agents that hold such messages as `traj` or `history` are read as well, and ChatGPT's data export.
`chat` says what becomes of ids and times, `openai_parts` what of contents.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from strandline_sdk.importers import anthropic, chat
from strandline_sdk.importers.chatgpt import unfolded
from strandline_sdk.importers.imported import Bad, Entry, ImportedSession, word
from strandline_sdk.importers.openai_parts import body
from strandline_sdk.model import Message

_OWN_ROLES = frozenset({"system", "developer", "tool", "function"})
_OWN_FIELDS = frozenset({"tool_calls", "function_call", "tool_call_id", "refusal"})
_OWN_PARTS = frozenset({"image_url", "input_text", "output_text", "input_image", "input_audio", "refusal"})


def recognises(sample: Sequence[Entry]) -> bool:
    """Whether a file begins with messages that need not be Anthropic's; those that say so are for either."""
    messages = SHAPE.sampled(sample)
    return bool(messages) and (any(map(_is_own, messages)) or not anthropic.recognises(sample))


def sessions(entries: Iterable[Entry], bad: Bad) -> Iterator[ImportedSession]:
    """One session per conversation."""
    return chat.sessions(SHAPE, entries, bad)


def _role(value: Any) -> str | None:
    return str(value["role"]) if isinstance(value, dict) and "role" in value else None


def _says(entry: Entry, calls: chat.Calls) -> Sequence[Message]:
    said = body(entry, calls)
    return [said] if said else []


def _is_own(message: Any) -> bool:
    """Whether a message is as only OpenAI has it."""
    if not isinstance(message, dict):
        return False
    content = message.get("content")
    return (
        word(message, "role") in _OWN_ROLES
        or any(message.get(field) for field in _OWN_FIELDS)
        or any(word(part, "type") in _OWN_PARTS for part in (content if isinstance(content, list) else ()))
    )


SHAPE = chat.Shape(fields=("messages", "traj", "history"), role=_role, says=_says, unfolded=unfolded)
