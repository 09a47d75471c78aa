"""What goes into the assembly of a context, and what comes out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from strandline.domain.compaction.limits import Limits
from strandline.domain.compaction.state import By, ContextState

Stored = Mapping[str, Any]
"""A stored message. A tool output that lies in an object of its own is in it whole where the budget may keep it."""


@dataclass(frozen=True)
class Room:
    """Tokens: the model's window, what it may answer, and what the caller's own prompt takes. Without a window
    characters count instead (`AutoCompact`)."""

    window: int | None = None
    max_output: int = 0
    reserved: int = 0


@dataclass(frozen=True)
class Thresholds:
    """effective = window - max_output - reserved; floor(0.85 / 0.90 / 0.95 x effective). Tokens."""

    effective: int
    warning: int
    auto: int
    blocking: int


@dataclass(frozen=True)
class Ask:
    """One call. `usage`: tokens and prompt fingerprint of the caller's last model call. `beside`, `beside_chars`: how
    many tokens and characters the rest of the answer has (summary, memories)."""

    room: Room
    limits: Limits
    now: datetime
    usage: tuple[int, str] | None = None
    beside: int = 0
    beside_chars: int = 0


@dataclass(frozen=True)
class Reduced:
    """A row of `decisions` in the answer: what a stage did to one tool result. Characters."""

    stage: By
    message_id: str
    tool_id: str
    action: Literal["preview", "snipped", "cleared"]
    chars_before: int
    chars_after: int


@dataclass(frozen=True)
class Left:
    """Messages that are neither covered by the summary nor shown, and why."""

    seq_from: int
    seq_to: int
    reason: Literal["over_budget", "result_without_call", "missing"]


@dataclass(frozen=True)
class Estimate:
    """Tokens of the answer before anything was left out: `usage` where nothing was said since the caller's last model
    call, `hybrid` where something was, else `estimated`. `characters` of the shown messages."""

    tokens: int
    source: Literal["estimated", "usage", "hybrid"]
    characters: int


@dataclass(frozen=True)
class Assembled:
    """The messages to show, oldest first, never over the room; the state as it is to be kept before they are sent.
    `tokens`: of the messages and what is beside them."""

    messages: Sequence[Stored]
    tokens: int
    estimate: Estimate
    thresholds: Thresholds | None
    reduced: Sequence[Reduced]
    left: Sequence[Left]
    state: ContextState
    pressure: Literal["none", "warning", "auto", "blocking"]
    cut: Mapping[int, int] = field(default_factory=dict)
    """Seq of a message that was itself cut, and how many characters of it are left out."""
