"""Deliberate mistakes, each of which the simulation must find: what the product's care is good for.

Two kinds. Generated: every call of `storage` and `pipeline` that passes a condition (`when=`), for each kind of thing
that it writes, without the condition. Written by hand: a check that is skipped, an order that is turned round.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial

from tests.sim import cases
from tests.sim.mutants_code import conditions, edited
from tests.sim.scenarios import FIXED

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
        yield Mutant(f"{place}, {what}: unconditional", partial(conditions, _all_but(place, what)))


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


BY_HAND: tuple[Mutant, ...] = (
    edit(
        "a lost answer is not looked for by its write id",
        "storage.document:_Update._landed",
        ("base.stamp.made_by(self._write_id) if base and self._tried else None", "None"),
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
        "storage.records:DueMarkers.move",
        ("self.put(later)\n    self.remove(due)", "self.remove(due)\n    self.put(later)"),
        race="sweeps",
    ),
    edit(
        "the sweep removes the marker of what it has only sent again",
        "pipeline.sweep:_heal",
        (
            "services.due.move(due, replace(due, at=services.due_at(), rounds=due.rounds + 1))",
            "services.due.remove(due)",
        ),
        race="sweeps",
    ),
    edit(
        "the sweep does not make task and list agree",
        "pipeline.sweep:_heal",
        ("_agree(services, due, head)", "pass"),
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
        "every life of a session is the same",
        "pipeline.append:new_head",
        ("incarnation=services.ids.new()", "incarnation=session_id"),
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
        race="graves",
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
        race="lives",
    ),
    edit(
        "an archive of one life ends in its successor",
        "pipeline.outcome:_change",
        ("head.incarnation != request.session.incarnation", "False"),
        race="reborn",
    ),
    edit(
        "an archive is completed twice",
        "domain.session:settle",
        (
            "settled = find_archive(open_ones, number)\n    if settled is None:\n        return head",
            "settled = find_archive(open_ones, number)",
        ),
        race="files",
    ),
    edit(
        "a model is asked whatever there is",
        "pipeline.extract:run_extract",
        (
            "candidates = read_candidates(services, life, request.archive)\n    if candidates is None:",
            "candidates = None\n    if candidates is None:",
        ),
        race="files",
    ),
    edit(
        "a file forgets which extractions it has absorbed",
        "domain.memory:absorb",
        ("applied=tuple(sorted((*known.applied, addition.extraction)))", "applied=known.applied"),
    ),
    edit(
        "an index that lost its race is written from files read before",
        "pipeline.catalogue:reindex",
        (
            'base, files = services.indexes.read(owner.index("memories")), {}',
            'base = services.indexes.read(owner.index("memories"))',
        ),
        race="files",
    ),
    edit(
        "a merge ends before the index",
        "pipeline.merge:_write_all",
        ("reindex(services, owner, known, base=base, known=known)", "pass"),
        race="files",
    ),
    edit(
        "a diff is told from the files only when they were written now",
        "pipeline.merge:_absorb_all",
        ("shown = without(shown, addition)", "pass"),
        race="files",
    ),
    edit(
        "a message is deleted from its queue before its work",
        "tests.sim.workers:_deliver",
        (
            "    try:\n        failures",
            "    for delivery in batch:\n        with suppress(StoreError):\n            port.done(delivery)\n"
            "    try:\n        failures",
        ),
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

ELSEWHERE: dict[str, str] = {}
"""Conditional calls that no run of the simulation comes to, and which test holds them."""

EQUIVALENT: dict[str, str] = {}
"""Mutants that change nothing that anybody is promised, and why."""


def mutants() -> dict[str, Mutant]:
    """All of them by name."""
    return {mutant.name: mutant for mutant in (*BY_HAND, *without_condition())}
