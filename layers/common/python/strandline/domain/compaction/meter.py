"""The estimate: how many tokens the answer has, by the same rule before and after a stage.

What the caller's last model call cost is the better start, where it may count: it saw this generation, with the prompt
that the report before it named, and all that it saw would have fitted. To it come the messages since; what the stages
take from messages that it saw is taken off.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from strandline.domain.compaction.assembly import Ask, Stored, Thresholds
from strandline.domain.compaction.state import NEVER, Baseline, ContextState
from strandline.domain.compaction.view import View


@dataclass(frozen=True)
class Meter:
    """Reads a view. `offset`: tokens to be added to those of its messages. `seen`: what those that the baseline saw had
    when the meter was made."""

    offset: int
    marks: Thresholds | None
    baseline: Baseline | None = None
    counts: bool = False
    seen: int = 0

    def tokens(self, view: View) -> int:
        return max(0, view.tokens + self.offset)

    def over_warning(self, view: View) -> bool:
        return self.marks is not None and self.tokens(view) > self.marks.warning

    def source(self, view: View) -> Literal["estimated", "usage", "hybrid"]:
        if not self.counts or self.baseline is None:
            return "estimated"
        through = self.baseline.through
        return "hybrid" if any(message["seq"] > through for message in view.messages) else "usage"

    def kept(self, view: View) -> Baseline | None:
        """The baseline, when the stages are through."""
        if self.baseline is None:
            return None
        saved = self.seen - _seen(view, self.baseline)
        return replace(self.baseline, saved=self.baseline.saved + saved)


def meter(view: View, ask: Ask, state: ContextState, marks: Thresholds | None) -> Meter:
    """The one of this call."""
    baseline = _reported(state, ask, view.messages)
    if baseline is None:
        return Meter(ask.beside, marks)
    if marks is not None and view.tokens + ask.beside > marks.effective:
        # not all can have been in that call, nor will it be in the next
        baseline = replace(baseline, generation=NEVER)
    seen = _seen(view, baseline)
    if ask.usage is None or baseline.generation != state.generation:
        return Meter(ask.beside, marks, baseline, seen=seen)
    offset = baseline.input_tokens - baseline.saved - ask.room.reserved - seen
    return Meter(offset, marks, baseline, counts=True, seen=seen)


def _reported(state: ContextState, ask: Ask, messages: Sequence[Stored]) -> Baseline | None:
    """The baseline when the caller's report is taken in. The same report again is no other call."""
    known = state.baseline
    if ask.usage is None or (known and (known.input_tokens, known.fingerprint) == ask.usage):
        return known
    tokens, fingerprint = ask.usage
    other_prompt = known is not None and known.fingerprint != fingerprint
    generation = NEVER if other_prompt else state.sent_generation
    return Baseline(tokens, fingerprint, generation, state.sent_through or _before_answer(messages))


def _before_answer(messages: Sequence[Stored]) -> int:
    """What a call saw that was not given a context from here: what is before the answer that came of it, or all."""
    newest = messages[-1]["seq"] if messages else 0
    return next((m["seq"] - 1 for m in reversed(messages) if m["role"] == "assistant"), newest)


def _seen(view: View, baseline: Baseline) -> int:
    rows = zip(view.messages, view.tokens_at, strict=True)
    return sum(tokens for message, tokens in rows if message["seq"] <= baseline.through)
