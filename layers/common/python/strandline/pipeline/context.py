"""context: what a model should see of a session within a token budget, as the published client asks for it.

The unbroken run of finished archives, from the first one on, is represented by the overview of its last archive, which
is the working memory as of then. Every message behind that run is included itself: live messages, and those of
archives that are not finished or that follow one which is not. The budget is filled from the newest message backwards,
by the same cap as in `prompt.py`: the newest user message is the last to be left out. An object is read only when its
turn comes. (`prompt.py` answers the other question: what a model is given before a call, stage by stage.)
"""

from collections.abc import Sequence
from dataclasses import dataclass

from strandline.domain.compaction.assembly import Ask, Room, Stored
from strandline.domain.compaction.limits import MAX_CHARS, HistorySnip, Limits, MicroCompact, ToolResultBudget
from strandline.domain.compaction.state import ContextState
from strandline.domain.errors import InvalidArgument
from strandline.domain.session import Head
from strandline.pipeline.answer_size import within_answer
from strandline.pipeline.commit import load_head
from strandline.pipeline.services import Services
from strandline.pipeline.visible import backwards, read_visible
from strandline.storage.layout import Life, User
from strandline.storage.log import ref
from strandline.storage.once import fetch

DEFAULT_BUDGET = 128_000
AS_STORED = Limits(
    tool_result_budget=ToolResultBudget(max_chars=MAX_CHARS, group_chars=MAX_CHARS),
    history_snip=HistorySnip(tools=()),
    micro_compact=MicroCompact(tools=()),
)
"""No stage makes anything shorter: only the cap does."""


@dataclass(frozen=True)
class Context:
    """The overview of the last archive of the unbroken run of those that are done, and the messages behind it, oldest
    first. Tokens."""

    overview: str
    messages: Sequence[Stored]
    overview_tokens: int
    message_tokens: int
    dropped_archives: int
    total_archives: int
    failed_archives: int


def run_context(
    services: Services, owner: User, session_id: str, token_budget: int = DEFAULT_BUDGET
) -> Context:
    """Raises InvalidArgument for a negative budget, NotFound, Unavailable."""
    if token_budget < 0:
        raise InvalidArgument("token_budget must not be negative", field="token_budget", value=token_budget)
    head = load_head(services, owner, session_id)
    overview = _overview(services, head)
    overview_tokens = services.tokens.count(overview)
    messages, message_tokens = _newest(services, head, token_budget)
    dropped = overview_tokens + message_tokens > token_budget
    if dropped:
        overview, overview_tokens = "", 0
    return Context(
        overview=overview,
        messages=messages,
        overview_tokens=overview_tokens,
        message_tokens=message_tokens,
        dropped_archives=int(dropped),
        total_archives=head.commit_count,
        failed_archives=len(head.failed),
    )


def _overview(services: Services, head: Head) -> str:
    if not head.covered_archives:
        return ""
    body = fetch(services.objects, Life(ref(head)).archive_file(head.covered_archives, "overview.md"))
    return (body or b"").decode()


def _newest(services: Services, head: Head, budget: int) -> tuple[Sequence[Stored], int]:
    """As many of the newest messages as fit, oldest first, and their tokens. No tool result without its call; the
    newest user message in any case, cut where it alone is too big."""
    if not budget:
        return (), 0
    visible = read_visible(backwards(services.log, head), budget)
    ask = Ask(Room(budget), AS_STORED, services.clock.now())
    seen = within_answer(visible.messages, ask, ContextState(head.incarnation), services.tokens.count)
    return seen.messages, seen.tokens
