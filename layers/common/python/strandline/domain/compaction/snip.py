"""History snip: under pressure the oldest results of some tools are left out, one by one, until it is gone."""

from strandline.domain.compaction.limits import HistorySnip
from strandline.domain.compaction.meter import Meter
from strandline.domain.compaction.replacement import SNIPPED
from strandline.domain.compaction.state import Decision
from strandline.domain.compaction.view import View


def snip(view: View, limits: HistorySnip, meter: Meter) -> bool:
    """Whether anything was decided. What has been replaced already, the newest results and those that are shorter than
    what would stand for them stay."""
    characters = view.characters > limits.trigger_chars
    tokens = meter.over_warning(view)
    if not characters and not tokens:
        return False
    listed = [result for result in view.undecided() if result.tool in limits.tools]
    decided = False
    for result in listed[: max(0, len(listed) - limits.keep_recent)]:
        characters = characters and view.characters > limits.target_chars
        if not characters and not (tokens and meter.over_warning(view)):
            break
        if result.chars > len(SNIPPED):
            view.decide(result, Decision("snip"))
            decided = True
    return decided
