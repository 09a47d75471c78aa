"""Micro compact: after a long pause, or when there are many, all but the newest results of some tools are cleared."""

from datetime import datetime, timedelta

from strandline.domain.compaction.limits import MicroCompact
from strandline.domain.compaction.state import Decision
from strandline.domain.compaction.view import View
from strandline.domain.times import parse


def micro(view: View, limits: MicroCompact, *, paused: bool) -> bool:
    """Whether anything was decided. `paused`: the pause counts as long."""
    listed = [result for result in view.undecided() if result.tool in limits.tools]
    if not paused and len(listed) <= limits.trigger_count:
        return False
    old = listed[: max(0, len(listed) - limits.keep_recent)]
    for result in old:
        view.decide(result, Decision("micro"))
    return bool(old)


def paused(view: View, limits: MicroCompact, now: datetime) -> bool:
    """Whether the newest assistant message is old."""
    said = next((m["created_at"] for m in reversed(view.messages) if m["role"] == "assistant"), None)
    return said is not None and now - parse(said) >= timedelta(seconds=limits.gap_seconds)
