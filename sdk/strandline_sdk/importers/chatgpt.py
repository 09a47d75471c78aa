"""ChatGPT's data export, `conversations.json`: a conversation is a tree of nodes, of which one branch was seen last.

That branch becomes messages as `openai` reads them. Hidden messages, thoughts and the user's settings are left out.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from strandline_sdk.importers.imported import word

_TEXTS = ("text", "multimodal_text")
_OUTPUTS = ("code", "execution_output", "tether_quote")


def unfolded(value: Any) -> Any:
    """The conversation with the messages of its branch; anything else as it is."""
    if (
        not isinstance(value, dict)
        or not isinstance(value.get("mapping"), dict)
        or "current_node" not in value
    ):
        return value
    nodes = list(_branch(value["mapping"], word(value, "current_node")))[::-1]
    messages = [message for node in nodes if (message := _message(node.get("message")))]
    name = word(value, "conversation_id") or word(value, "id")
    return {"id": name, "created_at": value.get("create_time"), "messages": messages}


def _branch(nodes: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    """The nodes from one up to the root."""
    seen = set()
    while name not in seen and isinstance(nodes.get(name), dict):
        seen.add(name)
        yield nodes[name]
        name = word(nodes[name], "parent")


def _message(source: Any) -> dict[str, Any] | None:
    """The message of a node; None for one that nobody was shown."""
    if not isinstance(source, dict) or _is_hidden(source):
        return None
    author, recipient, text = source.get("author"), word(source, "recipient"), _text(source.get("content"))
    message: dict[str, Any] = {"role": word(author, "role"), "created_at": source.get("create_time")}
    if not text:
        return None
    if message["role"] == "assistant" and recipient not in ("", "all"):
        return {**message, "tool_calls": [{"function": {"name": recipient, "arguments": text}}]}
    named = {"name": word(author, "name")} if message["role"] == "tool" else {}
    return {**message, **named, "content": text}


def _is_hidden(source: Mapping[str, Any]) -> bool:
    metadata = source.get("metadata")
    return isinstance(metadata, dict) and bool(metadata.get("is_visually_hidden_from_conversation"))


def _text(content: Any) -> str:
    kind = word(content, "content_type")
    if kind in _OUTPUTS:
        return word(content, "text")
    parts = content.get("parts") if kind in _TEXTS else None
    return "\n".join(filter(None, map(_part, parts))) if isinstance(parts, list) else ""


def _part(part: Any) -> str:
    """A string, what was heard, or a mark of what was shown."""
    if isinstance(part, str):
        return part
    kind = word(part, "content_type").partition("_")[0]
    return word(part, "text") or (f"[{kind}]" if kind else "")
