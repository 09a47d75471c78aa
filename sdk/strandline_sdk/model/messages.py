"""Messages and their parts, as they are sent and as they are stored."""

from typing import Any, Literal, NotRequired, Required, TypedDict

Role = Literal["user", "assistant", "system", "tool"]
ToolStatus = Literal["pending", "running", "completed", "error"]


class TextPart(TypedDict):
    type: Literal["text"]
    text: str


class ContextPart(TypedDict):
    type: Literal["context"]
    uri: str
    context_type: NotRequired[str]
    abstract: NotRequired[str]


class ImageUrl(TypedDict):
    url: str
    detail: NotRequired[str]


class ImagePart(TypedDict):
    type: Literal["image_url"]
    image_url: ImageUrl


class ToolPart(TypedDict):
    type: Literal["tool"]
    tool_id: str
    tool_name: NotRequired[str]
    tool_input: NotRequired[Any]
    tool_output: NotRequired[str]
    tool_status: NotRequired[ToolStatus]


Part = TextPart | ContextPart | ImagePart | ToolPart


class Message(TypedDict, total=False):
    """A message to append: `content` or `parts`, not both. `created_at` is RFC 3339."""

    role: Required[Role]
    content: str
    parts: list[Part]
    id: str
    peer_id: str
    created_at: str
    turn_id: str
    message_kind: str
    metadata: dict[str, Any]


class StoredMessage(Message, total=False):
    """A message as it is stored: with its place in the session."""

    seq: Required[int]


class ToolResult(TypedDict, total=False):
    """A tool output that is stored beside its message; `id` reads it."""

    id: Required[str]
    tool_id: str
    tool_name: str
    message_id: str
    total_chars: Required[int]
    sha256: str


class ToolResultText(TypedDict):
    id: str
    content: str
    offset: int
    limit: int
    total_chars: int


class ToolResultHit(TypedDict):
    offset: int
    text: str
