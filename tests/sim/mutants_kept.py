"""Mistakes written by hand: in what follows a commit, in the sweep, and in what is told of."""

from tests.sim.mutants_code import Mutant, edit

BY_HAND: tuple[Mutant, ...] = (
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
        "a deletion is swept once only",
        "pipeline.sweep:_bury",
        (
            "services.due.move(due, replace(due, at=_next_look(services, due, grave, now), rounds=due.rounds + 1))",
            "services.due.remove(due)",
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
        "a model is asked whatever there is",
        "pipeline.extract:run_extract",
        (
            "candidates, found = read_candidates(services, life, request.archive), None\n",
            "candidates = found = None\n",
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
        "a task is opened again by a write that lands late",
        "storage.records:Tasks.start",
        ('when={"ended_at": ended_at, "result": None},', ""),
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
