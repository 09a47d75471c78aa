"""The context of a session: what of its visible messages is shown, and how, so that it fits.

    paired    results without their call leave the view
    budget    results that are too long become previews, once
    snip      under pressure the oldest results go             } again, until nothing
    micro     after a pause, or when there are many, all old   } more is decided
    fit       the hard cap; cuts results that would not fit otherwise
    estimate  of all that has not been left out by the cap: the pressure

Everything but the cap is decided for good and kept in the state: with the state that comes out, the same messages are
shown in the same way again, and nothing more is decided.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Literal

from strandline.domain.compaction.assembly import (
    Ask,
    Assembled,
    Estimate,
    Left,
    Reduced,
    Stored,
    Thresholds,
)
from strandline.domain.compaction.budget import budget
from strandline.domain.compaction.fit import Fitted, Space, fit
from strandline.domain.compaction.limits import AutoCompact
from strandline.domain.compaction.meter import Meter, meter
from strandline.domain.compaction.micro import micro, paused
from strandline.domain.compaction.orphans import Paired, paired
from strandline.domain.compaction.room import thresholds
from strandline.domain.compaction.sizes import Count, counted, overhead, remembering
from strandline.domain.compaction.snip import snip
from strandline.domain.compaction.state import By, ContextState
from strandline.domain.compaction.view import View

Pressure = Literal["none", "warning", "auto", "blocking"]
Reason = Literal["over_budget", "result_without_call"]
ACTIONS: Mapping[By, Literal["preview", "snipped", "cleared"]] = {
    "budget": "preview",
    "snip": "snipped",
    "micro": "cleared",
}


def assemble(messages: Sequence[Stored], ask: Ask, state: ContextState, count: Count) -> Assembled:
    """`messages`: those that no summary covers, in order, without a gap at their end; before them, perhaps alone, the
    newest user message. `count` is the encoding's.

    Raises InvalidArgument when the room leaves no token for messages.
    """
    marks = thresholds(ask.room)
    pairs = paired(messages)
    count = remembering(count)
    view = View(pairs, state.decisions, count)
    budget(view, ask.limits.tool_result_budget, (state.sent_from, state.sent_through))
    gauge = meter(view, ask, state, marks)
    _reduce(view, ask, gauge, state.looked_through)
    fitted = fit(view, _space(ask, marks, count))
    estimate = Estimate(gauge.tokens(view), gauge.source(view), view.characters + ask.beside_chars)
    shown, cut = _shown(view, fitted)
    return Assembled(
        messages=shown,
        tokens=_tokens(view, fitted, count) + ask.beside,
        estimate=estimate,
        thresholds=marks,
        reduced=list(_reduced(view, fitted)),
        left=_left(messages, {message["seq"] for message in shown}, pairs, state.covered_through),
        state=_next(messages, state, view, gauge),
        pressure=_pressure(estimate, marks, ask.limits.auto_compact),
        cut={**pairs.cut, **cut},
    )


def _reduce(view: View, ask: Ask, gauge: Meter, looked_through: int) -> None:
    limits = ask.limits
    new = bool(view.messages) and view.messages[-1]["seq"] > looked_through
    long = new and paused(view, limits.micro_compact, ask.now)
    more = True
    while more:
        more = snip(view, limits.history_snip, gauge)
        more = micro(view, limits.micro_compact, paused=long) or more


def _space(ask: Ask, marks: Thresholds | None, count: Count) -> Space:
    budget_limits, auto = ask.limits.tool_result_budget, ask.limits.auto_compact
    most = marks.effective - ask.beside if marks else auto.blocking_chars - ask.beside_chars
    return Space(max(0, most), marks is not None, budget_limits.preview_chars, count)


def _shown(view: View, fitted: Fitted) -> tuple[list[Stored], Mapping[int, int]]:
    """The messages to show, in order; how many characters the one has lost that is shown otherwise, by its seq."""
    chosen = {index: view.message(index) for index in fitted.whole}
    if fitted.pinned is None:
        return [chosen[index] for index in sorted(chosen)], {}
    index, message, lost = fitted.pinned
    chosen[index] = message
    return [chosen[n] for n in sorted(chosen)], {message["seq"]: lost}


def _tokens(view: View, fitted: Fitted, count: Count) -> int:
    pinned = counted(fitted.pinned[1], count) + overhead(fitted.pinned[1]) if fitted.pinned else 0
    return pinned + sum(view.tokens_at[index] for index in fitted.whole)


def _reduced(view: View, fitted: Fitted) -> Iterable[Reduced]:
    """What has been decided, now or before, about the results that are shown."""
    for result in view.results:
        decision = view.decisions.get(result.place)
        if decision is None or result.at not in fitted.whole:
            continue
        yield Reduced(
            stage=decision.by,
            message_id=view.messages[result.at]["id"],
            tool_id=result.tool_id,
            action=ACTIONS[decision.by],
            chars_before=result.chars,
            chars_after=view.shown_chars(result),
        )


def _left(messages: Sequence[Stored], shown: Set[int], pairs: Paired, covered: int) -> list[Left]:
    without = set(pairs.without)
    left: list[tuple[int, int, Reason]] = []
    for seq in (m["seq"] for m in messages if m["seq"] not in shown and m["seq"] > covered):
        reason: Reason = "result_without_call" if seq in without else "over_budget"
        joins = left and left[-1][1:] == (seq - 1, reason)
        first = left.pop()[0] if joins else seq
        left.append((first, seq, reason))
    return [Left(*part) for part in left]


def _next(messages: Sequence[Stored], state: ContextState, view: View, gauge: Meter) -> ContextState:
    last = max(state.sent_through, messages[-1]["seq"] if messages else 0)
    return replace(
        state,
        decisions=view.decisions,
        sent_from=_judged_from(messages, state),
        sent_through=last,
        sent_generation=state.generation,
        looked_through=max(state.looked_through, last),
        baseline=gauge.kept(view),
    )


def _judged_from(messages: Sequence[Stored], state: ContextState) -> int:
    """The first seq of the messages without a gap to their end, and of those judged before, where these join them."""
    if not messages:
        return state.sent_from
    first: int = messages[-1]["seq"]
    for message in reversed(messages):
        if message["seq"] < first - 1:
            break
        first = message["seq"]
    return min(first, state.sent_from) if 0 < state.sent_through >= first - 1 else first


def _pressure(estimate: Estimate, marks: Thresholds | None, auto: AutoCompact) -> Pressure:
    if marks is None:
        steps: Sequence[tuple[int, Pressure]] = (
            (auto.blocking_chars, "blocking"),
            (auto.trigger_chars, "auto"),
        )
        return next((name for least, name in steps if estimate.characters >= least), "none")
    steps = ((marks.blocking, "blocking"), (marks.auto, "auto"), (marks.warning, "warning"))
    return next((name for least, name in steps if estimate.tokens >= least), "none")
