"""What an agent gives its model before each call."""

from typing import Any, TypedDict, Unpack, cast

from strandline_sdk.connection import Connection, given, session_path
from strandline_sdk.model import StoredMessage


class ContextOptions(TypedDict, total=False):
    """The model's window and what is taken of it, in tokens. `memory` is a budget ({"max_tokens", "types", "quotas"}),
    `usage` what the last call took ({"input_tokens", "fingerprint"}); `compaction` overrides the session's limits."""

    model_context_window_tokens: int | None
    max_output_tokens: int | None
    reserved_tokens: int | None
    query: str | None
    memory: dict[str, Any] | None
    usage: dict[str, Any] | None
    compaction: dict[str, dict[str, Any]] | None
    as_of: str | None


class ModelContext(TypedDict):
    """What fits: messages, the summary of those before them, memories; what was reduced or left out, and how it stands
    with making the session shorter."""

    session_id: str
    messages: list[StoredMessage]
    summary: dict[str, Any] | None
    memories: list[dict[str, Any]]
    memory_block: dict[str, Any]
    tokens: dict[str, Any]
    decisions: list[dict[str, Any]]
    dropped: list[dict[str, Any]]
    cut: list[dict[str, Any]]
    compaction: dict[str, Any]
    degraded: bool


class Contexts(Connection):
    """The part of the client that asks for contexts."""

    def build_context(
        self, session_id: str, *, no_memory: bool = False, **options: Unpack[ContextOptions]
    ) -> ModelContext:
        """What fits before the next call of a model; the same until a message is added."""
        body = {**given(options), **({"memory": None} if no_memory else {})}
        return cast(ModelContext, self._write("POST", session_path(session_id, "/context"), body))
