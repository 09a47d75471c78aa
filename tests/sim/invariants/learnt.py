"""What lessons have come to: cases, trajectories and experiences, and how often each came out how."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce

from strandline.domain.candidates import Candidates
from strandline.domain.learning.standing import is_aside
from strandline.domain.memory import Memory
from strandline.domain.memory_types.outcomes import OUTCOMES
from strandline.domain.merging import Addition, absorb
from strandline.domain.message import read_line
from strandline.domain.transcribing import text_of
from strandline.storage.layout import User
from tests.sim.history import History, RolledBack
from tests.sim.invariants.lessons import ids
from tests.sim.invariants.memories import changed, taken_back
from tests.sim.invariants.raw import Raw, Session

FOLDERS = ("cases/", "trajectories/", "experiences/")
Spot = tuple[User, str]


def _additions(raw: Raw, history: History) -> Mapping[Spot, Sequence[Addition]]:
    """All that is known to have been taken in by cases, trajectories and experiences, oldest first."""
    found: dict[Spot, list[Addition]] = {}
    for session in raw.sessions if any(session.learned for session in raw.sessions) else ():
        if session.owner in taken_back(history):
            continue
        texts = {m.seq: text_of(read_line(m.line)) for m in session.archived} if session.learned else {}
        for number, candidates in session.candidates.items():
            founded = candidates.founded(texts) if number in session.learned else candidates
            learned = session.learned.get(number)
            for addition in (*founded.additions(), *(learned.additions() if learned else ())):
                found.setdefault((session.owner, addition.path), []).append(addition)
    return {
        spot: sorted(each, key=Addition.rank) for spot, each in found.items() if spot[1].startswith(FOLDERS)
    }


def each_lesson_is_taken_in_once(raw: Raw, history: History) -> Iterator[str]:
    """Every case, trajectory and experience names each lesson that it is of once; one that is gone is not begun by
    having been read."""
    for spot, additions in _additions(raw, history).items():
        memory = raw.learnt.get(spot)
        for addition in additions:
            times = memory.applied.count(addition.extraction) if memory else 0
            gone = spot in changed(history) or (memory is None and is_aside(addition.values))
            if times != 1 and not gone:
                yield f"{spot} has taken in {addition.extraction} {times} times"


def runs_are_counted_once(raw: Raw, history: History) -> Iterator[str]:
    """A case, and an experience, counts as many runs by their end as there are trajectories of it."""
    of_living = {(s.owner, each) for s in raw.sessions for n in s.learned for each in ids(s, n)}
    ends: dict[Spot, Counter[str]] = {}
    for (owner, path), memory in raw.learnt.items():
        if path.startswith("trajectories/"):
            values = {value.field: value.value for value in memory.values}
            for link in memory.links:
                if link.type in ("belongs_to", "derived_from"):
                    ends.setdefault((owner, link.path), Counter())[str(values["outcome"])] += 1
    for spot, memory in raw.learnt.items():
        whole = all((spot[0], each) in of_living for each in memory.applied)
        if whole and spot not in changed(history) and not spot[1].startswith("trajectories/"):
            counted = {v.field: v.value for v in memory.values if v.field in OUTCOMES and v.value}
            if counted != dict(ends.get(spot, Counter())):
                yield f"{spot} counts {counted}, there are {dict(ends.get(spot, Counter()))}"


def links_stand_on_both_sides(raw: Raw, _: History) -> Iterator[str]:
    """Every link between experience, trajectory and case leads somewhere, and stands there the other way round."""
    for (owner, path), memory in raw.learnt.items():
        for link in memory.links:
            other = raw.learnt.get((owner, link.path))
            if other is None or link.other_end(path) not in other.links:
                yield f"{owner}: {path} has {link}, {'nothing is there' if other is None else other.links}"
        if path.startswith("trajectories/"):
            ends = {link.path.partition("/")[0] for link in memory.links if link.type != "used"}
            if ends != {"cases", "experiences"}:
                yield f"{owner}: {path} leads to {ends} alone"


def what_is_learnt_follows_from_the_runs(raw: Raw, history: History) -> Iterator[str]:
    """A case, trajectory or experience is, to the byte, what it would be had everything been learnt undisturbed, in the
    order in which it was said."""
    for spot, additions in _additions(raw, history).items():
        memory = raw.learnt.get(spot)
        whole = memory is not None and {*memory.applied} == {each.extraction for each in additions}
        right = reduce(absorb, additions, None) if whole else None  # type: ignore[arg-type]
        if memory and right and spot not in changed(history) and _shown(right) != _shown(memory):
            yield f"{spot} is {_shown(memory)}, its runs give {_shown(right)}"


def _shown(memory: Memory) -> tuple[object, ...]:
    return memory.title, memory.body, memory.values, memory.links, memory.created_at, memory.updated_at


def what_was_taken_back_stays_away(raw: Raw, history: History) -> Iterator[str]:
    """Of the archives that were taken back no line is in any memory."""
    for back in history.of(RolledBack):
        session = raw.by_life.get(back.incarnation)
        for number in back.archives or () if session else ():
            for addition in _stored(session, number):
                file = raw.files.get((session.owner, addition.path))
                there = set(map(str, addition.lines)) & set(file.lines if file else ())
                if there and (session.owner, addition.path) not in changed(history):
                    yield f"{session}: archive {number} was taken back, and {addition.path} holds {sorted(there)}"


def nothing_is_learnt_of_nothing(raw: Raw, _: History) -> Iterator[str]:
    """Whatever a case, trajectory or experience has taken in of a session that is there, that session has said."""
    known = {(s.owner, each) for s in raw.sessions for n in s.ranges for each in ids(s, n)}
    said: dict[Spot, set[str]] = {}
    for session in raw.sessions if raw.learnt else ():
        for number in session.ranges:
            for addition in _stored(session, number):
                said.setdefault((session.owner, addition.path), set()).add(addition.extraction)
    for spot, memory in raw.learnt.items():
        more = {each for each in memory.applied if (spot[0], each) in known} - said.get(spot, set())
        if more:
            yield f"{spot} has taken in {sorted(more)}, which no session has said"


def _stored(session: Session, number: int) -> Iterator[Addition]:
    """What an archive says and teaches, whatever has become of it."""
    for name in ("candidates.json", "learned.json"):
        row = session.file(number, name)
        if row is not None:
            yield from Candidates.model_validate(row).additions()


INVARIANTS = (
    nothing_is_learnt_of_nothing,
    each_lesson_is_taken_in_once,
    runs_are_counted_once,
    links_stand_on_both_sides,
    what_is_learnt_follows_from_the_runs,
    what_was_taken_back_stays_away,
)
