"""What a million messages take and cost, appended k at a time: docs/COSTS.md.

Sessions of a hundred messages, each begun, appended k messages a request, committed once, extracted and merged, all by
the handlers in this process and counted by the SDK's hooks. Waiting for the stores is not measured here but assumed.
"""

import io
import json
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

import httpx

from strandline.domain import prices
from tests.perf import cost, report, service, talk, world
from tests.perf.counting import Counts
from tests.perf.service import Stage

SIZES = (1, 10, 100)
SESSION = 100
WAIT_SECONDS = {
    "S3 PUT": 0.030,
    "S3 GET": 0.015,
    "table write": 0.005,
    "table read": 0.005,
    "queue send": 0.010,
}
"""Assumed time until the service answers, for the functions that wait; an event counts as a queue send."""

GIGABYTES = {"append": 1.0, "authorizer": 1.0, "commit": 1.0, "extract": 1769 / 1024, "merge": 1.0}
PLATFORM_LOG_BYTES = 900  # START, END and REPORT of an invocation as JSON, about
ACCESS_LOG_BYTES = 250
LOGS_GIGABYTE = 0.50  # dollars, ingested
STORED_GIGABYTE = 0.023  # dollars a month, S3 Standard
AFTER = ("commit", "extract", "merge")
BY_HTTP = ("append", "commit")


@dataclass(frozen=True)
class Taken:
    """What `messages` messages took: by stage, in bytes of log lines, and in bytes in the bucket."""

    messages: int
    stages: Mapping[str, Stage]
    logged: int
    stored: Mapping[str, int]


def measure(*, quick: bool) -> list[tuple[str, Taken]]:
    """Every size without a key, and with one."""
    sessions = 1 if quick else 4
    with world.emulated() as emulated:
        return [
            (f"k = {size}{', Idempotency-Key' if keyed else ''}", _sessions(emulated, size, keyed, sessions))
            for keyed in (False, True)
            for size in SIZES
        ]


def _sessions(emulated: world.Emulated, size: int, keyed: bool, count: int) -> Taken:
    owner = f"k{size}{'-keyed' if keyed else ''}"
    transport = service.InProcess(emulated)
    headers = {"X-API-Key": world.KEY, "X-Strandline-Account": "acme", "X-Strandline-User": owner}
    lines = io.StringIO()
    with (
        redirect_stdout(lines),
        httpx.Client(base_url="http://in-process/api/v1", headers=headers, transport=transport) as client,
    ):
        for number in range(count):
            _session(client, f"session-{number}", size, keyed)
            transport.drain()
    stages = {name: transport.stages[name] for name in ("authorizer", "append", *AFTER)}
    return Taken(count * SESSION, stages, len(lines.getvalue().encode()), _stored(emulated, owner))


def _session(client: httpx.Client, name: str, size: int, keyed: bool) -> None:
    for number, batch in enumerate(talk.batches(1000 * int(name.rpartition("-")[2]), SESSION, size)):
        body = {"messages": [message.model_dump(exclude_none=True, mode="json") for message in batch]}
        key = {"Idempotency-Key": f"{name}-{number}"} if keyed else {}
        client.post(f"/sessions/{name}/messages/batch", json=body, headers=key).raise_for_status()
    client.post(f"/sessions/{name}/commit", json={}).raise_for_status()


def _stored(emulated: world.Emulated, owner: str) -> dict[str, int]:
    """Bytes of what is current, of heads and indexes written over (kept a day), of memories written over."""
    s3 = emulated.emulators.client("s3")
    found = {"now": 0, "for a day": 0, "old versions": 0}
    pages = s3.get_paginator("list_object_versions").paginate(
        Bucket=emulated.known["MemoryBucket"], Prefix=f"v1/acme/{owner}/"
    )
    for page in pages:
        for version in page.get("Versions", ()):
            found[_kind(version)] += version["Size"]
    return found


def _kind(version: Mapping[str, Any]) -> str:
    if version["IsLatest"]:
        return "now"
    return "old versions" if "/memories/" in version["Key"] else "for a day"


# ---- shown -------------------------------------------------------------------------------------------------


def tables(measured: Sequence[tuple[str, Taken]]) -> str:
    """Requests, dollars and bytes of a million messages."""
    return "\n\n".join((_requests(measured), _dollars(measured), _bytes(measured)))


def _requests(measured: Sequence[tuple[str, Taken]]) -> str:
    rows = [
        (what, _counts(taken, ("append",)), _calls(taken, ("append",)), taken) for what, taken in measured
    ]
    _, first = measured[0]
    rows.append(("commit, extract, merge", _counts(first, AFTER), _calls(first, AFTER), first))
    kinds = report.used(counts for _, counts, _, _ in rows)
    header = ("thousand requests per million messages", "function calls", *kinds)
    return report.table(
        header,
        [
            (what, _thousands(calls, taken), *(_thousands(counts[kind], taken) for kind in kinds))
            for what, counts, calls, taken in rows
        ],
    )


def _thousands(count: float, taken: Taken) -> str:
    return f"{1000 * count / taken.messages:,.0f}" if count else ""


def _counts(taken: Taken, names: Sequence[str]) -> Counts:
    return sum((taken.stages[name].counts for name in names), Counts())


def _calls(taken: Taken, names: Sequence[str]) -> int:
    return sum(taken.stages[name].calls for name in names)


