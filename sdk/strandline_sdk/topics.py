"""What an agent writes down for itself, and finds again: topics, their index, the memory tool."""

import hashlib
import re
from typing import Any, Unpack, cast

from strandline_sdk.connection import Connection, given
from strandline_sdk.model import ShownIndex, ToolOutput, Topic, TopicFields

_NAME_CHARS = 80
_SUMMARY_CHARS = 200


class Topics(Connection):
    """The part of the client that agents use."""

    def save_topic(self, filename: str, content: str, **fields: Unpack[TopicFields]) -> Topic:
        """Saves a topic whole, over the one of that file name."""
        return cast(
            Topic,
            self._write(
                "POST", "/memories/topics", {"filename": filename, "content": content, **given(fields)}
            ),
        )

    def remember(self, content: str, **fields: Unpack[TopicFields]) -> Topic:
        """Saves a topic of which only the text need be said. The same name is the same topic; without one, the same
        words are."""
        lines = (" ".join(line.split()).lstrip("# ") for line in content.split("\n"))
        first = next(filter(None, lines), "Note")
        name = fields.get("name")
        title = name or first[:_NAME_CHARS]
        told: dict[str, Any] = {
            "name": title,
            "description": title,
            "summary": first[:_SUMMARY_CHARS],
            "memory_type": "project",
            **given(fields),
        }
        digest = hashlib.sha256(content.encode()).hexdigest()[:8]
        words = "-".join(re.findall(r"\w+", title.casefold()))[:_NAME_CHARS].strip("-_")
        return self.save_topic(
            "-".join(filter(None, (words, None if name and words else digest))), content, **told
        )

    def topics(self) -> ShownIndex:
        """The index of the topics, bounded for a prompt, and the topics in it."""
        return cast(ShownIndex, self._get("/memories/index"))

    def recall(self, query: str, *, max_tokens: int | None = None) -> ShownIndex:
        """The index, and in it as `block` the memories most relevant to a query, as text for a prompt of at most that
        many tokens."""
        return cast(ShownIndex, self._get("/memories/index", query=query, max_tokens=max_tokens))

    def memory_tool(self, command: str, **arguments: Any) -> ToolOutput:
        """One call of the memory tool as a model made it: hand `output` back to the model."""
        return cast(ToolOutput, self._write("POST", "/memory-tool", {"command": command, **arguments}))
