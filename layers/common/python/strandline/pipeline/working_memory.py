"""working_memory: the document that stands for a session's messages, brought up to date version by version.

in             ExtractRequested, once its candidates are stored; or SummariseRequested
out            `overview.md` of the archive, and of those before it that have none yet; versions made ahead,
               `working/<through>.md`
commit point   create-once PUT of each version: one update, made from the newest version before it and the messages
               since, of which it reads a bounded part
on duplicate   the version is there: nobody is asked. Of two workers the first to write is right, and the other goes on
               from what it finds
on crash       between an update and its PUT it is made again; those before it are there

What an update costs does not depend on how long the session is: its input is a document, which is bounded, and a range
of messages, which is too. An update that fails fails the attempt; the versions before it stay as they are.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from strandline.domain.contracts import ExtractRequested, SessionRef, SummariseRequested
from strandline.domain.errors import AnswerCut, ExtractionFailed
from strandline.domain.extraction import Usage
from strandline.domain.memory_policy import MemoryPolicy
from strandline.domain.message import read_line
from strandline.domain.session import Head, cancelled
from strandline.domain.working_memory.document import Document, parse, render
from strandline.domain.working_memory.excerpts import excerpts, ranges
from strandline.domain.working_memory.thresholds import NEXT_TOKENS, Stored, safe_end
from strandline.domain.working_memory.update import Update
from strandline.pipeline.services import Services
from strandline.storage.answered import answered
from strandline.storage.layout import Life, head_key
from strandline.storage.log import ref
from strandline.storage.working_memories import OVERVIEW, Kept, WorkingMemories

HALF = 2
NOTHING: Mapping[int, Sequence[Stored]] = {}


@dataclass(frozen=True)
class _Version:
    """A document, and what it has cost since the archive before."""

    document: Document
    usage: Usage

    @property
    def through(self) -> int:
        return self.document.through


@dataclass(frozen=True)
class Found:
    """What an extraction has read, so that it is not read again: the session's head, and the archive's messages."""

    head: Head
    messages: Sequence[Stored]


class _LaterError(Exception):
    """There is no time left for another update in this delivery; those before it are stored."""


def run_working_memory(
    services: Services, request: ExtractRequested, found: Found | None, began: datetime
) -> bool:
    """Sees to it that the archive has its version; what of it has been `found` is not read again. False when
    the rest is to be done in another delivery: something has been stored in this one, so it ends.

    Raises ExtractionFailed when there is no valid document to be had, Unavailable when a store did not answer. A
    session that is not remembered by one has an empty one; one that was deleted, or an archive called off, none.
    """
    versions, key = (
        WorkingMemories(services.objects),
        Life(request.session).archive_file(request.archive, OVERVIEW),
    )
    if versions.read(key) is not None:
        return True
    head = found.head if found else _living(services, request.session)
    if head is None or cancelled(head, request.archive):
        return True
    if not keeps_working_memory(head):
        versions.write(key, Kept("", Usage()))
        return True
    try:
        keeper = _Keeper(services, head, began, {request.archive: found.messages} if found else {})
        keeper.make(*keeper.newest(request.archive - 1), request.archive)
    except _LaterError:
        return False
    return True


def run_summarise(services: Services, request: SummariseRequested) -> int | None:
    """Brings the working memory up to the message `through`, ahead of the archive that will end there or later. Answers
    the seq up to which there is one; None where there is nothing to do, or the session is gone.

    Raises what `run_working_memory` raises. What is archived meanwhile is left to the archive's own extraction.
    """
    began = services.clock.now()
    head = _living(services, request.session)
    if (
        head is None
        or not keeps_working_memory(head)
        or not head.live_from <= request.through <= head.last_seq
    ):
        _let_go(services, request)
        return None
    keeper = _Keeper(services, head, began)
    try:
        version = keeper.make(*keeper.newest(head.commit_count), head.commit_count)
        through = keeper.ahead(version, request.through)
    except _LaterError:
        with answered("the extract queue did not answer"):
            services.extract_queue.send(request)
        return None
    _let_go(services, request)
    return through


def ask_ahead(services: Services, whose: SessionRef, through: int) -> bool:
    """Asks for a working memory up to the message `through` (`thresholds.due` says which); False while another is being
    made. Raises StoreError: then it was perhaps not asked for."""
    token = services.ids.new()
    if not services.leases.take(whose, "summary", token):
        return False
    services.extract_queue.send(SummariseRequested(session=whose, through=through, lease=token))
    return True


def _let_go(services: Services, request: SummariseRequested) -> None:
    if request.lease:
        services.leases.let_go(request.session, "summary", request.lease)


def _living(services: Services, whose: SessionRef) -> Head | None:
    found = services.heads.read(head_key(whose))
    if found is None or found.value.buried_at or found.value.incarnation != whose.incarnation:
        return None
    return found.value


def keeps_working_memory(head: Head) -> bool:
    """Whether the session's policy wants one."""
    return MemoryPolicy.model_validate(head.memory_policy or {}).working_memory.enabled


