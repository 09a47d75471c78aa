"""settling: where several sessions meet on one memory file in a batch, a language model says which lines no longer
hold.

in             the file as it is, and the additions of the batch that it has not absorbed
out            a settlement, or None where nobody is asked: no model, or one session alone
commit point   create-once PUT of the settlement (`settled.<hash>.json`) under the first of the archives that meet
on duplicate   the same archives on the same file: the settlement is there, nobody is asked again, the file comes out
the
               same
on crash       after the answer and before its PUT the question is asked again. What failed is kept, too: the file is
               merged by the rules alone, and the diff says why
"""

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta

from pydantic import ValidationError

from strandline.domain.contracts import MergeRequested
from strandline.domain.errors import ExtractionFailed
from strandline.domain.memory import Memory, living
from strandline.domain.merging import Addition
from strandline.domain.settlement import Settlement, meeting
from strandline.pipeline.library import Library
from strandline.ports import Settler
from strandline.storage.layout import Life, user_of
from strandline.storage.once import fetch, write_once

Met = Sequence[tuple[MergeRequested, Addition]]


def settle(services: Library, path: str, met: Met, began: datetime) -> Settlement | None:
    """What is said of these additions to one file. `began` is when the batch's merge did. Raises Unavailable."""
    if services.settler is None or not _several(met):
        return None
    found = services.memories.read(user_of(met[0][0].session).memory(path))
    memory = living(found.value if found else None)
    applied = found.value.applied if found else ()
    fresh = [(request, addition) for request, addition in met if addition.extraction not in applied]
    if not _several(fresh):
        return None
    key = _key(path, fresh)
    return _kept(services, key) or _asked(services, key, _Question(services.settler, memory, fresh, began))


class _Question:
    """What there is to be asked, and of whom."""

    def __init__(self, settler: Settler, memory: Memory | None, met: Met, began: datetime) -> None:
        self.settler = settler
        self._memory = memory
        self._met = met
        self._began = began

    def in_time(self, now: datetime, seconds: float) -> bool:
        return now - self._began <= timedelta(seconds=seconds)

    def ask(self) -> Settlement:
        lines = {line for _, addition in self._met for line in addition.lines}
        about = meeting(self._met[0][1].title, [*lines, *(self._memory.lines if self._memory else ())])
        try:
            return self.settler.settle(about)
        except ExtractionFailed as error:
            return Settlement(model=self.settler.name, reason=str(error), usage=error.usage)


def _several(met: Met) -> bool:
    """Whether more than one session adds lines."""
    return len({request.session for request, addition in met if addition.lines}) > 1


def _key(path: str, met: Met) -> str:
    """The same for the same archives on the same file, in whatever order they came."""
    first = min(met, key=lambda each: each[1].extraction)[0]
    names = "\n".join([path, *sorted(addition.extraction for _, addition in met)])
    return Life(first.session).settlement(first.archive, hashlib.sha256(names.encode()).hexdigest()[:16])


def _kept(services: Library, key: str) -> Settlement | None:
    body = fetch(services.objects, key)
    try:
        return None if body is None else Settlement.model_validate_json(body)
    except ValidationError:
        return None  # of another version: asked again, as if it were not there


def _asked(services: Library, key: str, question: _Question) -> Settlement:
    if not question.in_time(services.clock.now(), services.rules.settle_seconds):
        return Settlement(model=question.settler.name, reason="there was no time left to ask")
    settlement = question.ask()
    if write_once(services.objects, key, settlement.model_dump_json(indent=1).encode()):
        return settlement
    return _kept(services, key) or settlement
