"""context: what a model should see of a session, within a token budget, as the published client asks for it.

The archives from the first on that are done are there by the overview of the last of them, which is the working memory
as of then. Every message behind them is there itself: live ones, and those of archives that are not done, or done
behind one that is not. The budget is filled from the newest message backwards, and an object is only read when its turn
comes. What a model is to be given before a call, so that it fits, is another question: `prompt.py`.
"""

from dataclasses import dataclass
from typing import Any

from strandline.domain.compaction.orphans import paired
from strandline.domain.errors import InvalidArgument
from strandline.domain.message import read_line
from strandline.domain.session import Head
from strandline.pipeline.archive import within
from strandline.pipeline.commit import load_head
from strandline.pipeline.services import Services
from strandline.pipeline.visible import backwards
from strandline.storage.layout import Life, User
from strandline.storage.log import ref
from strandline.storage.once import fetch

MESSAGE_OVERHEAD_TOKENS = 4
DEFAULT_BUDGET = 128_000


@dataclass(frozen=True)
class Context:
    """The overview of the last archive of the unbroken run of those that are done, and the messages behind it, oldest
    first. Tokens."""

    overview: str
    messages: list[dict[str, Any]]
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


def _newest(services: Services, head: Head, budget: int) -> tuple[list[dict[str, Any]], int]:
    """As many of the newest messages as fit, oldest first, and their tokens. No tool result without its call."""
    taken: list[dict[str, Any]] = []
    spent = 0
    for line in within(backwards(services.log, head)):
        message = read_line(line)
        cost = message["tokens"] + MESSAGE_OVERHEAD_TOKENS
        if spent + cost > budget:
            break
        taken.append(message)
        spent += cost
    tokens = {message["seq"]: message["tokens"] for message in taken}
    kept = [{"tokens": tokens[each["seq"]], **each} for each in paired(taken[::-1]).messages]
    return kept, sum(message["tokens"] + MESSAGE_OVERHEAD_TOKENS for message in kept)
