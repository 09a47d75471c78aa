"""Tool-result budget: a result that is too long, and the longest of a group that is, become previews.

A group is an assistant message and all results up to the next one. Results are judged once, when they are first sent;
what has been sent whole stays whole, whatever the limits are by then, and so does a preview stay what it is.
"""

from collections.abc import Sequence, Set
from itertools import groupby

from strandline.domain.compaction.limits import ToolResultBudget
from strandline.domain.compaction.pairs import Result
from strandline.domain.compaction.replacement import preview
from strandline.domain.compaction.state import Place
from strandline.domain.compaction.view import View


def budget(view: View, limits: ToolResultBudget, sent: tuple[int, int]) -> None:
    """Decides about the results outside of `sent` (first and last seq) that no stage has decided about."""
    fresh = [result for result in view.undecided() if not sent[0] <= result.place[0] <= sent[1]]
    for result in fresh:
        if result.chars > limits.max_chars:
            view.decide(result, preview(result, limits.preview_chars))
    if fresh:
        places = {result.place for result in fresh}
        for group in _groups(view, fresh[0].at):
            _fit(view, group, places, limits)


def _groups(view: View, since: int) -> Sequence[Sequence[Result]]:
    """The groups that may have a result at that index or later."""
    number, numbers = 0, []
    for message in view.messages:
        number += message["role"] == "assistant"
        numbers.append(number)
    late = (result for result in view.results if numbers[result.at] >= numbers[since])
    return [list(group) for _, group in groupby(late, key=lambda result: numbers[result.at])]


def _fit(view: View, group: Sequence[Result], fresh: Set[Place], limits: ToolResultBudget) -> None:
    total = sum(map(view.shown_chars, group))
    open_ones = [result for result in group if result.place in fresh and result.place not in view.decisions]
    for result in sorted(open_ones, key=lambda each: -each.chars):
        if total <= limits.group_chars:
            return
        view.decide(result, preview(result, limits.preview_chars))
        total += view.shown_chars(result) - result.chars
