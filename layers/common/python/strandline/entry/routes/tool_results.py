"""Tool outputs that were too long for their message: list, read in pieces, search."""

from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Query

from strandline.entry.answers import answers
from strandline.entry.http import ok
from strandline.entry.results.tool_results import Hit, ToolResult, Window
from strandline.entry.routes.asking import new_router, owner, path_of, seal, session_of, unseal
from strandline.entry.wiring import library
from strandline.pipeline import tool_results

router = new_router()

Answer = dict[str, Any]
MAX_OFFSET = 2**53


@router.get("/api/v1/sessions/<session_id>/tool-results")
@answers(list[ToolResult], paged=True)
def list_tool_results(
    session_id: str, limit: Annotated[int, Query(ge=1, le=200)] = 50, cursor: str | None = None
) -> Answer:
    """The session's long tool outputs, in order of their ids."""
    whose, known, name = owner(router), library(), session_of(session_id)
    after = unseal(cursor, whose, f"tool-results/{name}")
    rows, rest = tool_results.page(known, whose, name, after=after, limit=limit)
    return ok(rows, known.clock, next_cursor=seal(rest, whose, f"tool-results/{name}"))


@router.get("/api/v1/sessions/<session_id>/tool-results/<tool_result_id>")
@answers(Window)
def read_tool_result(
    session_id: str,
    tool_result_id: str,
    offset: Annotated[int, Query(ge=0, le=MAX_OFFSET)] = 0,
    limit: Annotated[int, Query(ge=-1, le=MAX_OFFSET)] = 20_000,
) -> Answer:
    """`limit` characters from `offset` on; -1: as many as one answer holds. The answer says what was applied."""
    known = library()
    found = tool_results.read(known, owner(router), session_of(session_id), path_of(tool_result_id))
    return ok(tool_results.window(found, offset, limit), known.clock)


@router.get("/api/v1/sessions/<session_id>/tool-results/<tool_result_id>/search")
@answers(list[Hit])
def search_tool_result(
    session_id: str,
    tool_result_id: str,
    q: Annotated[str, Query(min_length=1, max_length=1000)],
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    context_chars: Annotated[int, Query(ge=0, le=1000)] = 300,
) -> Answer:
    """Where the text `q` stands in the output, whatever its case."""
    known = library()
    found = tool_results.read(known, owner(router), session_of(session_id), path_of(tool_result_id))
    return ok(tool_results.search(found, q, limit=limit, context_chars=context_chars), known.clock)
