"""The sections of the benchmark: each measures, and answers its markdown."""

import time
from collections.abc import Callable, Mapping, Sequence

from strandline_sdk.client import Client
from tests.perf import (
    context,
    cost,
    cpu,
    imports,
    load,
    locomo,
    meaning,
    million,
    report,
    requests,
    scale,
    service,
    steps,
    together,
    world,
)
from tests.perf.requests import Row

CATEGORIES = {"1": "several turns", "2": "time", "3": "open", "4": "one turn"}
STAGES = ("authorizer", "append", "commit", "extract", "merge")


def append(*, quick: bool) -> str:
    """Requests and bytes per append."""
    return _both(lambda where: requests.appends(where, quick=quick), _append_table)


def pipeline(*, quick: bool) -> str:
    """Requests and bytes per commit, extract, merge, search and context."""
    return _both(lambda where: [*requests.archives(where), *requests.reads(where)], _pipeline_table)


def _both(measure: Callable[[world.World], list[Row]], shown: Callable[[Sequence[Row]], str]) -> str:
    """Measured by the SDK's hooks, and again on the fakes to see whether the two agree."""
    with world.emulated() as emulated:
        rows = measure(emulated)
    again = measure(world.Faked())
    different = [
        row.what for row, fake in zip(rows, again, strict=True) if row.usual.requests != fake.usual.requests
    ]
    settled = [what for what in different if "writers" not in what]
    verdict = f"differ in: {', '.join(settled)}" if settled else "give the same numbers"
    return f"{shown(rows)}\n\nCounted by the SDK's hooks; the counters of the fakes {verdict}."


def _append_table(rows: Sequence[Row]) -> str:
    header = (
        "one append of one message",
        "S3 PUT",
        "of them refused",
        "S3 GET",
        "table write",
        "mean KiB written",
    )
    return report.table(
        header,
        [
            (
                f"{row.what}{f' ({row.note})' if row.note else ''}",
                report.number(row.usual["S3 PUT"]),
                report.number(row.mean.refused),
                report.number(row.usual["S3 GET"]),
                report.number(row.usual["table write"]),
                report.kibibytes(row.mean.sent),
            )
            for row in rows
        ],
    )


def _pipeline_table(rows: Sequence[Row]) -> str:
    kinds = report.used(row.usual for row in rows)
    header = ("", *kinds, "KiB written", "KiB read")
    return report.table(
        header,
        [
            (
                f"{row.what}{f' ({row.note})' if row.note else ''}",
                *(report.number(row.usual[kind]) for kind in kinds),
                report.kibibytes(row.mean.sent),
                report.kibibytes(row.mean.received),
            )
            for row in rows
        ],
    )


def cpu_time(*, quick: bool) -> str:
    """CPU of an append against a bare `put_object`."""
    rows = cpu.measure(quick=quick)
    header = (
        "tail",
        "KiB written",
        "put_object, ms",
        "its settings ours",
        "use case",
        "whole handler",
        "goal",
    )
    return report.table(
        header,
        [
            (
                f"{row.kib} KiB",
                report.kibibytes(row.body_bytes),
                f"{row.milliseconds[cpu.PLAIN]:.2f}",
                *(f"{row.ratio(name):.2f} ×" for name in (cpu.TUNED, cpu.USE_CASE, cpu.HANDLER)),
                "≤ 1.5 ×, ≤ 3 ×",
            )
            for row in rows
        ],
    )


def import_time(*, quick: bool) -> str:
    """Import of each function against boto3 and pydantic."""
    rows = imports.measure(quick=quick)
    base = rows[0].milliseconds
    return report.table(
        ("import of", "CPU, ms", "ratio", "ratio, pairs", "modules", "where it goes (ms)"),
        [
            (
                row.name,
                f"{row.milliseconds:.0f}",
                f"{row.milliseconds / base:.2f} ×",
                f"{row.paired:.2f} ×",
                row.modules,
                ", ".join(f"{name} {spent:.0f}" for name, spent in row.dominating),
            )
            for row in rows
        ],
    )


def recall(*, quick: bool) -> str:
    """LoCoMo through the local run: how fast it goes in, and what is found."""
    data = locomo.Locomo(quick=quick)
    with service.local_run() as client:
        began = time.monotonic()
        tasks = locomo.store(data, client)
        stored = time.monotonic() - began
        locomo.finish(client, tasks)
        ended = time.monotonic() - began
        found = {name: locomo.recall(data, search) for name, search in locomo.searches(data, client).items()}
        covered = locomo.coverage(data, client)
    return f"{_speed(data, stored, ended)}\n\n{_recall_table(found)}\n\n{_covered(covered)}"


