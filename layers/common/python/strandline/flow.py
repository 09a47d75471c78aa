"""Read this first: the flow, and what makes each stage true.

     HTTP, ingest queue ──▶ append                 one conditional PUT of the session head

     HTTP ──▶ api ─▶ commit ──ExtractRequested──▶ extract     commit: the range leaves live, CAS of the head
               ▲      ▲                           ▲  │
               │      ├── CommitRequested ◀── append │ candidates, stored once; MergeRequested
               │      └─────────────────── sweep ─┘  ▼
               │       (every minute: what is     merge       FIFO per user: CAS per memory file,
               │        due or stands still)         │        then this archive's diff, once
               └────── markdown memories, index ◀────┤
                              ▲                      └ LearnRequested
                              └────────────────────── learn  FIFO per user: what a judged task teaches

     HTTP ──▶ erase ◀──EraseRequested── sweep      what is deleted, and what a scrub finds, goes in all its versions:
                                                   the only role that may

     api, extract, merge, erase, sweep ──▶ journal ──▶ bus    what happened: numbered by CAS of the user's journal,
                                                              then told, at least once

The authorizer finds out whose key came with a request. AppendRequested comes from any producer that may send to the
ingest queue. CommitRequested comes from a write or a sweep that finds that a session's policy asks for a commit, or
from a producer. The routes call the same use cases.

A stage is one word everywhere: `functions/<word>/handler.py` (what AWS calls), `entry/<word>.py` (its edge),
`pipeline/<word>.py` (the use case; its header says what it survives), the queue, the message and the sample event.
Each stage has exactly one commit point: the single write after which it has happened. What comes before that write may
be repeated; what comes after it is repeated until it succeeds. `tests/infra` checks this table against `template.yaml`.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Stage:
    """One stage: what triggers it, which function runs it, what it consumes and emits, its commit point, and the events
    it publishes (domain/events.py). `besides`: other messages of the same queue that it handles too."""

    word: str
    function: str
    triggers: tuple[str, ...]
    use_case: str | None
    consumes: str | None
    emits: tuple[str, ...]
    commit_point: str
    events: tuple[str, ...] = ()
    besides: tuple[str, ...] = ()


STAGES = (
    Stage(
        word="append",
        function="AppendFunction",
        triggers=(
            "POST /api/v1/sessions/{session_id}/messages",
            "POST /api/v1/sessions/{session_id}/messages/batch",
            "IngestQueue",
        ),
        use_case="strandline.pipeline.append:run_append",
        consumes="AppendRequested",
        emits=("CommitRequested",),
        commit_point="CAS PUT of the session head",
    ),
    Stage(
        word="commit",
        function="CommitFunction",
        triggers=("CommitQueue",),
        use_case="strandline.pipeline.commit:run_commit",
        consumes="CommitRequested",
        emits=("ExtractRequested",),
        commit_point="CAS PUT of the session head that moves the archived range out of live",
    ),
    Stage(
        word="extract",
        function="ExtractFunction",
        triggers=("ExtractQueue",),
        use_case="strandline.pipeline.extract:run_extract",
        consumes="ExtractRequested",
        emits=("ExtractRequested", "SummariseRequested", "MergeRequested"),
        commit_point="create-once PUT of the candidates of the archive, then of each version of the working memory",
        events=("SessionCommitted", "TaskFailed"),
        besides=("SummariseRequested",),
    ),
    Stage(
        word="merge",
        function="MergeFunction",
        triggers=("MergeQueue",),
        use_case="strandline.pipeline.merge:run_merge",
        consumes="MergeRequested",
        emits=("LearnRequested",),
        commit_point="CAS PUT per memory file, then create-once PUT of the archive's memory_diff.json",
        events=("MemoryChanged", "TaskFailed"),
    ),
    Stage(
        word="learn",
        function="LearnFunction",
        triggers=("LearnQueue",),
        use_case="strandline.pipeline.learn:run_learn",
        consumes="LearnRequested",
        emits=(),
        commit_point="CAS PUT per trajectory, experience and case file, then create-once PUT of its learn_diff.json",
        events=("MemoryChanged", "TaskFailed"),
    ),
    Stage(
        word="erase",
        function="EraseFunction",
        triggers=(
            "DELETE /api/v1/sessions/{session_id}",
            "DELETE /api/v1/users/{user_id}",
            "DELETE /api/v1/accounts/{account_id}",
            "POST /api/v1/scrubs",
            "EraseQueue",
        ),
        use_case="strandline.pipeline.erase:run_erase",
        consumes="EraseRequested",
        emits=("EraseRequested",),
        commit_point="CAS PUT of a session's gravestone; conditional put of an erasure or of a scrub",
        events=("SessionDeleted", "MemoryChanged"),
    ),
    Stage(
        word="sweep",
        function="SweepFunction",
        triggers=("rate(1 minute)",),
        use_case="strandline.pipeline.sweep:run_sweep",
        consumes=None,
        emits=("CommitRequested", "ExtractRequested", "LearnRequested", "EraseRequested"),
        commit_point="conditional delete or move of a due marker",
        events=("SessionCommitted", "MemoryChanged", "TaskFailed", "SessionDeleted"),
    ),
    Stage(
        word="api",
        function="ApiFunction",
        triggers=(
            "ANY /api/v1/{proxy+}",
            "GET /health",
            "GET /openapi.json",
            "GET /docs",
        ),
        use_case=None,
        consumes=None,
        emits=("CommitRequested", "ExtractRequested", "SummariseRequested", "LearnRequested"),
        commit_point="none: reads, and the use cases above",
        events=("MemoryChanged",),
    ),
    Stage(
        word="mcp",
        function="McpFunction",
        triggers=("ANY /mcp",),
        use_case=None,
        consumes=None,
        emits=(),
        commit_point="none: reads, and the use cases of memories",
        events=("MemoryChanged",),
    ),
    Stage(
        word="authorizer",
        function="AuthorizerFunction",
        triggers=("authorizer",),
        use_case=None,
        consumes=None,
        emits=(),
        commit_point="none",
    ),
)
