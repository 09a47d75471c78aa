"""What is to be known of a message before there is a context: when reading may stop, and what is wanted whole."""

from strandline.domain.compaction.assembly import Stored
from strandline.domain.compaction.limits import ToolResultBudget
from strandline.domain.compaction.pairs import Result, outputs
from strandline.domain.compaction.sizes import characters, overhead
from strandline.domain.compaction.state import ContextState
from strandline.domain.tool_output import PREVIEW_CHARS


def unread(message: Stored, *, in_tokens: bool) -> int:
    """The smallest that the message can be in a context, in tokens or in characters: with nothing for its results.

    When the messages read so far need more than there is, even so, then no older one can be shown: whoever reads from
    the newest backwards may stop, once the newest user message (`speaks`) is found, however old.
    """
    results = outputs(message)
    if not in_tokens:
        return characters(message) - sum(len(result.text) for result in results)
    return overhead(message) + (0 if results else message["tokens"])


def speaks(message: Stored) -> bool:
    """Whether a user says something in it; a message that only brings tool results does not."""
    if message["role"] != "user":
        return False
    parts = message.get("parts") or ()
    return message.get("content") is not None or any(part["type"] != "tool" for part in parts)


def wanted(message: Stored, state: ContextState, limits: ToolResultBudget) -> list[int | None]:
    """The parts (None: the content) whose outputs are to be put into the message whole, of those that are objects of
    their own, before it is shown."""
    kept_apart = (result for result in outputs(message) if result.ref and not result.whole)
    return [result.place[1] for result in kept_apart if _wanted(result, state, limits)]


def _wanted(result: Result, state: ContextState, limits: ToolResultBudget) -> bool:
    decision = state.decisions.get(result.place)
    if decision is not None:
        return decision.by == "budget" and decision.chars > len(result.text)
    if state.sent_from <= result.place[0] <= state.sent_through:
        return True
    return result.chars <= limits.max_chars or limits.preview_chars > PREVIEW_CHARS
