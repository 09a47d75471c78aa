"""The journal: what happened to a user's sessions and memories, in order."""

from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Query

from strandline.entry.answers import answers
from strandline.entry.http import ok
from strandline.entry.results.journal import JournalEvent
from strandline.entry.routes.asking import new_router, owner
from strandline.entry.wiring import library

router = new_router()


@router.get("/api/v1/journal")
@answers(list[JournalEvent])
def read(
    after: Annotated[str | None, Query(max_length=64)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> dict[str, Any]:
    """The events behind the id `after`, oldest first; an empty list at the end. A reader that continues from the
    last id it has seen misses none."""
    whose = owner(router)
    known = library()
    return ok(known.journals.page(whose, after=after, limit=limit), known.clock)
