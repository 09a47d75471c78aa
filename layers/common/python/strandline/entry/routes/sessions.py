"""Sessions: create, list, look, delete, append, commit, context, archives."""

from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Query
from pydantic import BaseModel, ConfigDict, Field

from strandline.domain.address import archive_uri, session_uri
from strandline.domain.auto_commit import AutoCommitPolicy
from strandline.domain.compaction.limits import Limits, resolve
from strandline.domain.contracts import SessionRef
from strandline.domain.errors import (
    Aborted,
    AlreadyExists,
    Conflict,
    FailedPrecondition,
    InvalidArgument,
    Unimplemented,
)
from strandline.domain.memory_policy import MemoryPolicy
from strandline.domain.message import Identifier, dumps
from strandline.domain.scalars import Switched, Whole
from strandline.domain.session import Head, Skip
from strandline.entry.answers import answers
from strandline.entry.append import MessageBatch, SingleMessage, append
from strandline.entry.http import ok
from strandline.entry.identity import identifier
from strandline.entry.repeat import repeat
from strandline.entry.results import sessions as results
from strandline.entry.routes.asking import new_router, owner, seal, session_of, unseal
from strandline.entry.settings import settings
from strandline.entry.wiring import library
from strandline.pipeline import archive, session
from strandline.pipeline.append import AppendRequest
from strandline.pipeline.commit import Committed, load_head, run_commit
from strandline.pipeline.context import DEFAULT_BUDGET, run_context
from strandline.pipeline.memory_types import refuse_unknown
from strandline.storage.layout import User

router = new_router()

MAX_METADATA_BYTES = 16 * 1024
Answer = dict[str, Any]


class CreateSession(BaseModel):
    """`auto_commit_policy`: absent for the deployment's default, null for off, an object for on (missing fields get
    their defaults). `compaction`: limits of the session's context; missing ones get their defaults."""

    model_config = ConfigDict(extra="ignore")

    session_id: Identifier | None = None
    auto_commit_policy: Any = None
    memory_policy: MemoryPolicy | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    compaction: Limits | None = None


class CommitSession(BaseModel):
    """How many of the newest messages stay live; `dry_run` only says what would be archived."""

    keep_recent_count: Whole = Field(default=0, ge=0, le=10_000)
    dry_run: Switched = False
    retention_mode: str | None = None

    @property
    def keep(self) -> int:
        """Raises Unimplemented rather than archive what a client wants to keep in another way."""
        if self.retention_mode is not None:
            raise Unimplemented("turns are not kept by a budget; say how many messages: keep_recent_count")
        return self.keep_recent_count


@router.post("/api/v1/sessions")
@answers(results.Created, AlreadyExists, Conflict, Aborted, FailedPrecondition)
def create(body: CreateSession) -> Answer:
    """Creates an empty session."""
    whose = owner(router)
    known = library()
    if len(dumps(body.metadata)) > MAX_METADATA_BYTES:
        raise InvalidArgument(f"metadata: may hold {MAX_METADATA_BYTES} bytes as JSON")
    refuse_unknown(known, whose, body.memory_policy)
    wanted = session.NewSession(
        owner=whose,
        session_id=identifier(body.session_id or session.generated_id(known, repeat()), "session_id"),
        auto_commit_policy=_policy(body),
        memory_policy=body.memory_policy.model_dump(by_alias=True) if body.memory_policy else None,
        metadata=body.metadata,
        repeat=repeat(),
        compaction=body.compaction.model_dump(mode="json", exclude_unset=True) if body.compaction else None,
    )
    head = session.create(known, wanted)
    return ok({**_named(whose, head), "created_at": head.created_at}, known.clock)


def _policy(body: CreateSession) -> dict[str, int] | None:
    if "auto_commit_policy" not in body.model_fields_set:
        default = settings().rules.default_policy
        return default.to_dict() if default else None
    if body.auto_commit_policy is None:
        return None
    return AutoCommitPolicy.from_dict(body.auto_commit_policy).to_dict()


def _named(whose: User, head: Head) -> Answer:
    return {
        "session_id": head.session_id,
        "uri": session_uri(whose.user_id, head.session_id),
        "user": {"account_id": whose.account_id, "user_id": whose.user_id},
        "auto_commit_policy": head.auto_commit_policy,
        "memory_policy": head.memory_policy or MemoryPolicy().model_dump(by_alias=True),
        "metadata": head.metadata,
        "compaction": resolve(head.compaction, None).model_dump(mode="json"),
    }


@router.get("/api/v1/sessions")
@answers(list[results.SessionRow], paged=True)
def list_sessions(
    limit: Annotated[int, Query(ge=1, le=200)] = 100,
    cursor: str | None = None,
    order: Annotated[str, Query(pattern="^(asc|desc)$")] = "desc",
) -> Answer:
    """The user's sessions in order of creation, newest first unless asked otherwise; counts as of the last commit."""
    whose = owner(router)
    known = library()
    after = unseal(cursor, whose, "sessions")
    page = session.page(known, whose, after=after, limit=limit, newest_first=order == "desc")
    shown = ("session_id", "created_at", "updated_at", "commit_count")
    rows = [
        {"uri": session_uri(whose.user_id, item["session_id"]), **{name: item[name] for name in shown}}
        for item in page.items
    ]
    return ok(rows, known.clock, next_cursor=seal(page.next, whose, "sessions"))


