"""A context for a model, as it is shown."""

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from strandline.entry.results.sessions import Message


class Summary(TypedDict):
    """The working memory of the messages up to `covered_through_seq`."""

    text: str
    covered_through_seq: int


class ContextMemory(TypedDict):
    """A memory with lines in the block: how many, the tokens they add, the best line and its score. `explain` says
    how the score is made up."""

    uri: str
    type: str
    score: float
    lines: int
    tokens: int
    best: str
    explain: dict[str, Any]


class MemoryBlock(TypedDict):
    """The memories as text for the prompt, "" for none; `left_out` counts lines that were found and had no room."""

    text: str
    tokens: int
    left_out: int


class ContextTokens(TypedDict):
    """`estimate`: of messages, summary and memories before anything was left out, and where it comes from; `used`: of
    those that are in the answer. Without a window there are no thresholds."""

    estimate: int
    source: Literal["estimated", "usage", "hybrid"]
    used: int
    effective_window: int | None
    warning: int | None
    auto: int | None
    blocking: int | None


class Reduced(TypedDict):
    """What a stage did to a tool result; lengths in characters."""

    stage: Literal["budget", "snip", "micro"]
    message_id: str
    tool_id: str
    action: Literal["preview", "snipped", "cleared"]
    chars_before: int
    chars_after: int


class Dropped(TypedDict):
    """Messages that are neither covered by the summary nor shown. `missing`: somebody has removed them from the
    bucket."""

    seq_from: int
    seq_to: int
    reason: Literal["over_budget", "result_without_call", "missing"]


class Cut(TypedDict):
    """A message that was itself cut, and how many of its characters are left out."""

    seq: int
    chars: int


class AutoCompaction(TypedDict):
    """The automatic compaction: failures in a row, the last error, and, after too many, when it is tried again
    (`open` until then). `task_id` is the running one's, `through_seq` the last seq that it is to cover."""

    status: Literal["none", "scheduled", "running", "open"]
    failures: int
    last_error: str | None
    retry_at: str | None
    task_id: NotRequired[str]
    through_seq: NotRequired[int]


class ModelContext(TypedDict):
    """What fits before the next call of a model. `degraded`: compaction has failed too often, so the context is
    shortened only by what needs no model."""

    session_id: str
    messages: list[Message]
    summary: Summary | None
    memories: list[ContextMemory]
    memory_block: MemoryBlock
    tokens: ContextTokens
    decisions: list[Reduced]
    dropped: list[Dropped]
    cut: list[Cut]
    compaction: AutoCompaction
    degraded: bool
