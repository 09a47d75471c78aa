"""What a memory file was: the versions that the bucket keeps of it, and what was written down beside each.

The file itself says nothing of when it was written, so that the same conversations give the same bytes. That stands in
the object's metadata, with the version that it was written over and by whom:

    written-at    when, by the writer's clock, in milliseconds
    written-by    owner | tool | merge | rollback | rebuild | expiry | scrub
    written-over  the version that it replaced, 0 for none
    written-for   what for, percent-encoded, where there is more to say: `version 3`, `session trip`, `since 2026-…`

S3 knows when a version came to be in whole seconds. It orders the versions, and its time is the one that holds where
there is no other, or where the two are so far apart that the writer's cannot be true: its clock was wrong, or the
request landed long after it had been given up.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import quote, unquote

from strandline.domain.memory import Author, Memory, living
from strandline.domain.times import parse, stamp
from strandline.ports import ObjectStore, Place, Stored, Version
from strandline.storage import markdown
from strandline.storage.answered import answered
from strandline.storage.document import WRITTEN_AT, Meta

LATE = timedelta(seconds=10)
SECOND = timedelta(seconds=1)
SILENT = "the store did not answer; repeat the request"
_BY, _OVER, _FOR = "written-by", "written-over", "written-for"


def written(by: Author, over: Memory | None, why: str = "") -> Meta:
    """What to keep beside a version that replaces `over`."""
    said = {_BY: by, _OVER: str(over.version if over else 0)}
    return {**said, _FOR: quote(why)} if why else said


@dataclass(frozen=True)
class Revision:
    """One version of a memory file. `at` is when it was written; `over` the version that it replaced, 0 for none, None
    where nobody wrote that down. Without a memory it is a delete marker of the bucket's own."""

    version_id: str
    at: str
    memory: Memory | None
    by: str | None = None
    over: int | None = None
    why: str = ""

    @property
    def living(self) -> Memory | None:
        """What there was; None when that was nothing, or deleted."""
        return living(self.memory)

    @property
    def is_first(self) -> bool:
        """Whether there was nothing before it."""
        if self.over is None:
            return self.memory is not None and self.memory.version == 1
        return self.over == 0


class Revisions:
    """The versions of memory files, as the bucket keeps them."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    def listed(self, key: str) -> Sequence[Version]:
        """The versions of one file, newest first: one request for each thousand. Raises Unavailable."""
        with answered(SILENT):
            return self._store.versions(key)

    def below(self, prefix: str) -> Mapping[str, Sequence[Version]]:
        """The versions of every file, by key, newest first: one request for each thousand. Raises Unavailable."""
        found: dict[str, list[Version]] = defaultdict(list)
        after: Place | None = None
        while True:
            with answered(SILENT):
                page = self._store.versions_below(prefix, after=after)
            for version in page.versions:
                found[version.key].append(version)
            after = page.next
            if after is None:
                return {key: newest_first(versions) for key, versions in found.items()}

    def read(self, key: str, version: Version) -> Revision | None:
        """One version: one request. None when the bucket no longer has it. Raises Unavailable."""
        if version.deleted:
            return Revision(version.version_id, stamp(version.at), None)
        try:
            with answered(SILENT):
                return _revision(version, self._store.get_version(key, version.version_id))
        except KeyError:
            return None

    def at(self, key: str, versions: Iterable[Version], moment: datetime) -> Revision | None:
        """The newest of these versions (newest first) that was written by then; None when none was."""
        wanted = stamp(moment)
        for version in versions:
            found = self.read(key, version) if version.at - LATE <= moment else None
            if found and found.at <= wanted:
                return found
        return None


def newest_first(versions: Iterable[Version]) -> Sequence[Version]:
    """Versions of one key. S3 lists objects and delete markers newest first, but apart."""
    return sorted(versions, key=lambda version: (version.latest, version.at), reverse=True)


def settled(version: Version, moment: datetime) -> bool:
    """Whether it was certainly written by then, whatever stands beside it."""
    return version.at + SECOND <= moment


def _revision(version: Version, stored: Stored) -> Revision:
    meta = stored.meta
    over = meta.get(_OVER, "")
    return Revision(
        version.version_id,
        _written_at(version.at, meta.get(WRITTEN_AT)),
        markdown.parse(stored.body.decode("utf-8", "replace")),
        by=meta.get(_BY),
        over=int(over) if over.isascii() and over.isdigit() else None,
        why=unquote(meta.get(_FOR, "")),
    )


def _written_at(landed: datetime, said: str | None) -> str:
    """The writer's time where it can be true: in the second that S3 names, or shortly before."""
    try:
        at = parse(said) if said else landed
        true = landed - LATE <= at < landed + SECOND
    except (ValueError, TypeError):
        return stamp(landed)
    return stamp(at if true else landed)