@router.get("/api/v1/sessions/<session_id>")
@answers(results.Session, Conflict, Aborted)
def look(session_id: str, auto_create: bool = False) -> Answer:
    """The session's settings and counters, as of now."""
    whose = owner(router)
    known = library()
    wanted = session_of(session_id)
    head = session.ensure(known, whose, wanted) if auto_create else load_head(known, whose, wanted)
    return ok({**_named(whose, head), **_counters(head)}, known.clock)


def _counters(head: Head) -> Answer:
    plain = (
        "created_at",
        "updated_at",
        "commit_count",
        "pending_tokens",
        "memories_extracted",
        "last_message_at",
        "last_commit_at",
        "last_auto_commit_at",
        "auto_commit_last_error",
        "auto_commit_last_error_at",
    )
    return {
        **{name: getattr(head, name) for name in plain},
        "message_count": head.live_count,
        "total_message_count": head.last_seq,
        "archives": {"pending": len(head.pending), "completed": head.completed, "failed": len(head.failed)},
    }


@router.delete("/api/v1/sessions/<session_id>")
@answers(results.DeletedSession, Aborted)
def delete(session_id: str) -> Answer:
    """Deletes the session and everything of it; its memories stay. `complete` false: the rest is erased shortly
    after."""
    whose = owner(router)
    known = library()
    erased = session.delete(known, whose, session_of(session_id))
    result = {
        "session_id": session_of(session_id),
        "erased": dict(erased.counts),
        "complete": erased.complete,
    }
    return ok(result, known.clock)


@router.post("/api/v1/sessions/<session_id>/messages")
@answers(results.Appended, Conflict, Aborted)
def append_one(session_id: str, body: SingleMessage) -> Answer:
    """Appends one message; an unknown session is created."""
    request = AppendRequest(owner(router), session_of(session_id), [body], body.expected_last_seq)
    return append(request, batch=False)


@router.post("/api/v1/sessions/<session_id>/messages/batch")
@answers(results.AppendedBatch, Conflict, Aborted)
def append_many(session_id: str, body: MessageBatch) -> Answer:
    """Appends 1 to 100 messages, all or none."""
    request = AppendRequest(owner(router), session_of(session_id), body.messages, body.expected_last_seq)
    return append(request, batch=True)


@router.post("/api/v1/sessions/<session_id>/commit")
@answers(results.Committed | results.Skipped | results.DryRun, Aborted, Unimplemented)
def commit(session_id: str, body: CommitSession | None = None) -> Answer:
    """Archives the live messages and starts the extraction of memories from them."""
    whose = owner(router)
    known = library()
    wanted = body or CommitSession()
    if wanted.dry_run:
        return ok(archive.dry_run(known, whose, session_of(session_id), wanted.keep), known.clock)
    name = session_of(session_id)
    session_ref = SessionRef(account_id=whose.account_id, user_id=whose.user_id, session_id=name)
    done = run_commit(known, session_ref, wanted.keep, repeat())
    return ok({"session_id": name, **_committed(whose, name, done)}, known.clock)


def _committed(whose: User, session_id: str, done: Committed | Skip) -> Answer:
    if isinstance(done, Skip):
        return {"status": "skipped", "archived": False, "task_id": None, "reason": done.reason}
    return {
        "status": "accepted",
        "archived": True,
        "task_id": done.task_id,
        "archive_uri": archive_uri(whose.user_id, session_id, done.archive.number),
        "first_seq": done.archive.first,
        "last_seq": done.archive.last,
    }


@router.get("/api/v1/sessions/<session_id>/context")
@answers(results.Context)
def context(session_id: str, token_budget: int = DEFAULT_BUDGET) -> Answer:
    """The last completed archive's overview and the messages it does not cover, within a token budget."""
    known = library()
    found = run_context(known, owner(router), session_of(session_id), token_budget)
    included = 1 if found.overview else 0
    result = {
        "latest_archive_overview": found.overview,
        "pre_archive_abstracts": [],
        "messages": [archive.shown(message) for message in found.messages],
        "estimatedTokens": found.overview_tokens + found.message_tokens,
        "stats": {
            "totalArchives": found.total_archives,
            "includedArchives": included,
            "droppedArchives": found.dropped_archives,
            "failedArchives": found.failed_archives,
            "activeTokens": found.message_tokens,
            "archiveTokens": found.overview_tokens,
        },
    }
    return ok(result, known.clock)


@router.get("/api/v1/sessions/<session_id>/messages")
@answers(list[results.Message])
def messages(
    session_id: str,
    after_seq: Annotated[int, Query(ge=0)] = 0,
    before_seq: Annotated[int | None, Query(ge=1)] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    order: Annotated[str, Query(pattern="^(asc|desc)$")] = "asc",
) -> Answer:
    """The session's whole log, archived or live, in seq order; `order=desc` begins with the newest."""
    known = library()
    window = archive.Window(after_seq, before_seq, limit, newest_first=order == "desc")
    found = archive.log(known, owner(router), session_of(session_id), window)
    return ok([archive.shown(message) for message in found], known.clock)


@router.get("/api/v1/sessions/<session_id>/archives")
@answers(list[results.ArchiveRow])
def archives(session_id: str) -> Answer:
    """The session's archives in order, with their status."""
    known = library()
    return ok(archive.list_archives(known, owner(router), session_of(session_id)), known.clock)


@router.get("/api/v1/sessions/<session_id>/archives/<archive_name>")
@answers(results.Archive)
def one_archive(session_id: str, archive_name: str) -> Answer:
    """An archive: status, abstract, overview and messages."""
    whose = owner(router)
    known = library()
    found = archive.read(known, whose, session_of(session_id), archive_name)
    return ok(found, known.clock)
