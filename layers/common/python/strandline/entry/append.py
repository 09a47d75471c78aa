"""The append function: two routes on the hot path, so it goes without a router."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, Field

from strandline.domain.message import MAX_BATCH, MessageIn
from strandline.domain.scalars import Whole
from strandline.entry import telemetry
from strandline.entry.front import serve
from strandline.entry.http import Event, ok, parse_body, reply
from strandline.entry.identity import identifier, identify
from strandline.entry.repeat import repeat
from strandline.entry.wiring import services
from strandline.pipeline.append import Appended, AppendRequest, run_append

SESSIONS = "/api/v1/sessions/"


class SingleMessage(MessageIn):
    """The body of `POST …/messages`."""

    expected_last_seq: Whole | None = Field(default=None, ge=0)


class MessageBatch(BaseModel):
    """The body of `POST …/messages/batch`: all of it is stored, or nothing."""

    messages: list[MessageIn] = Field(min_length=1, max_length=MAX_BATCH)
    expected_last_seq: Whole | None = Field(default=None, ge=0)


def handle(event: Event) -> dict[str, Any]:
    """Answers one HTTP API event, or one batch of the ingest queue."""
    if "Records" in event:
        from strandline.entry import ingest

        return ingest.handle(event)
    return serve(event, services, lambda: _append(event))


def _append(event: Event) -> dict[str, Any]:
    owner = identify(event)
    path = str(event["rawPath"])  # decoded by the gateway
    batch = path.endswith("/messages/batch")
    named = path.removesuffix("/batch").removesuffix("/messages").removeprefix(SESSIONS)
    session_id = identifier(named, "session_id")
    if batch:
        wanted = parse_body(event, MessageBatch)
        request = AppendRequest(owner, session_id, wanted.messages, wanted.expected_last_seq)
    else:
        single = parse_body(event, SingleMessage)
        request = AppendRequest(owner, session_id, [single], single.expected_last_seq)
    return reply(200, append(request, batch=batch))


def append(request: AppendRequest, *, batch: bool) -> dict[str, Any]:
    """Runs the use case; answers the envelope."""
    known = services()
    again = repeat()
    if again is not None:
        request = replace(request, repeat_key=again.seed)
    with telemetry.contention(known.heads):
        done = run_append(known, request)
    if again is not None and again.again:
        done = _as_first(request, done)
    telemetry.count(appended_messages=done.added, commits_asked_for=int(done.task_id is not None))
    telemetry.note(last_seq=done.head.last_seq)
    return ok(_result(request, done, batch=batch), known.clock)


def _as_first(request: AppendRequest, done: Appended) -> Appended:
    """What an earlier attempt would have answered: what has an id of the request's own was stored by none but it."""
    named = zip(request.messages, request.named(str), strict=True)
    own = {message.id for given, message in named if not given.id}
    receipts = [
        replace(receipt, duplicate=receipt.duplicate and receipt.id.partition("/")[0] not in own)
        for receipt in done.receipts
    ]
    return replace(done, receipts=receipts)


def _result(request: AppendRequest, done: Appended, *, batch: bool) -> Mapping[str, Any]:
    first = done.receipts[0]
    result: dict[str, Any] = {
        "session_id": request.session_id,
        "message_count": done.head.live_count,
        "pending_tokens": done.head.pending_tokens,
        "added": done.added,
    }
    if done.task_id:
        result["auto_commit"] = {"task_id": done.task_id}
    if batch:
        rows = [{"id": r.id, "seq": r.seq, "duplicate": r.duplicate} for r in done.receipts]
        return {**result, "messages": rows}
    return {**result, "message_id": first.id, "seq": first.seq, "duplicate": first.duplicate}
