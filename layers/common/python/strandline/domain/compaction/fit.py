"""The hard cap: what is shown is never more than there is room for.

A call and what answers it go or stay together, and the oldest go first. After the newest user message, the newest work
and what takes more than half of the room are first cut to previews, where that keeps them in. The newest user message
goes last of all, and is cut only when it alone is too big.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from strandline.domain.compaction.assembly import Stored
from strandline.domain.compaction.cut import cut
from strandline.domain.compaction.groups import groups
from strandline.domain.compaction.orphans import paired, without_parts
from strandline.domain.compaction.pairs import Result
from strandline.domain.compaction.reading import speaks
from strandline.domain.compaction.replacement import preview
from strandline.domain.compaction.sizes import Count, characters, counted, overhead
from strandline.domain.compaction.state import Decision
from strandline.domain.compaction.view import View

SMALLER = (4, 16)


@dataclass(frozen=True)
class Space:
    """How much there is, in tokens or in characters. Of a result that is cut, `preview_chars` are shown, or fewer."""

    most: int
    in_tokens: bool
    preview_chars: int
    count: Count

    def of(self, message: Stored) -> int:
        if not self.in_tokens:
            return characters(message)
        return counted(message, self.count) + overhead(message)

    def at(self, view: View, index: int) -> int:
        return view.tokens_at[index] if self.in_tokens else view.chars_at[index]

    def used(self, view: View) -> int:
        return view.tokens if self.in_tokens else view.characters


@dataclass
class Fitted:
    """Indexes of the messages that are shown as in the view. `pinned`: the newest user message, where it is shown
    otherwise, and how many characters it has lost."""

    whole: set[int] = field(default_factory=set)
    pinned: tuple[int, Stored, int] | None = None


@dataclass(frozen=True)
class _Pin:
    """The newest user message, as it is shown when the calls are not there that it answers; its size, and characters
    that it has lost by that (None: it answers none)."""

    index: int
    message: Stored
    size: int
    lost: int | None = None


def fit(view: View, space: Space) -> Fitted:
    """Decides in the view which results are to be cut for it."""
    if space.used(view) <= space.most:
        return Fitted(set(range(len(view.messages))))
    pin = _pin(view, space)
    if pin is None:
        return Fitted(_newest(view, space, None))
    if pin.size > space.most:
        shown = cut(pin.message, space.most, space.of)
        return Fitted(pinned=shown and (pin.index, *shown))
    whole = _newest(view, space, pin)
    if pin.index in whole or pin.lost is None:
        return Fitted(whole | {pin.index})
    return Fitted(whole, (pin.index, pin.message, pin.lost))


def _pin(view: View, space: Space) -> _Pin | None:
    indexes = range(len(view.messages))
    index = next((n for n in reversed(indexes) if speaks(view.messages[n])), None)
    if index is None:
        return None
    answers = {result.place[1] for result in view.results if result.at == index}
    message = view.message(index)
    if not answers:
        return _Pin(index, message, space.at(view, index))
    alone = without_parts(message, answers)
    return _Pin(index, alone, space.of(alone), sum(r.chars for r in view.results if r.at == index))


def _newest(view: View, space: Space, pin: _Pin | None) -> set[int]:
    """The newest groups that fit beside the newest user message."""
    whole: set[int] = set()
    left = space.most - (pin.size if pin else 0)
    since = pin.index if pin else -1
    for group in reversed(groups(len(view.messages), view.links)):
        held = pin.size if pin and pin.index in group else 0
        need = sum(space.at(view, index) for index in group) - held
        if need > left and group[0] > since and (not whole or need > space.most // 2):
            need = _squeezed(view, space, group, left)
        if need > left:
            break
        whole.update(group)
        left -= need
    return whole


def _squeezed(view: View, space: Space, group: Sequence[int], left: int) -> int:
    """What the group needs when its longest results are previews, as few as possible. Where even that is too much,
    nothing is decided."""
    results = sorted((r for r in view.undecided() if r.at in set(group)), key=lambda r: -r.chars)
    trial = _Trial(view, space, group)
    for most in (space.preview_chars, *(space.preview_chars // by for by in SMALLER), 0):
        trial.made = [(result, preview(result, most)) for result in results]
        few = _fewest(len(results), lambda number: trial.need(number) <= left)
        if few is not None:
            for result, decision in trial.made[:few]:
                view.decide(result, decision)
            break
    return sum(space.at(view, index) for index in group)


@dataclass
class _Trial:
    """A group with decisions that could be made."""

    view: View
    space: Space
    group: Sequence[int]
    made: Sequence[tuple[Result, Decision]] = ()

    def need(self, number: int) -> int:
        """What the group needs with so many of them."""
        messages = [self.view.messages[index] for index in self.group]
        seqs = {message["seq"] for message in messages}
        decisions = {place: known for place, known in self.view.decisions.items() if place[0] in seqs}
        decisions |= {result.place: decision for result, decision in self.made[:number]}
        return self.space.used(View(paired(messages), decisions, self.space.count))


def _fewest(limit: int, holds: Callable[[int], bool]) -> int | None:
    """The smallest number up to the limit for which it holds, found by halves; None when not even for the limit."""
    if not limit or not holds(limit):
        return None
    low, high = 1, limit
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return high
