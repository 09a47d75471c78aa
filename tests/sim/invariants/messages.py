"""Messages: where they are, in which order, and what readers saw of them."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from strandline.domain.message import hash_id
from strandline.domain.session import IDS_KEPT
from strandline.storage.layout import User
from tests.sim.history import Aborted, Acked, Attempted, Deleted, History, Queued, Read, Seen
from tests.sim.invariants.raw import Raw, Session

_OUTPUT = re.compile(rb'"tool_output_ref":"([^"]+)"')


def seqs_are_gap_free(raw: Raw, _: History) -> Iterator[str]:
    """Archives, segments and tail together hold exactly the seqs 1..last_seq, in order."""
    for session in raw.sessions:
        seqs = [m.seq for m in session.log]
        if seqs != list(range(1, session.head.last_seq + 1)):
            yield f"{session} holds the seqs {seqs}, its head says 1..{session.head.last_seq}"


def no_message_is_there_twice(raw: Raw, _: History) -> Iterator[str]:
    """No message id comes twice over archives and live messages."""
    for session in raw.sessions:
        twice = [identity for identity, n in Counter(m.id for m in session.log).items() if n > 1]
        if twice:
            yield f"{session} holds {twice} more than once"


def acknowledged_messages_are_there(raw: Raw, history: History) -> Iterator[str]:
    """Every acknowledged message of a session that was not deleted is where its receipt says."""
    for acked in history.of(Acked):
        session = raw.by_life.get(acked.incarnation)
        if session is None:
            if not _may_be_deleted(history, acked.incarnation):
                yield f"{acked.session_id} is gone, {list(acked.batch_ids)} with it"
            continue
        stored = {m.id: m.seq for m in session.log}
        wrong = [(i, seq, stored.get(i)) for i, seq in acked.receipts if stored.get(i) != seq]
        if wrong:
            yield f"{session}: acknowledged (id, seq) and where it is: {wrong}"


def _may_be_deleted(history: History, incarnation: str) -> bool:
    return any(deleted.incarnation == incarnation for deleted in history.of(Deleted))


def messages_say_what_was_sent(raw: Raw, history: History) -> Iterator[str]:
    """A stored message is one that somebody sent to this session, with that text."""
    sent: dict[tuple[User, str, str], set[str]] = {}
    everything = [*history.of(Acked), *history.of(Attempted), *history.of(Aborted)]
    for append in everything:
        for n, identity in enumerate(append.batch_ids):
            texts = sent.setdefault((append.owner, append.session_id, identity), set())
            texts.update(append.texts[n : n + 1])
    for session in raw.sessions if everything else ():
        for m in session.log:
            texts = sent.get((session.owner, session.head.session_id, m.id))
            if texts is None:
                yield f"{session} holds {m.id!r}, which nobody has sent"
            elif texts and m.text not in texts:
                yield f"{session} seq {m.seq} says {m.text!r}, sent was {sorted(texts)}"


def batches_are_whole(raw: Raw, history: History) -> Iterator[str]:
    """The messages of one append are all there or none, behind each other, in their order; of ids that were sent in
    another batch too, the first one decides."""
    batches = {
        (a.owner, a.session_id, tuple(a.batch_ids)) for kind in (Acked, Attempted) for a in history.of(kind)
    }
    sent = Counter((owner, name, identity) for owner, name, ids in batches for identity in set(ids))
    for session in raw.sessions:
        stored = {m.id: m.seq for m in session.log}
        for owner, name, ids in sorted(batches, key=str):
            if (owner, name) == (session.owner, session.head.session_id):
                own = [i for i in ids if sent[owner, name, i] == 1]
                yield from _parted(session, own, [stored[i] for i in own if i in stored])


def _parted(session: Session, ids: Sequence[str], seqs: Sequence[int]) -> Iterator[str]:
    if seqs and list(seqs) != list(range(seqs[0], seqs[0] + len(ids))):
        yield f"{session}: the batch {list(ids)} has the seqs {list(seqs)}"


def reads_agree(raw: Raw, history: History) -> Iterator[str]:
    """Of two reads of one life of a session one is a prefix of the other, that which ended before the other began;
    and each is a prefix of what is there in the end."""
    lives: dict[str, list[Read]] = {}
    for read in history.of(Read):
        lives.setdefault(read.incarnation, []).append(read)
    for incarnation, reads in lives.items():
        by_length = sorted(reads, key=lambda r: len(r.seqs_and_ids))
        seen = [list(r.seqs_and_ids) for r in by_length]
        if incarnation in raw.by_life:
            seen.append([(m.seq, m.id) for m in raw.by_life[incarnation].log])
        for shorter, longer in pairwise(seen):
            if longer[: len(shorter)] != shorter:
                yield f"{reads[0].session_id}: a read saw {shorter}, another {longer}"
        yield from _backwards(reads)


def _backwards(reads: Sequence[Read]) -> Iterator[str]:
    """Who reads after another has read sees no less."""
    longest: list[tuple[int, int]] = []  # (when it had ended, how much it saw)
    for read in sorted(reads, key=lambda r: r.started_step):
        before = max((n for ended, n in longest if ended < read.started_step), default=0)
        if len(read.seqs_and_ids) < before:
            yield f"{read.session_id}: {before} messages were seen, then {len(read.seqs_and_ids)}"
        longest.append((read.ended_step, len(read.seqs_and_ids)))


def reads_hold_what_was_acknowledged(raw: Raw, history: History) -> Iterator[str]:
    """A read holds every message whose acknowledgement was heard before it began."""
    for read in history.of(Read):
        seen = {identity: seq for seq, identity in read.seqs_and_ids}
        for acked in history.of(Acked):
            if acked.incarnation == read.incarnation and acked.at_step < read.started_step:
                missing = [receipt for receipt in acked.receipts if seen.get(receipt[0]) != receipt[1]]
                if missing:
                    yield f"{read.session_id}: acknowledged and not in a later read: {missing}"


def contexts_hold_what_was_acknowledged(raw: Raw, history: History) -> Iterator[str]:
    """What a model sees are messages of the session in their order, and all of those acknowledged before, and of those
    between, but for what archives that are done have summed up."""
    for seen in history.of(Seen):
        session = raw.by_life.get(seen.incarnation)
        if session is None:
            continue
        log = {m.seq: m.id for m in session.log}
        there = dict(seen.seqs_and_ids)
        if list(there) != sorted(there) or any(log.get(seq) != identity for seq, identity in there.items()):
            yield f"{session}: a model saw {seen.seqs_and_ids}, there is {log}"
        missing = {*_acknowledged(history, seen), *range(min(there, default=0), max(there, default=0))} - {
            *there
        }
        missing -= _summed_up(session)
        if missing:
            yield f"{session}: not summed up, and not seen by a model: {sorted(missing)}"


def _acknowledged(history: History, seen: Seen) -> Iterator[int]:
    """The seqs whose acknowledgement was heard before a model looked."""
    for acked in history.of(Acked):
        if acked.incarnation == seen.incarnation and acked.at_step < seen.started_step:
            yield from (seq for _, seq in acked.receipts)


def _summed_up(session: Session) -> set[int]:
    spans = (span for number, span in session.ranges.items() if number in session.done)
    return {seq for first, last in spans for seq in range(first, last + 1)}


def queued_messages_join(raw: Raw, history: History) -> Iterator[str]:
    """What the ingest queue has taken is stored, unless it was given up, or the session was deleted."""
    deleted = {(d.owner, d.session_id) for d in history.of(Deleted)}
    dead = {m.id for letter in raw.dead.get("ingest", ()) for m in letter.messages}
    stored = {(s.owner, s.head.session_id): {m.id for m in s.log} for s in raw.sessions}
    for queued in history.of(Queued):
        place = (queued.owner, queued.session_id)
        missing = set(queued.batch_ids) - stored.get(place, set()) - dead
        if missing and place not in deleted:
            yield f"{place}: the ingest queue has taken {sorted(missing)}, they are not there"


def who_is_told_aborted_has_written_nothing(raw: Raw, history: History) -> Iterator[str]:
    """And may put the request right and send it with other ids."""
    for aborted in history.of(Aborted):
        for session in raw.sessions:
            if (session.owner, session.head.session_id) == (aborted.owner, aborted.session_id):
                written = [m.id for m in session.log if m.id in aborted.batch_ids]
                if written:
                    yield f"{session} holds {written}, whose writer was told that nothing was written"


def tool_outputs_are_there(raw: Raw, _: History) -> Iterator[str]:
    """A tool output that a message refers to is in the same life of its session."""
    for session in raw.sessions:
        for m in session.log:
            for identity in _OUTPUT.findall(m.line):
                if f"tool-results/{identity.decode()}" not in session.objects:
                    yield f"{session}: seq {m.seq} refers to {identity.decode()}, which is not there"


def known_ids_are_the_newest(raw: Raw, _: History) -> Iterator[str]:
    """The head knows the newest 1,024 message ids again, in order: a repeat is told by them."""
    for session in raw.sessions:
        newest = b"".join(hash_id(m.id) for m in session.log[-IDS_KEPT:])
        if session.head.ids != newest:
            yield f"{session} knows other ids than those of its newest messages"


INVARIANTS = (
    seqs_are_gap_free,
    no_message_is_there_twice,
    acknowledged_messages_are_there,
    messages_say_what_was_sent,
    batches_are_whole,
    reads_agree,
    reads_hold_what_was_acknowledged,
    contexts_hold_what_was_acknowledged,
    queued_messages_join,
    who_is_told_aborted_has_written_nothing,
    tool_outputs_are_there,
    known_ids_are_the_newest,
)
