"""What is known of mutants that no run of the simulation shows: tried elsewhere, no mistake at all, or open."""

ELSEWHERE: dict[str, str] = {
    "pipeline.erase:_tell": "tests/pipeline/test_erasure.py",
    "pipeline.learning:ask_again": "tests/pipeline/test_learn.py",
    "pipeline.learning:failed": "tests/pipeline/test_learn.py",
    "pipeline.scrub_parts:_write_row": "tests/pipeline/test_scrub.py",
    "storage.accounts:Accounts._create": "tests/handlers/test_admin.py",
    "storage.accounts:Accounts.change_role": "tests/handlers/test_admin.py",
    "storage.erasures:Erasures.close": "tests/pipeline/test_erasure_crashes.py",
    "storage.erasures:Erasures.open": "tests/pipeline/test_erasure.py",
    "storage.erasures:Erasures.save": "tests/pipeline/test_erasure_crashes.py",
    "storage.keys:Keys.change_role": "tests/handlers/test_admin.py",
    "storage.keys:Keys.change_role/2": "tests/handlers/test_admin.py",
    "storage.records:Tasks.forget": "tests/handlers/test_poison.py",
    "storage.replays:Replays._set": "tests/handlers/test_idempotency.py",
    "storage.replays:Replays._written": "tests/handlers/test_idempotency.py",
    "storage.replays:Replays.forget": "tests/handlers/test_idempotency.py",
    "storage.rewriting:rewrite": "tests/pipeline/test_scrub.py",
    "storage.scrubs:Scrubs.open": "tests/pipeline/test_scrub.py",
    "storage.scrubs:Scrubs.save": "tests/pipeline/test_scrub.py",
}
"""Conditional calls of what the simulation does not do (accounts, keys, erasures of users, kept answers,
scrubs, lessons that are retried or fail), and where it is tried."""

EQUIVALENT: dict[str, str] = {
    "the erase worker does not look whether the session lives": (
        "whoever sends it there has seen the gravestone, and what is buried never lives again"
    ),
    "storage.lease:Leases.take, LEASES if it is the same: unconditional": (
        "a lease saves requests and decides nothing: the worker decides again on a fresh head"
    ),
    "storage.lease:Leases.let_go, LEASES if it is the same: unconditional": (
        "a lease saves requests and decides nothing: the worker decides again on a fresh head"
    ),
}
"""Mutants that change nothing that anybody is promised, and why."""

OPEN: frozenset[str] = frozenset(
    {
        "a commit that was asked for has no marker",
        "the sweep removes a marker before it puts it later",
        "an extraction goes on for a deleted session",
        "an index that lost its race is written from files read before",
        "a lease lasts until the table has deleted it",
        "a task is opened again by a write that lands late",
        "pipeline.remains:clear_grave, head.json if IfMatch: unconditional",
        "storage.document:Documents.write, used.json if IfAbsent: unconditional",
        "storage.once:write_once, archives/learn_diff.json if IfAbsent: unconditional",
        "storage.once:write_once, archives/learned.json if IfAbsent: unconditional",
        "storage.once:write_once, archives/learning.json if IfAbsent: unconditional",
        "storage.document:Documents.write, index/messages.idx if IfAbsent: unconditional",
        "storage.once:write_once, archives/failed.json if IfAbsent: unconditional",
        "storage.once:write_once, journal run if IfAbsent: unconditional",
        "storage.records:Sessions.forget, SESSIONS if it is the same: unconditional",
        "storage.records:Tasks.announce, SessionRef if it is the same: unconditional",
        "storage.records:Tasks.fail, SessionRef if it is the same: unconditional",
        "storage.records:Tasks.note, TASKS if it is the same: unconditional",
        "storage.records:Tasks.running, SessionRef if it is the same: unconditional",
        "storage.records:Tasks.start, SessionRef if it is the same: unconditional",
        "storage.records:Tasks.stumbled, TASKS if it is the same: unconditional",
        "storage.records:Tasks.turn, TASKS if it is the same: unconditional",
        "storage.document:Documents.write, context.json if IfAbsent: unconditional",
        "storage.document:Documents.write, context.json if IfMatch: unconditional",
        "storage.once:write_once, working if IfAbsent: unconditional",
        "pipeline.learning:running, Library if it is the same: unconditional",
        "the sweep forgets the marker of a session that has messages again",
    }
)
"""Mutants that no run has shown yet: either the clients do too little, or too little is checked."""
