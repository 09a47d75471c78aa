"""Sessions say which memories they made use of."""

import hashlib
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from strandline.domain.address import SCHEME, memory_uri, place_of
from strandline.domain.errors import InvalidUri, NotFound
from strandline.domain.names import slug
from strandline.domain.scalars import Switched
from strandline.domain.usage import Tally
from strandline.entry.answers import answers
from strandline.entry.http import ok
from strandline.entry.repeat import repeat
from strandline.entry.results.usage import Report
from strandline.entry.routes.asking import acting_peer, new_router, owner, session_of
from strandline.entry.wiring import library
from strandline.pipeline.usage import UsageReport, run_usage

router = new_router()

Uri = Annotated[str, Field(min_length=1, max_length=2048)]


class Skill(BaseModel):
    """A skill that was used: its address or its name. Its input and output are not kept."""

    model_config = ConfigDict(extra="ignore")

    uri: Uri
    success: Switched | None = None


class Use(BaseModel):
    """Addresses of the memories that were put into a prompt or were useful otherwise, and a skill."""

    model_config = ConfigDict(extra="ignore")

    contexts: list[Uri] = Field(default_factory=list, max_length=100)
    skill: Skill | Uri | None = None

    @property
    def skill_uri(self) -> str | None:
        """The skill's address; a name stands for a memory of that name."""
        named = self.skill.uri if isinstance(self.skill, Skill) else self.skill
        return named if named is None or SCHEME in named else f"{SCHEME}~/memories/skills/{slug(named)}.md"


@router.post("/api/v1/sessions/<session_id>/used")
@answers(Report, InvalidUri)
def used(session_id: str, body: Use) -> dict[str, Any]:
    """Counts the use of memories, once a turn: a report repeated before the session's next message counts nothing."""
    whose = owner(router)
    known = library()
    paths = {uri: _path(uri, whose.user_id) for uri in [*body.contexts, *filter(None, [body.skill_uri])]}
    report = UsageReport(
        owner=whose,
        session_id=session_of(session_id),
        paths=[path for path in paths.values() if path],
        skill=paths.get(body.skill_uri or ""),
        succeeded=body.skill.success if isinstance(body.skill, Skill) else None,
        acting_peer=acting_peer(router),
        repeat_key=_repeat_key(),
    )
    totals = run_usage(known, report).totals
    return ok({"session_id": report.session_id, **_counted(body, paths, totals, whose.user_id)}, known.clock)


def _path(uri: str, user_id: str) -> str:
    """The memory path an address points to; "" when it is something else's or somebody else's."""
    try:
        place = place_of(uri, user_id)
    except NotFound:
        return ""
    return "/".join(place[3:]) if place[2:3] == ("memories",) else ""


def _repeat_key() -> str:
    again = repeat()
    return hashlib.sha256(again.seed.encode()).hexdigest()[:32] if again else ""


def _counted(
    body: Use, paths: Mapping[str, str], totals: Mapping[str, Tally], user_id: str
) -> dict[str, Any]:
    return {
        "contexts_used": sum(paths[uri] in totals for uri in dict.fromkeys(body.contexts)),
        "skills_used": int(paths.get(body.skill_uri or "") in totals),
        "memories": [
            {"uri": memory_uri(user_id, path), "used": shown(tally)} for path, tally in totals.items()
        ],
        "unknown": [uri for uri, path in paths.items() if path not in totals],
    }


def shown(tally: Tally) -> dict[str, Any]:
    """A tally as the API shows it."""
    return {"count": tally.count, "last_used_at": tally.last_used_at}
