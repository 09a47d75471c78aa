"""usage: a session says which memories it made use of; they are counted. Which experiences it was given is noted.

in             a session, memory paths, perhaps a skill
out            which of them are memories, and how often each was used
commit point   CAS PUT of the session's `used.json`; the user's `used.json` follows it
on duplicate   a report without a message since the last one, or with a key that is known, counts nothing twice
on crash       before the PUT nothing has happened. After it, the same report again, or the session's next one, brings
               the totals in step: they take uses in by number, so nothing is added twice
cost           GETs of the session's head and its usage, conditional ones of the index and the totals, two PUTs. Nothing
               is written to a memory: its version and ETag stay. What a session is given: conditional GETs of its head
               and context, and a PUT where that is new
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from strandline.domain import usage
from strandline.domain.address import is_experience, visible
from strandline.domain.compaction.state import ContextState, handed_out
from strandline.domain.errors import InvalidArgument, NotFound
from strandline.domain.session import Head
from strandline.domain.times import stamp
from strandline.domain.usage import UNUSED, Reported, SessionUsage, Tally, Totals
from strandline.pipeline import memory
from strandline.pipeline.commit import load_head
from strandline.pipeline.library import Library
from strandline.storage.document import Change
from strandline.storage.layout import Life, User
from strandline.storage.log import ref


@dataclass(frozen=True)
class UsageReport:
    """Memory paths that a session of this owner used, one of them perhaps a skill. `repeat_key` is what the request is
    known by when it comes again."""

    owner: User
    session_id: str
    paths: Sequence[str]
    skill: str | None = None
    succeeded: bool | None = None
    acting_peer: str | None = None
    repeat_key: str = ""


@dataclass(frozen=True)
class Counted:
    """How often each memory of the report was used in all; paths that are no memories are left out."""

    totals: Mapping[str, Tally]


def run_usage(services: Library, report: UsageReport) -> Counted:
    """Counts what is there. Raises NotFound for a session that is not, Aborted, Unavailable: repeating is safe."""
    head = load_head(services, report.owner, report.session_id)
    known = _known(services, report)
    if not known:
        return Counted({})
    said = Reported(
        at=stamp(services.clock.now()),
        seq=head.last_seq,
        memories=tuple(known),
        key=report.repeat_key,
        skill=report.skill if report.skill in known else None,
        succeeded=report.succeeded,
    )
    totals = _record(services, report.owner, head, said)
    return Counted({path: totals.tallies.get(path, UNUSED) for path in known})


def _record(services: Library, owner: User, head: Head, said: Reported) -> Totals:
    life = usage.life_of(head.incarnation)
    taken = read_totals(services, owner).taken.get(life, 0)
    report = partial(_reported, said=said, taken=taken)
    used = services.session_usage.update(Life(ref(head)).usage, report)
    return services.totals.update(owner.usage, partial(_taken, life=life, used=used))


def note_handed_out(services: Library, owner: User, session_id: str, paths: Sequence[str]) -> None:
    """Notes for a session that the text of these memories is about to be given to it, where experiences are among them:
    beside the decisions of its context, once for where it stands. Nothing of a session that is not there. Raises
    Aborted, Unavailable: repeating is safe."""
    experiences = [path for path in paths if is_experience(path)]
    found = services.heads.read_warm(owner.head(session_id)) if experiences else None
    if found is None or found.value.buried_at:
        return
    change = partial(_handed_out, head=found.value, paths=experiences)
    services.contexts.update(Life(ref(found.value)).context, change)


def _handed_out(
    current: ContextState | None, *, head: Head, paths: Sequence[str]
) -> Change[ContextState, None]:
    before = current or ContextState(head.incarnation)
    after = handed_out(before, paths, head.last_seq)
    return Change(None if after is before else after, None)


def _known(services: Library, report: UsageReport) -> list[str]:
    """Which of the paths are memories. The catalogue knows most; what it does not know may be newer than it."""
    rows = memory.list_memories(services, report.owner, "")
    wanted = [path for path in dict.fromkeys(report.paths) if visible(path, report.acting_peer)]
    return [path for path in wanted if path in rows or _is_there(services, report.owner, path)]


def _is_there(services: Library, owner: User, path: str) -> bool:
    try:
        return memory.read(services, owner, path) is not None
    except (NotFound, InvalidArgument):
        return False


def _reported(
    current: SessionUsage | None, *, said: Reported, taken: int
) -> Change[SessionUsage, SessionUsage]:
    before = current or SessionUsage()
    after = usage.report(before, said, taken=taken)
    return Change(None if after is before else after, after)


def _taken(current: Totals | None, *, life: str, used: SessionUsage) -> Change[Totals, Totals]:
    before = current or Totals()
    after = usage.take(before, life, used)
    return Change(None if after is before else after, after)


def read_totals(services: Library, owner: User) -> Totals:
    """How often each memory of the user was used. A conditional GET when warm."""
    found = services.totals.read_warm(owner.usage)
    return found.value if found else Totals()
