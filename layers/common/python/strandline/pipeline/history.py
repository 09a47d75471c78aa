"""history: every version of a memory that the bucket keeps, newest first.

One listing of its versions, and one GET for each that is shown and the one before it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from strandline.domain.memory import Line, Memory, read_lines
from strandline.pipeline.library import Library
from strandline.pipeline.memory import checked, no_memory
from strandline.storage.layout import User
from strandline.storage.revisions import Revision


@dataclass(frozen=True)
class Step:
    """A version and what it changed. `before` is the version that it replaced, None for none or for one that is not
    kept any more; then `known` is False, unless there was nothing before."""

    revision: Revision
    before: Revision | None
    current: bool

    @property
    def known(self) -> bool:
        return self.before is not None or self.revision.is_first

    @property
    def change(self) -> str:
        """`created`, `updated` or `deleted`."""
        if self.revision.living is None:
            return "deleted"
        begun = self.revision.living.is_new or (self.before is not None and self.before.living is None)
        return "created" if begun or self.revision.is_first else "updated"

    @property
    def added(self) -> Sequence[Line]:
        """The sourced lines that came with this version, in their order."""
        return _beyond(self.revision.living, self.before.living if self.before else None)

    @property
    def removed(self) -> Sequence[Line]:
        """The sourced lines that went with it."""
        return _beyond(self.before.living if self.before else None, self.revision.living)

    @property
    def ended(self) -> Sequence[Line]:
        """The lines with a source that ceased to hold with it, in their order."""
        before = self.before.living if self.before else None
        held = {line for line in before.lines if line.closing is None} if before else set()
        now = self.revision.living.lines if self.revision.living else []
        return [line for line in now if line.closing and line in held]

    @property
    def own_text_changed(self) -> bool:
        """Whether text without a source is another one."""
        return _own(self.revision.living) != _own(self.before.living if self.before else None)


@dataclass(frozen=True)
class History:
    """A page of versions; `next` is where to go on after. `not_kept` is the number of the newest version that the
    bucket has no more, on the last page when there is one."""

    steps: Sequence[Step]
    next: str | None
    not_kept: int | None


def read_history(services: Library, owner: User, path: str, *, after: str | None, limit: int) -> History:
    """The versions behind the one with the id `after`. Raises NotFound when there has never been such a memory, or all
    of its versions are gone."""
    key = owner.memory(checked(path))
    versions = services.revisions.listed(key)
    if not versions:
        raise no_memory(path)
    ids = [version.version_id for version in versions]
    start = ids.index(after) + 1 if after in ids else 0 if after is None else len(ids)
    read = [services.revisions.read(key, version) for version in versions[start : start + limit + 1]]
    kept = [revision for revision in read if revision]
    steps = [
        Step(revision, before, current=revision.version_id == ids[0])
        for revision, before in zip(kept[:limit], [*kept[1:], None], strict=False)
    ]
    more = start + limit < len(versions)
    oldest = None if more or not kept else kept[-1]
    lost = oldest.over if oldest and not oldest.is_first else None
    return History(steps, ids[start + limit - 1] if more else None, lost)


def _beyond(here: Memory | None, there: Memory | None) -> Sequence[Line]:
    known = set(there.lines) if there else set()
    return [line for line in here.lines if line not in known] if here else []


def _own(memory: Memory | None) -> Sequence[str]:
    return [text for text in read_lines(memory.body)[1] if text.strip()] if memory else []
