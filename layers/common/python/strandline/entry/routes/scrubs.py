"""Scrubs: secrets taken out of what is stored already. Begun under the role that may erase, looked at under any."""

from typing import Any

from strandline.domain.errors import Conflict, NotFound
from strandline.domain.message import Identifier
from strandline.domain.scalars import Switched
from strandline.domain.scrub import shown
from strandline.entry.answers import answers
from strandline.entry.http import ok
from strandline.entry.results.scrub import Scrub
from strandline.entry.routes.asking import itself, new_router, path_of
from strandline.entry.routes.exact import Exact
from strandline.entry.wiring import library
from strandline.pipeline.scrub import begin, look_at

router = new_router()


class BeginScrub(Exact):
    """A scrub of everything that the user has, or of what quotes one session. A dry run only counts."""

    session_id: Identifier | None = None
    dry_run: Switched = False


@router.post("/api/v1/scrubs")
@answers(Scrub, Conflict, NotFound)
def begin_scrubs(body: BeginScrub | None = None) -> dict[str, Any]:
    """Begins to remove secrets from what is stored, in all its versions, by the present rules. It continues by
    itself; an administrator acts as the user."""
    whose, wanted, known = itself(router), body or BeginScrub(), library()
    begun = begin(known, whose, session_id=wanted.session_id or "", dry_run=wanted.dry_run)
    return ok(shown(begun), known.clock)


@router.get("/api/v1/scrubs/<scrub_id>")
@answers(Scrub)
def look_at_scrubs(scrub_id: str) -> dict[str, Any]:
    """How far a scrub is, and what it has found: counts, never a secret. Kept for 30 days."""
    known = library()
    return ok(shown(look_at(known, itself(router), path_of(scrub_id))), known.clock)