def _speed(data: locomo.Locomo, stored: float, ended: float) -> str:
    return (
        f"{data.turns:,} turns in {len(data.sessions)} sessions of {len(data.samples)} conversations, "
        f"{locomo.JOBS} sessions at a time: stored and committed after {stored:.0f} s, all memories written after "
        f"{ended:.0f} s: **{data.turns / ended:.0f} turns per second end to end** "
        f"({data.turns / stored:.0f} per second until acknowledged)."
    )


def _recall_table(found: Mapping[str, Mapping[str, Sequence[float]]]) -> str:
    rows = [
        (name, "**all**" if category == "all" else f"{CATEGORIES[category]} ({category})", *scores)
        for category in ("all", *CATEGORIES)
        for name, by_category in found.items()
        for scores in [by_category[category]]
    ]
    return report.table(("", "questions", "@1", "@5", "@10", "@20"), rows)


def _covered(found: locomo.Coverage) -> str:
    return (
        f"{100 * found.share:.1f} % of the evidence turns ({found.cited:,} of {found.evidence:,}) are cited by some "
        f"memory line; {found.lines:,} lines in {found.files:,} files cite {found.turns_cited:,} turns."
    )


def costs(*, quick: bool) -> str:
    """The same import in one process, by stage: requests, time, and what a million messages would cost."""
    data = locomo.Locomo(quick=quick)
    with world.emulated() as emulated:
        transport = service.InProcess(emulated)
        with Client("http://in-process", world.KEY, transport=transport) as client:
            locomo.store(data, client, jobs=1)
        transport.drain()
    stages = {name: transport.stages[name] for name in STAGES if name in transport.stages}
    return f"{_stage_table(stages)}\n\n{_cost_table(stages, data.turns)}"


def _stage_table(stages: Mapping[str, service.Stage]) -> str:
    kinds = report.used(stage.counts for stage in stages.values())
    rows = [
        (
            name,
            f"{stage.calls:,}",
            f"{1000 * stage.cpu / stage.calls:.1f}",
            f"{1000 * stage.seconds / stage.calls:.1f}",
            *(report.number(stage.counts[kind] / stage.calls) for kind in kinds),
            report.kibibytes(stage.counts.sent / stage.calls),
            report.kibibytes(stage.counts.received / stage.calls),
        )
        for name, stage in stages.items()
    ]
    header = ("per call of", "calls", "CPU, ms", "ms", *kinds, "KiB written", "KiB read")
    return report.table(header, rows)


def _cost_table(stages: Mapping[str, service.Stage], messages: int) -> str:
    prices = {name: cost.of(name, stage, messages) for name, stage in stages.items()}
    services = list(next(iter(prices.values())))
    rows = [
        (name, *(f"{row[s]:.2f}" for s in services), f"{sum(row.values()):.2f}")
        for name, row in prices.items()
    ]
    sums = [sum(row[s] for row in prices.values()) for s in services]
    total = ("**all**", *(f"{each:.2f}" for each in sums), f"**{sum(sums):.2f}**")
    return report.table(("$ per million messages", *services, "sum"), [*rows, total])


def a_million(*, quick: bool) -> str:
    """What a million messages take and cost, by messages per request."""
    return million.tables(million.measure(quick=quick))


def model_tokens(*, quick: bool) -> str:
    """Tokens and dollars of a language model, by model."""
    return million.model_table(1_000 if quick else 10_000)


def recall_by_meaning(*, quick: bool) -> str:
    """LoCoMo with an embedder beside the words."""
    found = meaning.measure(quick=quick)
    return report.table(("", "@1", "@5", "@10", "@20"), [(name, *scores) for name, scores in found.items()])


def under_load(*, quick: bool) -> str:
    """Many writers of one session, over HTTP and by the queue, and many sessions at once."""
    header = (
        "per message",
        "messages",
        "S3 PUT",
        "of them refused",
        "S3 GET",
        "of them unchanged",
        "table write",
        "ABORTED in all",
        "archives",
        "messages per second",
    )
    rows = [
        (
            row.what,
            f"{row.messages:,}",
            report.number(row.each("PUT")),
            report.number(row.each("PUT", *service.REFUSED)),
            report.number(row.each("GET")),
            report.number(row.each("GET", 304)),
            report.number(row.told.requests["dynamodb_write"] / row.messages),
            row.told.statuses[409] or "",
            row.archives or "",
            f"{row.messages / row.seconds:.0f}",
        )
        for row in load.measure(quick=quick)
    ]
    return report.table(header, rows)


