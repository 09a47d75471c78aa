"""Deliberate mistakes, each of which the simulation must find: what the product's care is good for.

Two kinds. Generated: every call of `storage` and `pipeline` that passes a condition (`when=`), for each kind of thing
that it writes, without the condition. Written by hand: a check that is skipped, an order that is turned round.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

from tests.sim import cases
from tests.sim.mutants_code import conditions, edited
from tests.sim.scenarios import FIXED

LIKELY = {
    "clear_grave": "cleared",
    "index/": "first",
    "memories if": "owners",
    "journal": "files",
    "archives/": "files",
    "LEASES": "bursts",
    "TASKS": "sweeps",
    "SessionRef": "sweeps",
}
"""Where a mutant of a condition is looked for first, by what is in its name."""
LOOKED_AT = 60
"""So many seeds, beside the fixed scenarios, show which conditional calls there are."""


@dataclass(frozen=True)
class Mutant:
    """One mistake: `make` has the product make it. `race`: where to look for it first."""

    name: str
    make: Callable[[], AbstractContextManager[None]]
    race: str = ""


# ---- without a condition


def without_condition() -> Iterator[Mutant]:
    """A mutant for every condition that a run without faults, or one of the first seeds, makes use of."""
    for place, what in sorted(conditions_met()):
        name = f"{place}, {what}: unconditional"
        race = next((race for part, race in LIKELY.items() if part in name), "")
        yield Mutant(name, partial(conditions, _all_but(place, what)), race)


def conditions_met() -> set[tuple[str, str]]:
    """(place, what it is about) of each conditional call that was made."""
    met: set[tuple[str, str]] = set()

    def note(place: str, what: str) -> bool:
        met.add((place, what))
        return True

    with conditions(note):
        for name in (*FIXED, *map(str, range(LOOKED_AT))):
            cases.of(name).run()
    return met


def _all_but(place: str, what: str) -> Callable[[str, str], bool]:
    return lambda a, b: (a, b) != (place, what)


# ---- by hand


def edit(name: str, place: str, *edits: tuple[str, str], race: str = "") -> Mutant:
    return Mutant(name, partial(edited, place, *edits), race)


def edits(name: str, *places: tuple[str, str, str], race: str = "") -> Mutant:
    """More than one function is wrong: (place, what is there, what is there instead)."""

    @contextmanager
    def make() -> Iterator[None]:
        with ExitStack() as stack:
            for place, old, new in places:
                stack.enter_context(edited(place, (old, new)))
            yield

    return Mutant(name, make, race)


BY_HAND: tuple[Mutant, ...] = (
    edit(
        "a lost answer is not looked for by its write id",
        "storage.document:_Update._landed",
        ("base.stamp.made_by(self._write_id) if base and self._tried else None", "None"),
        race="answers",
    ),
    edit(
        "an unclear write counts as done",
        "storage.document:_Update._put",
        ("self._unclear = True\n        return None", "return change"),
    ),
    edit(
        "an unclear write counts as not done",
        "storage.document:_Update._given_up",
        ("if self._unclear:", "if False:"),
        race="answers",
    ),
    edit(
        "messages are not told by their ids",
        "domain.session:_receive",
        ("seen.get(draft.id) or find(head, draft.id_hash)", "seen.get(draft.id)"),
    ),
    edit(
        "the head forgets ids when it is committed",
        "domain.session:archive",
        ("live_from=plan.last + 1,", "live_from=plan.last + 1, ids=b'',"),
    ),
    edit(
        "a commit does not look whether its plan still fits",
        "domain.session:archive",
        (
            "if plan.number != head.commit_count + 1 or plan.first != head.live_from or plan.last > head.last_seq:",
            "if False:",
        ),
        race="commits",
    ),
    edit(
        "a lost commit takes what the head has now for its plan",
        "domain.session:archive",
        (
            "if plan.number != head.commit_count + 1 or plan.first != head.live_from or plan.last > head.last_seq:\n"
            "        return None",
            "plan = CommitPlan(head.commit_count + 1, head.live_from, head.last_seq, plan.by)",
        ),
    ),
    edit(
        "a commit of one life archives its successor",
        "pipeline.commit:_change",
        ("head.incarnation != incarnation or ", ""),
        race="reborn",
    ),
    edit(
        "an archive's key does not have its range",
        "storage.layout:Life.messages",
        ("_range(first, last)", "_range(0, 0)"),
    ),
    edit(
        "the heal marker comes after the head",
        "pipeline.commit:_archive",
        (
            'with answered("the table did not answer; nothing was archived, repeat the request"):\n'
            "        services.due.put(heal_marker(services, ref(head), archive))\n    ",
            "",
        ),
        (
            "return services.heads.update(head_key(ref(head)), change)",
            "done = services.heads.update(head_key(ref(head)), change)\n"
            "    with answered():\n"
            "        services.due.put(heal_marker(services, ref(head), archive))\n"
            "    return done",
        ),
        race="files",
    ),
    edit(
        "there is no heal marker",
        "pipeline.commit:_archive",
        ("services.due.put(heal_marker(services, ref(head), archive))", "pass"),
        race="files",
    ),
    edit(
        "the sweep removes a marker before it puts it later",
        "storage.due:DueMarkers.move",
        ("self.put(later)\n    self.remove(due)", "self.remove(due)\n    self.put(later)"),
        race="sweeping",
    ),
    edit(
        "the sweep removes the marker of what it has only sent again",
        "pipeline.healing:heal",
        (
            "services.due.move(due, replace(due, at=services.due_at(), rounds=due.rounds + 1))",
            "services.due.remove(due)",
        ),
        race="sweeps",
    ),
    edit(
        "the sweep does not make task and list agree",
        "pipeline.healing:heal",
        ("return _agree(services, due, head, task)", "return services.due.remove(due)"),
        race="sweeps",
    ),
    edit(
        "the tail is spilled after the head",
        "pipeline.append:_spill",
        (
            "services.log.spill(head, segment)",
            "services.__dict__.setdefault('unspilled', []).append((head, segment))",
        ),
        race="spills",
    ),
    edit(
        "a segment of one life goes into its successor",
        "pipeline.append:_Batch.change",
        (
            "ready.spilled is not None and ready.spilled.incarnation == current.incarnation",
            "ready.spilled is not None",
        ),
        race="spills",
    ),
    edit(
        "a spilled segment need not be the front of the tail",
        "domain.session:spill",
        ("if segment.first != head.tail_from or segment.last > head.last_seq:", "if False:"),
        race="spills",
    ),
    edit(
        "a tool output goes where an earlier life was",
        "pipeline.append:_Batch.change",
        (
            "if self.intake.outputs and ready.outputs_in != current.incarnation:",
            "if self.intake.outputs and not ready.outputs_in:",
        ),
        race="outputs",
    ),
    edit(
        "a life that was begun and deleted begins twice",
        "pipeline.append:_living",
        ("base is None or (head is not None and head.incarnation == base.incarnation)", "base is None"),
        race="lives",
    ),
    edit(
        "an append goes into a grave",
        "pipeline.append:_living",
        ("if head is not None and not head.buried_at:", "if head is not None:"),
        race="lives",
    ),
    edit(
        "what was queued before a deletion begins a new life",
        "pipeline.append:_Batch._refuse_what_was_deleted",
        ("if deleted and sent and", "if False and deleted and sent and"),
        race="queued",
    ),
    edit(
        "a delete has no marker",
        "pipeline.session:delete",
        ("_mark(services, ref(found.value))", "pass"),
        race="graves",
    ),
    edit(
        "a delete buries whatever lives there",
        "pipeline.session:_bury",
        (
            "if head is None or head.buried_at or head.incarnation != incarnation:",
            "if head is None or head.buried_at:",
        ),
        race="deletes",
    ),
    edit(
        "a gravestone is removed at once",
        "pipeline.session:_erase",
        (
            "erase_life(services, whose, Allowance(), done)",
            "erase_life(services, whose, Allowance(), done)\n"
            "        services.objects.delete(User(whose.account_id, whose.user_id).head(whose.session_id))",
        ),
        race="graves",
    ),
    edit(
        "a deletion is swept once only",
        "pipeline.sweep:_bury",
        (
            "services.due.move(due, replace(due, at=_next_look(services, due, grave, now), rounds=due.rounds + 1))",
            "services.due.remove(due)",
        ),
        race="graves",
    ),
    edit(
        "the erase worker does not look whether the session lives",
        "pipeline.erase:_session",
        (
            "if found and found.value.incarnation == whose.incarnation and not found.value.buried_at:",
            "if False:",
        ),
        race="graves",
    ),
    edit(
        "an extraction goes on for a deleted session",
        "pipeline.extract:living_head",
        ("found.value.buried_at or found.value.incarnation != request.session.incarnation", "False"),
        race="endings",
    ),
    edit(
        "an archive of one life ends in its successor",
        "pipeline.outcome:_change",
        ("head.incarnation != request.session.incarnation", "False"),
        race="endings",
    ),
    edit(
        "an archive is completed twice",
        "domain.session:settle",
        (
            "if settled is None:\n        return head\n",
            "",
        ),
        race="files",
    ),
    edit(
        "a model is asked whatever there is",
        "pipeline.extract:run_extract",
        (
            "candidates, head = read_candidates(services, life, request.archive), None\n",
            "candidates = head = None\n",
        ),
        race="files",
    ),
    edit(
        "a file forgets which extractions it has absorbed",
        "domain.merging:absorb",
        ("applied=tuple(sorted((*known.applied, addition.extraction)))", "applied=known.applied"),
    ),
    edit(
        "an index that lost its race is written from files read before",
        "pipeline.catalogue:reindex",
        (
            'base, files = services.indexes.read(owner.index("memories")), {}',
            'base = services.indexes.read(owner.index("memories"))',
        ),
        race="owners",
    ),
    edit(
        "a merge ends before the index",
        "pipeline.merge:_write_all",
        ("reindex(services, owner, known, base=base, known=known)", "pass"),
        race="files",
    ),
    edit(
        "a diff is told from the files only when they were written now",
        "pipeline.absorbing:absorb_all",
        ("shown = without(shown, addition)", "pass"),
        race="files",
    ),
    edit(
        "a message is deleted from its queue before its work",
        "tests.sim.workers:_deliver",
        (
            "    try:\n        failures",
            "    for letter in batch:\n        with suppress(StoreError):\n            port.delete(letter)\n"
            "    try:\n        failures",
        ),
        ("if letter not in failures:", "if False:"),
        race="ingests",
    ),
    edit(
        "what a memory has absorbed is absorbed again",
        "domain.merging:absorb",
        ("if memory is not None and addition.extraction in memory.applied:", "if False:"),
        race="owners",
    ),
    edit(
        "a deleted memory leaves nothing",
        "domain.memory:after",
        ("applied=grave.applied, ", ""),
        race="owners",
    ),
    edit(
        "an owner's edit has no marker",
        "pipeline.memory:_notice",
        ("services.due.put(mark)", "pass"),
        race="owners",
    ),
    edit(
        "a merge has no marker for its index",
        "pipeline.marking:behind_the_files",
        ("services.due.put(mark)", "pass"),
        race="delete",
    ),
    edit(
        "a session with a policy has no due marker",
        "pipeline.append:_put_marker",
        ("services.due.put(marker)", "pass"),
        race="silent",
    ),
    edits(
        "the due marker comes after the head",
        (
            "pipeline.append:_put_marker",
            "services.due.put(marker)",
            "services.__dict__.setdefault('late', []).append(marker)",
        ),
        (
            "pipeline.append:run_append",
            "list_winner(services, ready.base, done.head)",
            "with answered():\n"
            "                for each in services.__dict__.pop('late', []):\n"
            "                    services.due.put(each)\n"
            "            list_winner(services, ready.base, done.head)",
        ),
        race="silent",
    ),
    edit(
        "a marker of one life is taken for that of its successor",
        "pipeline.append:_Batch._marked",
        ("if marker is None or marker.session.incarnation != head.incarnation:", "if marker is None:"),
        race="silent",
    ),
    edit(
        "a head that is empty still names its marker",
        "domain.auto_commit:unmarked",
        ("else replace(head, mark=None)", "else head"),
        race="emptied",
    ),
    edit(
        "the sweep forgets the marker of a session that has messages again",
        "domain.auto_commit:unmarked",
        ("None if next_look(head, now, triggers) else replace", "replace"),
        race="emptied",
    ),
    edit(
        "who holds the lease need not decide again",
        "pipeline.auto_commit:_planned",
        (
            "plan_commit(services, head, wanted.keep_recent_count) if wanted else Skip(NOT_DUE)",
            "plan_commit(services, head, wanted.keep_recent_count if wanted else 0)",
        ),
        race="bursts",
    ),
    edit(
        "a lease lasts until the table has deleted it",
        "storage.lease:Leases.take",
        ('{"until": Below(int(now.timestamp() * 1000) + 1)}', '{"until": None}'),
        race="bursts",
    ),
    edit(
        "a commit that was asked for has no marker",
        "pipeline.trigger:_ask",
        ('services.due.put(Due(services.due_at(), "commit", whose, task_id=task_id))', "pass"),
        race="bursts",
    ),
    edit(
        "the sweep does not ask for silent sessions",
        "pipeline.idle:look_at_session",
        ("asked = ask(services, due.session)", "asked = None"),
        race="silent",
    ),
    edit(
        "an automatic commit is not written down",
        "pipeline.commit:_change",
        ("archived = auto_commit.committed(archived, now)", "pass"),
        race="bursts",
    ),
    edit(
        "a failure outlives the next success",
        "domain.auto_commit:committed",
        ("auto_commit_last_error=None,", ""),
        race="bursts",
    ),
    edit(
        "a task is opened again by a write that lands late",
        "storage.records:Tasks.start",
        ('when={"ended_at": ended_at},', ""),
        race="files",
    ),
    edit(
        "an event is told of whenever somebody says so",
        "storage.journal:_added",
        ("known = tail.find(digest)", "known = None"),
    ),
    edit(
        "an event has no marker",
        "pipeline.announce:announce",
        ("services.due.put(mark)", "pass"),
    ),
    edit(
        "the journal's full document is emptied before it is stored",
        "storage.journal:_added",
        ("if spilled != tail.first:\n            raise _Full(tail)\n", "pass\n"),
    ),
)

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
"""Conditional calls of what the simulation does not do (accounts, keys, erasures of users, kept answers, learning,
scrubs), and where it is tried."""

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
        "pipeline.learning:_note, SessionRef if it is the same: unconditional",
        "pipeline.learning:_note_once, Library if it is the same: unconditional",
        "pipeline.learning:running, Library if it is the same: unconditional",
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
    }
)
"""Mutants that no run has shown yet: either the clients do too little, or too little is checked."""


def mutants() -> dict[str, Mutant]:
    """All of them by name."""
    return {mutant.name: mutant for mutant in (*BY_HAND, *without_condition())}
