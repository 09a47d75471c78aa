"""What stands for a tool result that is not shown whole. A function of the stored result and of the decision alone, so
it is the same for ever after.

    The first lines of it
    [1873 of 61200 characters shown. All: GET …/tool-results/tr_0a1b…]
"""

from strandline.domain.compaction.pairs import Result
from strandline.domain.compaction.state import Decision
from strandline.domain.graphemes import beginning

SNIPPED = "[Older tool result removed by history snip]"
CLEARED = "[Old tool result content cleared]"
CUT = "…"


def replacement(result: Result, decision: Decision) -> str:
    """The text that is shown. Shorter than the result where the budget has decided."""
    match decision.by:
        case "snip":
            return SNIPPED
        case "micro":
            return CLEARED
    return _preview(result, decision.chars)


def preview(result: Result, most: int) -> Decision:
    """The budget's decision: with its note the preview has at most `most` characters, and at most half the result's. It
    ends at a line end, where there is one past its half. The note alone may be longer than that."""
    most = min(most, result.chars // 2)
    room = most - len(_note(result, most)) - 1
    if room > 0:
        return Decision("budget", _end(result.text, room))
    if len(_note(result, 0)) < result.chars:
        return Decision("budget", 0)
    return Decision("budget", max(0, most - len(CUT)))


def _end(text: str, most: int) -> int:
    if len(text) <= most:
        return len(text)
    line_end = text.rfind("\n", most // 2, most + 1)
    return line_end if line_end > 0 else len(beginning(text, most))


def _preview(result: Result, shown: int) -> str:
    start = result.text[:shown]
    noted = "\n".join([start, _note(result, shown)] if start else [_note(result, shown)])
    if len(noted) < result.chars:
        return noted
    return start + CUT if len(start) + len(CUT) < result.chars else ""


def _note(result: Result, shown: int) -> str:
    """How much there is, and where. Short: also a short result may be cut."""
    seq = result.place[0]
    where = f"tool-results/{result.ref}" if result.ref else f"messages?after_seq={seq - 1}&limit=1"
    return f"[{shown} of {result.chars} characters shown. All: GET …/{where}]"
