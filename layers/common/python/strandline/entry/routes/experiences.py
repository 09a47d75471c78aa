"""What was learnt from runs of tasks: found by what is asked, read where it fits, and what became of it."""

from datetime import date
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Query
from pydantic import BaseModel, ConfigDict, Field

from strandline.domain.address import memory_uri, place_of
from strandline.domain.errors import InvalidUri, NotFound
from strandline.domain.learning.experience import situation
from strandline.domain.scalars import Whole
from strandline.entry.answers import answers
from strandline.entry.http import ok
from strandline.entry.identity import identifier
from strandline.entry.results.experiences import Experience, FoundCases, Outcomes, Trajectories
from strandline.entry.routes.asking import new_router, owner
from strandline.entry.wiring import library
from strandline.pipeline import experience
from strandline.pipeline.experience import FoundCase, Told

router = new_router()

ROOT = "/api/v1/agent-evolution/experiences"
Uri = Annotated[str, Query(min_length=1, max_length=2048)]
REFUSALS = (InvalidUri, NotFound)


class ExperienceSearch(BaseModel):
    """`query` is best the user's request as it was first made."""

    model_config = ConfigDict(extra="ignore")

    query: str = Field(min_length=1, max_length=10_000)
    limit: Whole = Field(default=10, ge=1, le=50)


@router.post(f"{ROOT}/search")
@answers(FoundCases)
def search(body: ExperienceSearch) -> dict[str, Any]:
    """Cases like the query, each with the situations of its experiences and where to read them. The experiences
    themselves are read one by one, so that an agent reads only what fits."""
    whose, known = owner(router), library()
    found = experience.search_experience(known, whose, body.query, body.limit)
    return ok({"cases": [shown_case(each, whose.user_id) for each in found]}, known.clock)


def shown_case(found: FoundCase, user_id: str) -> dict[str, Any]:
    """A found case as an agent sees it."""
    values = {value.field: str(value.value) for value in found.memory.values}
    return {
        "uri": memory_uri(user_id, found.path),
        "name": found.memory.title,
        "task_signature": values.get("task_signature", found.memory.title),
        "input": values.get("input", ""),
        "score": round(found.score, 4),
        "experiences": [
            {"name": gist.name, "uri": memory_uri(user_id, gist.path), "situation": gist.situation}
            for gist in found.experiences
        ],
    }


@router.get(f"{ROOT}/read")
@answers(Experience, *REFUSALS)
def read(
    uri: Uri, session_id: Annotated[str | None, Query(min_length=1, max_length=128)] = None
) -> dict[str, Any]:
    """The text of one experience, with what was learnt from runs of related ones. With a session its use is counted,
    once a turn, and the outcome of that session's next commit is counted for the experience."""
    whose, known = owner(router), library()
    session = identifier(session_id, "session_id") if session_id is not None else None
    found = experience.read_experience(known, whose, _path(uri, whose.user_id), session)
    there = found.memory
    return ok(
        {
            "uri": memory_uri(whose.user_id, there.path),
            "name": there.title,
            "situation": situation(there.values) or experience.first_line(there),
            "confidence": found.confidence,
            "content": found.text,
            "related": [memory_uri(whose.user_id, path) for path in found.related],
            "superseded_by": [memory_uri(whose.user_id, path) for path in found.superseded_by],
            "sha256": there.sha256,
            "version": there.version,
            "flags": there.flags,
        },
        known.clock,
    )


@router.get(f"{ROOT}/trajectories")
@answers(Trajectories, *REFUSALS)
def trajectories(
    experience_uri: Uri,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    offset: Annotated[int, Query(ge=0)] = 0,
    start_date: date | None = None,
    end_date: date | None = None,
) -> dict[str, Any]:
    """The runs that an experience was learnt from, and those that had read it, the newest first; of some days (UTC,
    both inclusive) only, by when they were learnt from last."""
    whose, known = owner(router), library()
    path = _path(experience_uri, whose.user_id)
    days = (start_date or date.min).isoformat(), (end_date or date.max).isoformat()
    found, total = experience.trajectories(known, whose, path, days, slice(offset, offset + limit))
    return ok(
        {
            "experience_uri": memory_uri(whose.user_id, path),
            "total": total,
            "limit": limit,
            "offset": offset,
            "trajectories": [_run(each, whose.user_id) for each in found],
        },
        known.clock,
    )


@router.get(f"{ROOT}/outcomes")
@answers(Outcomes, *REFUSALS)
def outcomes(experience_uri: Uri) -> dict[str, Any]:
    """How the runs ended that had used an experience (its text was given to them, or they said so), and those that it
    was learnt from. All five, always."""
    whose, known = owner(router), library()
    path = _path(experience_uri, whose.user_id)
    found = experience.outcomes(known, whose, path)
    return ok(
        {
            "experience_uri": memory_uri(whose.user_id, path),
            "outcomes": found.used,
            "total": sum(found.used.values()),
            "learned_from": found.learned,
        },
        known.clock,
    )


def _path(uri: str, user_id: str) -> str:
    place = place_of(uri, user_id)
    return experience.checked("/".join(place[3:]) if place[2:3] == ("memories",) else "")


def _run(told: Told, user_id: str) -> dict[str, Any]:
    cases = [link.path for link in told.memory.links if link.type == "belongs_to"] if told.memory else []
    score = told.values.get("score")
    return {
        "uri": memory_uri(user_id, told.path),
        "relation": told.relation,
        "outcome": told.values.get("outcome", "unknown"),
        "judged_by": told.values.get("judged_by"),
        "score": float(score) if score else None,
        "confidence": float(told.values.get("confidence", 0.5)),
        "case_uri": memory_uri(user_id, cases[0]) if cases else None,
        "task": told.values.get("task", ""),
        "at": told.memory.created_at if told.memory else "",
    }
