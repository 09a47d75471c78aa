"""What is kept of a session's context beside its head: decisions, so that what was shown once is shown so again; the
compaction under way; and what the caller's last model call cost. A value; whoever changes it makes a new one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

By = Literal["budget", "snip", "micro"]
Place = tuple[int, int | None]
"""Where a tool result stands: seq of its message, number of its part (None: the content of a `tool` message)."""

NEVER = -1
KEPT_HANDED_OUT = 256
"""Times at which an experience was handed out, of all experiences: the newest."""


@dataclass(frozen=True)
class Decision:
    """A tool result is not shown whole: which stage said so, and how many of its first characters are shown."""

    by: By
    chars: int = 0


@dataclass(frozen=True)
class Baseline:
    """Tokens of the caller's last model call, which saw the messages up to `through` in that generation, with that
    fingerprint of its prompt (system text, tools, model). `saved`: tokens by which those messages have been reduced
    since. A report with the generation `NEVER` is not used; it is kept so that a repeat of it is recognised."""

    input_tokens: int
    fingerprint: str
    generation: int
    through: int
    saved: int = 0


@dataclass(frozen=True)
class Compaction:
    """The one under way: its commit's task, the seq it is to cover, when it was asked for, and after how many failures
    in a row it is not tried again for how many seconds."""

    task_id: str
    through: int
    at: str
    max_failures: int = 3
    cool_down_seconds: int = 300


@dataclass(frozen=True)
class Pin:
    """The newest user message, where the summary covers it: its seq (0: none was found), and the archive that holds it,
    with its range; looked for when the boundary was at `through`."""

    seq: int
    archive: int
    first: int
    last: int
    through: int


@dataclass(frozen=True)
class ContextState:
    """`generation` grows whenever `covered_through` does: the summary stands for the messages up to there.

    Every tool result from `sent_from` to `sent_through` has been judged by the budget, and is whole unless `decisions`
    has it; that view was one of `sent_generation`. `looked_through`: the newest message when the gap since the last
    assistant message was last looked at. `failures`, `last_error` and `retry_at` (closed: None) are the breaker's.
    `pin` is kept from one generation to the next.
    `summarised_through`: up to there a working memory has been asked for ahead of time. `quiet_through`: behind the
    boundary, up to there, is no user message.
    `handed_out`: the experiences whose text was given to the session, by path, each with the seqs of its newest message
    at those times, in order.
    """

    incarnation: str
    generation: int = 0
    covered_through: int = 0
    decisions: Mapping[Place, Decision] = field(default_factory=dict)
    sent_from: int = 0
    sent_through: int = 0
    sent_generation: int = 0
    looked_through: int = 0
    summarised_through: int = 0
    quiet_through: int = 0
    baseline: Baseline | None = None
    compaction: Compaction | None = None
    failures: int = 0
    last_error: str | None = None
    retry_at: str | None = None
    pin: Pin | None = None
    handed_out: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


def handed_out(state: ContextState, paths: Iterable[str], seq: int) -> ContextState:
    """The state when these experiences are given to the session whose newest message has that seq; the same when that
    is known."""
    known = {(at, path) for path, seqs in state.handed_out.items() for at in seqs}
    fresh = {(seq, path) for path in paths} - known
    if not fresh:
        return state
    kept: dict[str, tuple[int, ...]] = {}
    for at, path in sorted(known | fresh)[-KEPT_HANDED_OUT:]:
        kept[path] = (*kept.get(path, ()), at)
    return replace(state, handed_out=kept)


def covered(state: ContextState, through: int) -> ContextState:
    """The state when the summary stands for the messages up to `through`; the same when it does already. The baseline
    is of another generation then: it counts no more, and is known when it comes again."""
    if through <= state.covered_through:
        return state
    kept = {place: decision for place, decision in state.decisions.items() if place[0] > through}
    return replace(
        state,
        generation=state.generation + 1,
        covered_through=through,
        decisions=kept,
    )
