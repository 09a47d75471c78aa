"""Random lives of one session, against a plain list of its messages."""

from datetime import UTC, datetime

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from strandline.domain import session
from strandline.domain.message import Draft, MessageIn, draft, read_line
from strandline.domain.session import CommitPlan, Head, Segment
from strandline.storage.codec import HeadCodec
from strandline.storage.document import Stamp

NOW = "2026-01-01T00:00:00.000Z"
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
IDS = st.sampled_from([f"id {n}" for n in range(40)])
BATCH = st.lists(st.tuples(IDS, TEXT, st.integers(0, 50)), min_size=1, max_size=5)


def _draft(message_id: str, text: str, tokens: int) -> Draft:
    given = MessageIn(role="user", content=text, metadata={"n": tokens, "float": tokens / 7, "s": [text]})
    return draft(given, message_id=message_id, now=datetime(2026, 1, 1, tzinfo=UTC), tokens=tokens)


class SessionLife(RuleBasedStateMachine):
    """`log` is every message in order, `stored` the segments written, `archives` what became of each archive."""

    def __init__(self) -> None:
        super().__init__()
        self.head = Head("a", "u", "s", "0" * 32, NOW, NOW, metadata={"é": ["\u2028"]})
        self.log: list[Draft] = []
        self.stored: dict[tuple[int, int], list[bytes]] = {}
        self.archives: dict[int, tuple[int, int, str]] = {}
        self.old_segment: Segment | None = None
        self.old_plan: CommitPlan | None = None

    @rule(batch=BATCH)
    def append(self, batch: list[tuple[str, str, int]]) -> None:
        drafts = [_draft(*one) for one in batch]
        self.head, receipts = session.append(self.head, drafts, now=NOW)
        for one, receipt in zip(drafts, receipts, strict=True):
            known = [n for n, stored in enumerate(self.log, start=1) if stored.id == one.id]
            if not known:
                self.log.append(one)
            assert (receipt.id, receipt.duplicate) == (one.id, bool(known))
            assert receipt.seq == (known[0] if known else len(self.log))

    @precondition(lambda self: self.head.tail)
    @rule()
    def write_segment(self) -> None:
        """Spilling begins: the segment is an object now, the head does not know yet."""
        self.old_segment = session.tail_segment(self.head)
        self.stored[self.old_segment.first, self.old_segment.last] = list(self.head.tail)

    @precondition(lambda self: self.old_segment)
    @rule()
    def spill(self) -> None:
        """Perhaps long after, perhaps again: whatever the head has become meanwhile."""
        assert self.old_segment is not None
        self.head = session.spill(self.head, self.old_segment)

    @rule(keep=st.integers(0, 6))
    def plan_commit(self, keep: int) -> None:
        plan = session.plan_commit(self.head, keep)
        self.old_plan = plan if isinstance(plan, CommitPlan) else self.old_plan

    @precondition(lambda self: self.old_plan)
    @rule()
    def archive(self) -> None:
        assert self.old_plan is not None
        first, last = self.old_plan.first, self.old_plan.last
        tokens = sum(one.tokens for one in self.log[first - 1 : last])
        archived = session.archive(self.head, self.old_plan, tokens=tokens, now=NOW)
        fits = (self.old_plan.number, first) == (len(self.archives) + 1, self.head.live_from)
        assert (archived is not None) == fits
        if archived is not None:
            self.head = archived
            self.archives[self.old_plan.number] = (first, last, "pending")

    @precondition(lambda self: self.archives)
    @rule(data=st.data(), fails=st.booleans())
    def settle(self, data: st.DataObject, fails: bool) -> None:
        number = data.draw(st.sampled_from(sorted(self.archives)))
        first, last, was = self.archives[number]
        reason = "no" if fails else None
        self.head = session.settle(self.head, number, extracted={"events": 1}, reason=reason, now=NOW)
        ends = {
            "pending": "failed" if fails else "done",
            "failed": "failed" if fails else "done",
            "done": "done",
        }
        self.archives[number] = (first, last, ends[was])

    @precondition(lambda self: self.archives)
    @rule(data=st.data())
    def retry(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.archives)))
        first, last, was = self.archives[number]
        self.head = session.retry(self.head, number, now=NOW)
        self.archives[number] = (first, last, "pending" if was == "failed" else was)

    @invariant()
    def live_messages_are_all_there(self) -> None:
        lines: list[bytes] = []
        for segment in self.head.segments:
            stored = self.stored[segment.first, segment.last]
            lines += stored[max(self.head.live_from - segment.first, 0) :]
            assert segment.bytes == sum(map(len, stored))
            assert segment.tokens == sum(read_line(line)["tokens"] for line in stored)
        lines += self.head.tail
        live = self.log[self.head.live_from - 1 :]
        assert lines == [one.line(n) for n, one in enumerate(live, start=self.head.live_from)]

    @invariant()
    def counters_equal_a_recount(self) -> None:
        head, live = self.head, self.log[self.head.live_from - 1 :]
        assert head.last_seq == len(self.log)
        assert head.live_count == len(live)
        assert head.pending_tokens == sum(one.tokens for one in live)
        assert head.tail_bytes == sum(map(len, head.tail))
        assert all(session.find(head, one.id_hash) == n for n, one in enumerate(self.log, start=1))

    @invariant()
    def archives_are_gap_free_and_each_in_one_state(self) -> None:
        head, expected = self.head, 1
        for first, last, _ in self.archives.values():
            assert first == expected
            expected = last + 1
        assert head.live_from == expected
        by_state = {
            state: [(n, a, b) for n, (a, b, s) in self.archives.items() if s == state]
            for state in ("pending", "failed", "done")
        }
        assert [(a.number, a.first, a.last) for a in head.pending] == by_state["pending"]
        assert [(a.number, a.first, a.last) for a in head.failed] == by_state["failed"]
        assert head.completed == len(by_state["done"])
        assert head.latest_done == max((n for n, _, _ in by_state["done"]), default=0)
        assert head.memories_extracted.get("events", 0) == head.completed
        assert head.commit_count == len(self.archives)

    @invariant()
    def the_codec_loses_nothing(self) -> None:
        stamp = Stamp(7, (("w" * 32, 6), ("v" * 32, 7)))
        body = HeadCodec().encode(self.head, stamp)
        assert HeadCodec().decode(body) == (self.head, stamp)
        assert HeadCodec().encode(*HeadCodec().decode(body)) == body


SessionLife.TestCase.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
TestSessionLife = SessionLife.TestCase