def _dollars(measured: Sequence[tuple[str, Taken]]) -> str:
    bills = [(what, _bill(taken)) for what, taken in measured]
    services = list(bills[0][1])
    rows = [
        (what, *(f"{bill[name]:.2f}" for name in services), f"**{sum(bill.values()):.2f}**")
        for what, bill in bills
    ]
    return report.table(("$ per million messages, all stages", *services, "sum"), rows)


def _bill(taken: Taken) -> dict[str, float]:
    """Dollars by service for a million messages."""
    stages = taken.stages
    counts = _counts(taken, list(stages))
    calls = _calls(taken, list(stages))
    by_http = _calls(taken, BY_HTTP)
    logs = taken.logged + calls * PLATFORM_LOG_BYTES + by_http * ACCESS_LOG_BYTES
    per = {
        "HTTP API": by_http * prices.HTTP_API,
        "Lambda": calls * prices.LAMBDA_CALL + _gigabyte_seconds(stages) * prices.LAMBDA_GB_SECOND,
        "S3": _priced(counts, "S3"),
        "DynamoDB": _priced(counts, "table"),
        "SQS": sum(_queues(name, stage) for name, stage in stages.items()),
        "EventBridge": counts["event"] * prices.MILLION["events"],
        "logs": logs / 1e9 * LOGS_GIGABYTE * 1_000_000,
    }
    return {name: dollars / taken.messages for name, dollars in per.items()}


def _priced(counts: Counts, service_name: str) -> float:
    return sum(
        counts[kind] * prices.MILLION[priced]
        for kind, priced in cost.KINDS.items()
        if kind.startswith(service_name)
    )


def _queues(name: str, stage: Stage) -> float:
    return cost.of(name, stage, 1)["SQS"]


def _gigabyte_seconds(stages: Mapping[str, Stage]) -> float:
    return sum(
        GIGABYTES[name] * (stage.cpu + sum(stage.counts[kind] * wait for kind, wait in WAIT_SECONDS.items()))
        for name, stage in stages.items()
    )


def _bytes(measured: Sequence[tuple[str, Taken]]) -> str:
    def row(what: str, taken: Taken) -> tuple[str, ...]:
        per = {name: size / taken.messages / 1000 for name, size in taken.stored.items()}  # GB a million
        month = (per["now"] + per["for a day"] * 2 / 30 + per["old versions"]) * STORED_GIGABYTE
        return (what, *(f"{per[name]:,.1f}" for name in taken.stored), f"{month:.2f}")

    plain = [(what, taken) for what, taken in measured if "Key" not in what]
    header = (
        "GB per million messages",
        "current objects",
        "heads and indexes written over, kept a day or two",
        "memories written over, kept `NoncurrentVersionDays`",
        "$ in the first month",
    )
    return report.table(header, [row(what, taken) for what, taken in plain])


# ---- a language model ----------------------------------------------------------------------------------------


MODELS = {"Amazon Nova Lite": (0.06, 0.24), "GPT-4.1 mini": (0.40, 1.60), "Claude Haiku 4.5": (1.00, 5.00)}
"""Dollars for a million tokens in and out; where the prices are from stands in docs/COSTS.md."""

FACTS_A_MESSAGE, FACT_TOKENS, SUMMARY_TOKENS = 0.43, 90, 300
"""Tokens out are assumed: as many facts as LoCoMo's recorded observations have, and a summary for each part."""


def model_table(messages: int) -> str:
    """Tokens of an extraction by a model, and what a million messages cost then."""
    tokens_in, tokens_out, parts = _model_tokens(messages)
    rows = [
        (
            name,
            f"{tokens_in:,.0f}",
            f"{tokens_out:,.0f}",
            f"{tokens_in * price[0] + tokens_out * price[1]:,.0f}",
        )
        for name, price in MODELS.items()
    ]
    header = ("model", "million tokens in", "million tokens out", "$ per million messages")
    note = f"A part of 4,000 tokens holds {messages / parts:,.0f} of these messages."
    return f"{report.table(header, rows)}\n\n{note}"


def _model_tokens(messages: int) -> tuple[float, float, int]:
    """Tokens in and out per message, and the parts, of a long made-up conversation in parts of the default size."""
    from strandline.adapters.tokens import TiktokenCounter
    from strandline.domain.extraction import Transcript
    from strandline.domain.language_model.parts import split
    from strandline.domain.language_model.prompt import prompt
    from strandline.pipeline.services import Rules

    count = TiktokenCounter("cl100k_base").count
    turns = [_turn(seq, message.content or "") for seq, message in enumerate(talk.messages(1, messages), 1)]
    parts = split(Transcript.model_validate({**_ABOUT, "turns": turns}), Rules().part_tokens, count)
    asked = [prompt(part) for part in parts]
    sent = sum(count(each.system) + count(each.user) + count(json.dumps(each.schema)) for each in asked)
    tokens_out = FACTS_A_MESSAGE * FACT_TOKENS + SUMMARY_TOKENS * len(parts) / messages
    return sent / messages, tokens_out, len(parts)


_ABOUT: Mapping[str, Any] = {"session_id": "s", "archive": 1}


def _turn(seq: int, text: str) -> dict[str, Any]:
    at = "2026-05-08T07:00:00.000Z"
    speaker = ("Ann", "Ben")[seq % 2]
    return {"seq": seq, "role": "user", "speaker": speaker, "at": at, "text": text}
