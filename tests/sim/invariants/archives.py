"""Archives and what the head says of them; counters; what models were asked."""

import re
from collections import Counter
from collections.abc import Iterator

from tests.sim.history import Committed, CommitUnclear, Compacted, History, ModelCall
from tests.sim.invariants.raw import Raw, Session

_IMMUTABLE = re.compile(
    r"v1/[^/]+/[^/]+/(sessions/[^/]+/[^/]+/(segments|archives|tool-results|working)/|journal/[^/]+/[^/]+\.jsonl$)"
)
_REVISION = re.compile(rb'"revision": ?(\d+)')


def archives_follow_each_other(raw: Raw, _: History) -> Iterator[str]:
    """Archives 1..commit_count are there, each begins where the one before it ended, and live begins after the last."""
    for session in raw.sessions:
        head, expected = session.head, 1
        if list(session.ranges) != list(range(1, head.commit_count + 1)):
            yield f"{session}: commit_count is {head.commit_count}, its archives are {session.ranges}"
        for number, (first, last) in session.ranges.items():
            if first != expected or last < first:
                yield f"{session}: archive {number} is {first}-{last}, it should begin at {expected}"
            expected = last + 1
        if head.live_from != expected:
            yield f"{session}: live_from is {head.live_from}, its archives end before {expected}"


def copies_agree(raw: Raw, _: History) -> Iterator[str]:
    """Every archive and segment, referred to or left over, holds exactly the lines of the range in its name."""
    for session in raw.sessions:
        log = {m.seq: m.line for m in session.log}
        for key, (first, last, lines) in session.copies.items():
            whole = session.objects[key].endswith(b"\n")
            if not whole or lines != [log.get(seq) for seq in range(first, last + 1)]:
                yield f"{session}: {key} does not hold the messages {first}-{last}"


def left_over_objects_are_of_the_next_commit_at_most(raw: Raw, _: History) -> Iterator[str]:
    """What a lost or killed commit leaves is named for a commit that was then the next: it is written again, or stays
    bounded by the attempts."""
    for session in raw.sessions:
        for key in session.copies:
            part, number = key.split("/")[:2]
            if part == "archives" and int(number) > session.head.commit_count + 1:
                yield f"{session}: {key} belongs to no commit"


def answered_commits_are_there(raw: Raw, history: History) -> Iterator[str]:
    """A commit that was answered is that archive, and of its range; two answers may name the same one."""
    for done in history.of(Committed):
        session = raw.by_life.get(done.incarnation)
        if session and session.ranges.get(done.archive_number) != (done.first, done.last):
            told = f"archive {done.archive_number} is {done.first}-{done.last}"
            yield f"{session}: answered was that {told}, there is {session.ranges}"


def who_archives_is_told(raw: Raw, history: History) -> Iterator[str]:
    """Where every commit was asked for and got a clear answer at once, each archive is in one of the answers."""
    unclear = {(d.owner, d.session_id) for kind in (CommitUnclear, Compacted) for d in history.of(kind)}
    told = {(done.incarnation, done.archive_number) for done in history.of(Committed)}
    for session in raw.sessions:
        by_itself = session.head.auto_commit_policy is not None
        if not by_itself and (session.owner, session.head.session_id) not in unclear and told:
            silent = [n for n in session.ranges if (session.head.incarnation, n) not in told]
            if silent:
                yield f"{session}: nobody was told of the archives {silent}"


def counters_equal_a_recount(raw: Raw, _: History) -> Iterator[str]:
    """Whatever the head counts equals what is there to be counted."""
    for session in raw.sessions:
        for name, counted in _recount(session).items():
            said = getattr(session.head, name)
            if said != counted:
                yield f"{session}: {name} is {said}, a recount gives {counted}"


def _recount(session: Session) -> dict[str, object]:
    totals: Counter[str] = Counter()
    for number in session.done:
        record = session.file(number, "memory_diff.json") or {"operations": {}}
        changed = [op for how in ("adds", "updates") for op in record["operations"].get(how, ())]
        totals["total"] += len(changed)
        totals.update(op["memory_type"] for op in changed)
    return {
        "pending_tokens": sum(m.tokens for m in session.live),
        "tail_bytes": sum(map(len, session.head.tail)),
        "completed": len(session.done),
        "latest_done": max(session.done, default=0),
        "memories_extracted": dict(totals) if session.done else {},
    }


def segments_say_what_they_hold(raw: Raw, _: History) -> Iterator[str]:
    """A segment's tokens and bytes in the head are those of its lines."""
    for session in raw.sessions:
        known = {m.seq: m for m in session.log}
        for s in session.head.segments:
            held = [known[seq] for seq in range(s.first, s.last + 1) if seq in known]
            counted = (sum(m.tokens for m in held), sum(len(m.line) for m in held))
            if counted != (s.tokens, s.bytes):
                yield f"{session}: segment {s.first}-{s.last} holds (tokens, bytes) {counted}, the head says {s}"


def no_write_is_lost(raw: Raw, _: History) -> Iterator[str]:
    """Each version of a compare-and-set document was written over the one before it: revisions count up."""
    for key, bodies in raw.versions.items():
        if not key.endswith(("/head.json", "/used.json")):
            continue
        before = 0
        for body in bodies:
            revision = int(_REVISION.search(body)[1]) if body is not None else 0  # type: ignore[index]
            if body is not None and revision <= before:
                yield f"{key} has the revision {revision} behind {before}"
            before = revision


def what_is_immutable_is_written_once(raw: Raw, _: History) -> Iterator[str]:
    """Segments, archives with everything below them, tool outputs, working memories and runs of the journal have one
    version."""
    for key, bodies in raw.versions.items():
        if _IMMUTABLE.match(key) and len(bodies) > 1:
            yield f"{key} was written {len(bodies)} times"


def a_model_is_asked_once(raw: Raw, history: History) -> Iterator[str]:
    """Once per archive, and once more for each extraction that died, failed, or ran beside another."""
    allowed = 1 + history.runs_lost("extract")
    for archive, times in Counter(call.archive for call in history.of(ModelCall)).items():
        if times > allowed:
            yield f"{archive}: a model was asked {times} times, at most {allowed} were needed"


INVARIANTS = (
    archives_follow_each_other,
    copies_agree,
    left_over_objects_are_of_the_next_commit_at_most,
    answered_commits_are_there,
    who_archives_is_told,
    counters_equal_a_recount,
    segments_say_what_they_hold,
    no_write_is_lost,
    what_is_immutable_is_written_once,
    a_model_is_asked_once,
)
