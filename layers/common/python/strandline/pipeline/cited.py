"""What the archives that a memory cites said of it: what is left of it when one of them is taken back."""

from collections.abc import Collection, Sequence

from strandline.domain.memory import Memory
from strandline.domain.merging import Addition
from strandline.domain.session import Head
from strandline.pipeline.extract import candidates_anew, first_candidates
from strandline.pipeline.learn import read_learned
from strandline.pipeline.library import Library
from strandline.storage.layout import Life, Rebuild, User
from strandline.storage.log import ref

AT_ONCE = 50
"""Archives that are read for it in one request."""


class Cited:
    """The archives that were read so far."""

    def __init__(self, services: Library, owner: User) -> None:
        self._services = services
        self._owner = owner
        self._known: dict[tuple[str, int], Sequence[Addition]] = {}

    def others(self, memory: Memory, path: str, but: Collection[str]) -> list[Addition]:
        """What the memory at that path has absorbed of the archives that its lines cite, but for these extractions."""
        cited = sorted({(line.source.session_id, line.source.archive) for line in memory.lines})
        wanted = set(memory.applied).difference(but)
        return [
            addition
            for place in cited
            for addition in self._additions(*place)
            if addition.path == path and addition.extraction in wanted
        ]

    def _additions(self, session_id: str, number: int) -> Sequence[Addition]:
        place = session_id, number
        if place not in self._known and len(self._known) < AT_ONCE:
            found = self._services.heads.read(self._owner.head(session_id))
            living = found is not None and not found.value.buried_at
            self._known[place] = (
                said(self._services, self._owner, found.value, number) if found and living else ()
            )
        return self._known.get(place, ())


def said(services: Library, owner: User, head: Head, number: int) -> Sequence[Addition]:
    """What the archive's extraction said, as far as there is one, and what it said when it was promoted last."""
    pointer = services.rebuilds.read(owner.promoted)
    life = Life(ref(head))
    found = [first_candidates(services, ref(head), number), read_learned(services, life, number)]
    if pointer is not None:
        found.append(candidates_anew(services, Rebuild(owner, pointer.value.identity), ref(head), number))
    return [addition for candidates in found if candidates for addition in candidates.additions()]
