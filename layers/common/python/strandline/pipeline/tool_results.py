"""Whole tool outputs as their owner reads them: listed, read in pieces, searched. Offsets count characters.

They stand from the moment their message is stored until the session is deleted. One whose message never came to be
stored, since its append died, is listed too.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from strandline.domain.errors import NotFound
from strandline.domain.folding import fold
from strandline.domain.tool_output import ToolOutput, is_id
from strandline.pipeline.commit import load_head
from strandline.pipeline.services import Services
from strandline.storage.layout import User
from strandline.storage.log import ref

MAX_CHARS = 400_000  # escaped at worst, twice, they stay under Lambda's 6 MB
ALL = -1


def page(
    services: Services, owner: User, session_id: str, *, after: str | None, limit: int
) -> tuple[Sequence[Mapping[str, Any]], str | None]:
    """A page of the session's outputs in order of their ids, and where to go on. Raises NotFound, Unavailable."""
    whose = ref(load_head(services, owner, session_id))
    return services.tool_results.page(whose, after=after or "", limit=limit)


def read(services: Services, owner: User, session_id: str, identity: str) -> ToolOutput:
    """One output. Raises NotFound, Unavailable."""
    whose = ref(load_head(services, owner, session_id))
    found = services.tool_results.read(whose, identity) if is_id(identity) else None
    if found is None:
        raise NotFound(f"there is no tool result {identity[:64]!r} in session {session_id!r}")
    return found


def window(output: ToolOutput, offset: int, limit: int) -> Mapping[str, Any]:
    """`limit` characters from `offset` on, or as many as one answer holds (`ALL` asks for those); `limit` in the answer
    is what was applied."""
    applied = MAX_CHARS if limit == ALL else min(limit, MAX_CHARS)
    return {
        "id": output.id,
        "content": output.content[offset : offset + applied],
        "offset": offset,
        "limit": applied,
        "total_chars": output.total_chars,
    }


def search(output: ToolOutput, wanted: str, *, limit: int, context_chars: int) -> list[Mapping[str, Any]]:
    """Where the text stands, whatever its case, with this much around each. `offset` is that of the text itself."""
    return [
        {
            "offset": at,
            "text": output.content[max(at - context_chars, 0) : at + len(wanted) + context_chars],
        }
        for at in islice(_places(fold(output.content), fold(wanted)), limit)
    ]


def _places(text: str, wanted: str) -> Iterator[int]:
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + len(wanted))
