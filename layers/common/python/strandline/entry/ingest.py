"""The append function's other trigger: AppendRequested from the ingest queue, a batch at a time.

Who may send to the queue may write for any account and user: the queue's policy is the authorization.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import partial
from typing import Any

from pydantic import ValidationError

from strandline.domain.contracts import AppendRequested
from strandline.entry import telemetry
from strandline.entry.batch import Record, each, let_go, records
from strandline.entry.http import Event, InvalidFields
from strandline.entry.identity import new_name
from strandline.entry.wiring import services
from strandline.pipeline.append import AppendRequest
from strandline.pipeline.ingest import Outcome, run_ingest
from strandline.storage.layout import User

Wanted = tuple[Record, AppendRequest]


def handle(event: Event) -> dict[str, Any]:
    """Answers a batch of AppendRequested. What cannot be read or stored fails alone."""
    readable: list[Wanted] = []
    hopeless: list[Record] = []
    failures = each(records(event), partial(_read, into=readable), hopeless)
    for group in _by_session(readable):
        failures += _ingest(group, hopeless)
    let_go(lambda: services().ingest_queue, hopeless)
    return {"batchItemFailures": failures}


def _read(record: Record, _: Record, *, into: list[Wanted]) -> None:
    try:
        wanted = AppendRequested.model_validate_json(record["body"])
    except ValidationError as error:  # it is logged, and pydantic's own text may quote the request
        raise InvalidFields(error.errors(include_context=False, include_input=False)) from None
    for name in ("account_id", "user_id", "session_id"):
        new_name(getattr(wanted, name), name)
    owner = User(wanted.account_id, wanted.user_id)
    repeat_key = wanted.idempotency_key or str(record["messageId"])
    sent = datetime.fromtimestamp(int(record["attributes"]["SentTimestamp"]) / 1000, UTC)
    request = AppendRequest(owner, wanted.session_id, wanted.messages, repeat_key=repeat_key, sent_at=sent)
    into.append((record, request))


def _by_session(rows: Iterable[Wanted]) -> Iterable[list[Wanted]]:
    groups: dict[tuple[User, str], list[Wanted]] = {}
    for record, request in rows:
        groups.setdefault((request.owner, request.session_id), []).append((record, request))
    return groups.values()


def _ingest(group: list[Wanted], hopeless: list[Record]) -> list[dict[str, str]]:
    """The failures of one session's requests. Something unforeseen fails all of them: order before progress."""
    outcomes: list[Outcome] = []

    def run(record: Record, requests: list[AppendRequest]) -> None:
        with telemetry.message("append", record):
            owner, messages = requests[0].owner, sum(len(request.messages) for request in requests)
            telemetry.note(
                account=owner.account_id,
                user=owner.user_id,
                session=requests[0].session_id,
                messages=messages,
            )
            with telemetry.contention(services().heads):
                outcomes.extend(run_ingest(services(), requests))
            kept = [len(r.messages) for r, error in zip(requests, outcomes, strict=True) if error is None]
            telemetry.count(requests=len(requests), appended_messages=sum(kept))

    first = group[0][0]
    if each([(first, [request for _, request in group])], run):
        return [{"itemIdentifier": str(record["messageId"])} for record, _ in group]
    return each(
        [(record, outcome) for (record, _), outcome in zip(group, outcomes, strict=True)], _end, hopeless
    )


def _end(_record: Record, outcome: Outcome) -> None:
    if outcome is not None:
        raise outcome