def imports_at_once(*, quick: bool) -> str:
    """All sessions at once against one at a time: batches, conflicts, time, and that the memories are the same."""
    data, alone, all_at_once = together.measure(quick=quick)
    header = ("", "one at a time", "all at once", "ratio")
    rows = [
        ("seconds until acknowledged", alone.stored, all_at_once.stored),
        ("seconds until all memories are written", alone.seconds, all_at_once.seconds),
        ("merge batches", alone.batches, all_at_once.batches),
        ("merge batches per user", *(each.batches / len(data.samples) for each in (alone, all_at_once))),
        ("archives per merge batch", *(len(data.sessions) / each.batches for each in (alone, all_at_once))),
        ("conflicts on memory files", alone.conflicts, all_at_once.conflicts),
        ("deliveries to merge that came again", alone.again, all_at_once.again),
        ("refused PUTs of any kind", alone.refused, all_at_once.refused),
        ("PUTs", alone.puts, all_at_once.puts),
    ]
    shown = [(name, f"{a:,.4g}", f"{b:,.4g}", f"{b / a:.2f} ×" if a else "") for name, a, b in rows]
    same = (
        f"{len(data.sessions)} sessions of {len(data.samples)} users; the {alone.files.total()} memory files are the "
        f"same both ways, but for the ids that follow from a session's life."
    )
    return f"{report.table(header, shown)}\n\n{same}"


def search_steps(*, quick: bool) -> str:
    """What each step of the search gives, and how much of the answers a block of memories holds."""
    recalls, held = steps.measure(quick=quick)
    header = ("turn recall", *(f"{part} @{k}" for part in ("chosen on", "others") for k in (1, 5, 10, 20)))
    ladder = report.table(header, [(name, *chosen, *others) for name, chosen, others in recalls])
    columns = ("all", *CATEGORIES)
    blocks = report.table(
        ("answers' words held, %", *("**all**" if c == "all" else CATEGORIES[c] for c in columns)),
        [(name, *(f"{row[c]:.1f}" for c in columns)) for name, row in held.items()],
    )
    return f"{ladder}\n\n{blocks}"


def many_memories(*, quick: bool) -> str:
    """The index of a user with many memories, without and with vectors."""
    sizes = scale.SIZES[:2] if quick else scale.SIZES
    words, vectors = (scale.table(scale.measure(sizes, vectors=each)) for each in (False, True))
    return f"{words}\n\nWith vectors of {scale.DIMENSIONS} dimensions:\n\n{vectors}"


def contexts(*, quick: bool) -> str:
    """A context for a model before each of its calls, by how long the session is."""
    rows = context.measure(quick=quick)
    header = (
        "messages",
        "tokens said",
        "tokens given at most",
        "at the end",
        "compactions",
        "model calls of a context",
        *(f"{name}: GET / PUT / LIST, KiB read, CPU ms" for name in rows[0].calls),
        "CPU ms, mean of all calls",
    )
    table = [
        (
            f"{row.messages:,}",
            f"{row.tokens:,}",
            f"{row.most:,}",
            f"{row.shown:,}",
            row.archives,
            row.model_calls,
            *map(_call_cell, row.calls.values()),
            f"{row.milliseconds / row.asked:.1f}",
        )
        for row in rows
    ]
    return report.table(header, table)


def _call_cell(call: context.Call) -> str:
    kinds = (call.requests.get(f"objects.{kind}", 0) for kind in ("get", "put", "list"))
    return f"{' / '.join(map(str, kinds))}, {report.kibibytes(call.received) or 0}, {call.milliseconds:.1f}"


SECTIONS: Mapping[str, Callable[..., str]] = {
    "append": append,
    "pipeline": pipeline,
    "cpu": cpu_time,
    "imports": import_time,
    "locomo": recall,
    "cost": costs,
    "million": a_million,
    "model": model_tokens,
    "meaning": recall_by_meaning,
    "load": under_load,
    "import": imports_at_once,
    "scale": many_memories,
    "steps": search_steps,
    "context": contexts,
}
