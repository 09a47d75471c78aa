"""Long tool outputs as they are shown."""

from typing_extensions import TypedDict


class ToolResult(TypedDict):
    """A tool output that was too long for its message. Characters are Unicode code points; the hash is of its UTF-8."""

    id: str
    tool_id: str
    tool_name: str
    message_id: str
    total_chars: int
    sha256: str


class Window(TypedDict):
    """A piece of it; `limit` is what was applied, at most as much as one answer holds."""

    id: str
    content: str
    offset: int
    limit: int
    total_chars: int


class Hit(TypedDict):
    """Where a text occurs in it, and what is around."""

    offset: int
    text: str
