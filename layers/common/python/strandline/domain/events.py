"""Events out: what others may want to know of, versioned. Each goes into its user's journal, which gives it its id, and
onto the bus. They carry references, never content; a memory's uri, though, is made from what it is about.

At least once: whoever acts on an event looks at its id first. A new version of an event is a new class beside the old.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from strandline.domain.contracts import LearnRequested, MergeRequested, SessionRef
from strandline.domain.session import Archive

URIS = 100
"""In one MemoryChanged: with the longest of paths it still fits the bus."""


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True)

    version: Literal[1] = 1
    id: str = Field(
        default="", description="time-ordered within the user's journal; the same when it comes again"
    )
    at: str
    account_id: str
    user_id: str


class SessionCommitted(_Event):
    """What was live in a session has become an archive; memories of it follow."""

    type: Literal["SessionCommitted"] = "SessionCommitted"
    session_id: str
    archive: int
    first_seq: int
    last_seq: int
    task_id: str


class MemoryChanged(_Event):
    """Memories were added, updated or deleted: by the merge of an archive, or by their owner (then without `archive`),
    or by what `reason` says. One that comes after a crash may name a memory that stayed as it was."""

    type: Literal["MemoryChanged"] = "MemoryChanged"
    session_id: str | None = None
    archive: int | None = None
    task_id: str | None = None
    added: list[str] = Field(default_factory=list)
    updated: list[str] = Field(default_factory=list)
    deleted: list[str] = Field(default_factory=list)
    reason: Literal["rollback", "rebuild", "scrub"] | None = None


class TaskFailed(_Event):
    """No memories were made of an archive. The task says why, and can be retried."""

    type: Literal["TaskFailed"] = "TaskFailed"
    session_id: str
    archive: int
    task_id: str
    stage: str


class SessionDeleted(_Event):
    """A session was deleted with everything of it; the memories made from it stay."""

    type: Literal["SessionDeleted"] = "SessionDeleted"
    session_id: str


Event = SessionCommitted | MemoryChanged | TaskFailed | SessionDeleted
_EVENT: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="type")])


def read_event(row: Mapping[str, object]) -> Event:
    """An event as the journal has it."""
    return _EVENT.validate_python(row)


@dataclass(frozen=True)
class Happening:
    """An event that has no id yet, and a name by which a repeat of it is recognised."""

    key: str
    event: Event

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.key.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def to_dict(self) -> dict[str, object]:
        return {"key": self.key, "event": self.event.model_dump()}

    @staticmethod
    def read(row: Mapping[str, object]) -> "Happening":
        return Happening(str(row["key"]), _EVENT.validate_python(row["event"]))


def session_committed(whose: SessionRef, archive: Archive, task_id: str) -> Happening:
    """Told again it is the same as long as the archive is."""
    event = SessionCommitted(
        **_owner(whose),
        at=archive.at,
        session_id=whose.session_id,
        archive=archive.number,
        first_seq=archive.first,
        last_seq=archive.last,
        task_id=task_id,
    )
    return Happening(f"committed/{task_id}", event)


def task_failed(whose: SessionRef, archive: int, task_id: str, *, stage: str, at: str) -> Happening:
    """A task that is retried and fails again has failed twice: `at` tells them apart."""
    event = TaskFailed(
        **_owner(whose), at=at, session_id=whose.session_id, archive=archive, task_id=task_id, stage=stage
    )
    return Happening(f"failed/{task_id}/{at}", event)


def session_deleted(whose: SessionRef, *, at: str) -> Happening:
    return Happening(
        f"deleted/{whose.session_id}/{whose.incarnation}",
        SessionDeleted(**_owner(whose), at=at, session_id=whose.session_id),
    )


def memories_merged(
    request: MergeRequested | LearnRequested, *, added: Sequence[str], updated: Sequence[str], at: str
) -> Iterator[Happening]:
    """What one archive changed, in as many events as it takes; none when it changed nothing."""
    changes = [*(("added", uri) for uri in added), *(("updated", uri) for uri in updated)]
    for start in range(0, len(changes), URIS):
        part = changes[start : start + URIS]
        event = MemoryChanged(
            **_owner(request.session),
            at=at,
            session_id=request.session.session_id,
            archive=request.archive,
            task_id=request.task_id,
            added=[uri for how, uri in part if how == "added"],
            updated=[uri for how, uri in part if how == "updated"],
        )
        yield Happening(f"merged/{request.task_id}/{start}", event)


def memory_edited(
    whose: SessionRef, uri: str, how: Literal["updated", "deleted"], *, edit: str, at: str
) -> Happening:
    """What the owner did to one memory; `edit` is an id of this edit."""
    changed: dict[str, Any] = {how: [uri]}
    event = MemoryChanged(**_owner(whose), at=at, **changed)
    return Happening(f"edited/{edit}", event)


def with_links(happening: Happening, uris: Sequence[str]) -> Iterator[Happening]:
    """What was done to memories, and that the links of others were changed by it, in as many events as it takes."""
    event = happening.event
    if not isinstance(event, MemoryChanged):
        yield happening
        return
    known = {*event.added, *event.updated, *event.deleted}
    more = [uri for uri in uris if uri not in known]
    room = max(0, URIS - len(known))
    told = event.model_copy(update={"updated": [*event.updated, *more[:room]]})
    yield Happening(happening.key, told)
    for start in range(room, len(more), URIS):
        part = {"added": [], "updated": more[start : start + URIS], "deleted": []}
        yield Happening(f"{happening.key}/links/{start}", event.model_copy(update=part))


def memories_changed(
    whose: SessionRef,
    uris: Mapping[str, Sequence[str]],
    *,
    reason: Literal["rollback", "rebuild", "scrub"],
    change: str,
    at: str,
) -> Happening:
    """Memories that were `added`, `updated` and `deleted` together, at most `URIS`; `change` names this change."""
    changed: dict[str, Any] = {how: list(uris[how]) for how in uris}
    event = MemoryChanged(**_owner(whose), at=at, reason=reason, **changed)
    return Happening(f"{reason}/{change}", event)


def _owner(whose: SessionRef) -> dict[str, Any]:
    return {"account_id": whose.account_id, "user_id": whose.user_id}
