"""The limits of compaction: what a session is created with, overridden by what one call asks for.

Defaults are those of the published pipeline that this one follows (tRPC-Agent-Python 1.2.0, the folder
`sessions/compact/advanced`).
"""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from strandline.domain.scalars import Switched, Whole

TOOLS = (
    "Read",
    "Bash",
    "Grep",
    "Glob",
    "Search",
    "CodeSearch",
    "WebFetch",
    "WebSearch",
    "Edit",
    "Write",
)
MAX_CHARS = 1_000_000_000


class _Limit(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ToolResultBudget(_Limit):
    """Characters of one tool result, of the results between two assistant messages together, and of what stands for a
    result that is too long."""

    max_chars: Whole = Field(default=50_000, ge=1, le=MAX_CHARS)
    group_chars: Whole = Field(default=200_000, ge=1, le=MAX_CHARS)
    preview_chars: Whole = Field(default=2_000, ge=0, le=MAX_CHARS)

    @model_validator(mode="after")
    def _smaller(self) -> "ToolResultBudget":
        if self.preview_chars >= self.max_chars:
            raise ValueError("preview_chars must be less than max_chars")
        return self


class HistorySnip(_Limit):
    """Over `trigger_chars`, or over the warning threshold of tokens, the oldest results of these tools are left out,
    but for the newest `keep_recent`, until `target_chars`, or the threshold, is met."""

    trigger_chars: Whole = Field(default=600_000, ge=1, le=MAX_CHARS)
    target_chars: Whole = Field(default=400_000, ge=0, le=MAX_CHARS)
    keep_recent: Whole = Field(default=5, ge=0, le=10_000)
    tools: tuple[str, ...] = Field(default=TOOLS, max_length=200)

    @model_validator(mode="after")
    def _ordered(self) -> "HistorySnip":
        if self.target_chars >= self.trigger_chars:
            raise ValueError("target_chars must be less than trigger_chars")
        return self


class MicroCompact(_Limit):
    """When the last assistant message is `gap_seconds` old, or more than `trigger_count` results of these tools are
    there, all but the newest `keep_recent` are cleared."""

    gap_seconds: Whole = Field(default=3_600, ge=1, le=315_360_000)
    trigger_count: Whole = Field(default=20, ge=1, le=1_000_000)
    keep_recent: Whole = Field(default=5, ge=0, le=1_000_000)
    tools: tuple[str, ...] = Field(default=TOOLS, max_length=200)

    @model_validator(mode="after")
    def _ordered(self) -> "MicroCompact":
        if self.keep_recent >= self.trigger_count:
            raise ValueError("keep_recent must be less than trigger_count")
        return self


class AutoCompact(_Limit):
    """A commit that keeps `keep_recent` messages, at the `auto` threshold of tokens or, where no window is known, at
    `trigger_chars`. After `max_failures` in a row it is not tried for `cool_down_seconds`; then once."""

    enabled: Switched = True
    trigger_chars: Whole = Field(default=700_000, ge=1, le=MAX_CHARS)
    target_chars: Whole = Field(default=350_000, ge=0, le=MAX_CHARS)
    blocking_chars: Whole = Field(default=780_000, ge=1, le=MAX_CHARS)
    keep_recent: Whole = Field(default=8, ge=1, le=10_000)
    max_failures: Whole = Field(default=3, ge=1, le=100)
    cool_down_seconds: Whole = Field(default=300, ge=1, le=86_400)

    @model_validator(mode="after")
    def _ordered(self) -> "AutoCompact":
        if not self.target_chars < self.trigger_chars < self.blocking_chars:
            raise ValueError("target_chars < trigger_chars < blocking_chars must hold")
        return self


class Limits(_Limit):
    """All of them. A part that is not named has its defaults."""

    tool_result_budget: ToolResultBudget = ToolResultBudget()
    history_snip: HistorySnip = HistorySnip()
    micro_compact: MicroCompact = MicroCompact()
    auto_compact: AutoCompact = AutoCompact()


def resolve(session: Mapping[str, Any] | None, call: Mapping[str, Any] | None) -> Limits:
    """The limits of one call: field by field its own, else the session's, else the defaults.

    Raises pydantic.ValidationError when they do not go together.
    """
    merged: dict[str, dict[str, Any]] = {}
    for given in (session or {}, call or {}):
        for part, fields in given.items():
            merged[part] = {**merged.get(part, {}), **fields} if isinstance(fields, Mapping) else fields
    return Limits.model_validate(merged)
