"""All that a batch adds to one memory file, absorbed in one go, and what each extraction did by it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from strandline.domain.expiry import renewed
from strandline.domain.memory import Memory, living, revived
from strandline.domain.merging import Addition, Ends, absorb, skipped, without
from strandline.pipeline.diff import Effect
from strandline.storage.document import Change
from strandline.storage.revisions import written

Absorbed = tuple[Memory | None, dict[str, Effect]]


def absorb_all(
    memory: Memory | None,
    *,
    additions: Sequence[Addition],
    ends: Ends,
    ttls: Mapping[str, int | None],
    now: str,
) -> Change[Memory, Absorbed]:
    """Everything absorbed in one go. A file that gains nothing stays as it is, an expired one too."""
    start = current = revived(memory, now)
    effects: dict[str, Effect] = {}
    for addition in sorted(additions, key=Addition.rank):
        before, current = current, absorb(current, addition, ends)
        shown, after = living(before), living(current)
        again = before is current and shown is not None and addition.extraction in shown.applied
        if again and shown is not None:
            shown = without(shown, addition)
        effects[addition.extraction] = Effect(shown, after, again=again)
    _tell_skipped(living(current), additions, effects)
    if current is start:
        return Change(None, (memory, effects))
    current = renewed(memory, current, ttls, now)
    return Change(current, (current, effects), written("merge", memory))


def _tell_skipped(there: Memory | None, additions: Iterable[Addition], effects: dict[str, Effect]) -> None:
    """What all of them say together decides which patches find no place."""
    for addition in additions:
        if there is not None and addition.patches:
            effect = effects[addition.extraction]
            effects[addition.extraction] = replace(effect, skipped=skipped(there, addition))