class _Keeper:
    """Makes the versions of one session that are missing, the earliest first."""

    def __init__(
        self,
        services: Services,
        head: Head,
        began: datetime,
        known: Mapping[int, Sequence[Stored]] = NOTHING,
    ) -> None:
        """`known`: the messages of archives that have been read."""
        self._services = services
        self._known = known
        self._versions = WorkingMemories(services.objects)
        self._head = head
        self._life = Life(ref(head))
        self._began = began

    def newest(self, number: int) -> tuple[int, _Version]:
        """The newest archive up to this one that has a version, and the version; 0 and an empty one."""
        for each in range(number, 0, -1):
            kept = self._versions.read(self._life.archive_file(each, OVERVIEW))
            if kept is not None:
                document = parse(kept.text)
                return each, _Version(_through(document, document.through or self._last_of(each)), Usage())
        return 0, _Version(Document(), Usage())

    def make(self, done: int, version: _Version, number: int) -> _Version:
        """The version of archive `number`'s end, once it and all behind `done`, which has this version, are there."""
        for each, first, last in self._ranges(done + 1, number):
            messages = self._known.get(each) or self._archived(each, first, last)
            made = self._advance(version, messages, self._life.archive_file(each, OVERVIEW))
            version = _Version(_through(made.document, last), Usage())
        return version

    def _archived(self, number: int, first: int, last: int) -> Sequence[Stored]:
        """None where somebody has removed them: they are lost anyway."""
        lines = self._services.log.archived(ref(self._head), number, first, last)
        return [read_line(line) for line in lines or ()]

    def ahead(self, version: _Version, through: int) -> int:
        """Goes on from the version of the last archive, up to that live message or the last before it where no call is
        open. Answers the seq up to which there is a version now."""
        lines = self._services.log.live(self._head, max(version.through + 1, self._head.live_from), through)
        live = [read_line(line) for line in lines]
        end = safe_end(live)
        if end <= version.through:
            return version.through
        if self._versions.read(self._life.working_memory(end)) is not None:
            return end
        fresh = [message for message in live if message["seq"] <= end]
        return self._advance(version, fresh, self._life.working_memory(end)).through

    def _last_of(self, number: int) -> int:
        """The last message of an archive whose version does not say it: there is none, or it is of before."""
        return next(self._ranges(number, number))[2]

    def _ranges(self, start: int, number: int) -> Iterator[tuple[int, int, int]]:
        """(number, first, last) of these archives, in order."""
        known = {a.number: (a.first, a.last) for a in (*self._head.pending, *self._head.failed)}
        if not all(each in known for each in range(start, number + 1)):
            listed = self._services.log.archives(self._head, start)
            known |= {each: (first, last) for each, first, last in listed if each <= number}
        for each in range(start, number + 1):
            if each not in known:
                raise ExtractionFailed("the messages of an earlier archive are not in the bucket", final=True)
            yield each, *known[each]

    def _advance(self, version: _Version, messages: Sequence[Stored], key: str) -> _Version:
        """The version at `key`, of all these messages: made in as many updates as they need, from what is there."""
        version = self._from_ahead(version, messages)
        parts = ranges(_after(messages, version.through))
        if not parts:  # one made ahead ends just where the archive does
            return self._keep(key, version)
        return self._updates(version, parts, key)

    def _from_ahead(self, version: _Version, messages: Sequence[Stored]) -> _Version:
        """The newest version that was made ahead, or this one. There is none, so it is not looked for, where there is
        too little to read."""
        fresh = _after(messages, version.through)
        if sum(m["tokens"] for m in fresh) < NEXT_TOKENS and len(ranges(fresh)) < HALF:
            return version
        through = self._versions.newest(self._life, version.through, int(messages[-1]["seq"]))
        kept = self._versions.read(self._life.working_memory(through)) if through else None
        if through is None or kept is None:
            return version
        return _Version(_through(parse(kept.text), through), kept.usage)

    def _updates(self, version: _Version, parts: Sequence[Sequence[Stored]], key: str) -> _Version:
        for part in parts[:-1]:
            version = self._update(version, part, self._life.working_memory(int(part[-1]["seq"])))
        return self._update(version, parts[-1], key)

    def _update(self, version: _Version, part: Sequence[Stored], key: str) -> _Version:
        self._look_at_the_clock()
        try:
            summary = self._services.summariser.summarise(Update(version.document, part))
        except AnswerCut as cut:
            halves = ranges(part, sum(each.tokens for each in excerpts(part)) // HALF)
            if len(halves) < HALF:
                raise
            spent = replace(version, usage=version.usage.plus(cut.usage or Usage()))
            return self._updates(spent, halves, key)
        usage = version.usage.plus(summary.usage or Usage())
        return self._keep(key, _Version(summary.document, usage))

    def _keep(self, key: str, version: _Version) -> _Version:
        """Stores a version, and answers the one that is stored: another worker may have been first."""
        kept = self._versions.write(key, Kept(render(version.document), version.usage))
        return _Version(_through(parse(kept.text), version.through), kept.usage)

    def _look_at_the_clock(self) -> None:
        """Raises _LaterError when an update that begins now could end too late."""
        rules = self._services.rules
        needed = rules.part_seconds if self._services.ports.language_model else 0
        if (self._services.clock.now() - self._began).total_seconds() + needed > rules.extract_seconds:
            raise _LaterError


def _through(document: Document, seq: int) -> Document:
    return replace(document, through=seq)


def _after(messages: Sequence[Stored], seq: int) -> Sequence[Stored]:
    return [message for message in messages if message["seq"] > seq]
