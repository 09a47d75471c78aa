"""Everything outside the use cases, in memory: stores, queues, time. Any call to it can be made to go wrong."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from strandline.domain.contracts import (
    CommitRequested,
    EraseRequested,
    ExtractRequested,
    LearnRequested,
    MergeRequested,
    SessionRef,
    SummariseRequested,
)
from strandline.domain.errors import ExtractionFailed, StrandlineError
from strandline.domain.message import MessageIn, read_line
from strandline.domain.session import Head, Skip
from strandline.pipeline import learning, outcome, session
from strandline.pipeline.append import Appended, AppendRequest, run_append
from strandline.pipeline.auto_commit import give_up, run_auto_commit
from strandline.pipeline.commit import Committed, run_commit
from strandline.pipeline.erase import run_erase
from strandline.pipeline.extract import run_extract
from strandline.pipeline.learn import run_learn
from strandline.pipeline.library import Library
from strandline.pipeline.merge import run_merge
from strandline.pipeline.search import Query, run_search
from strandline.pipeline.services import Ports, Rules, Services
from strandline.pipeline.sweep import run_sweep
from strandline.pipeline.working_memory import run_summarise
from strandline.ports import Analyst, Model, Settler, StoreError, Summariser, TokenCounter
from strandline.storage.journal import Journals
from strandline.storage.layout import Life, User
from strandline.storage.log import ref
from tests.fakes import (
    Delivery,
    FakeClock,
    FakeIds,
    MemoryBus,
    MemoryDeadLetters,
    MemoryItems,
    MemoryObjects,
    MemoryQueue,
    WordCounter,
)
from tests.pipeline.models import Echo, Notes
from tests.pipeline.trips import Calls, Killed, Trip, WatchedFaults, die

T = TypeVar("T")

ALICE = User("acme", "alice")
BOB = User("acme", "bob")
HEAL_SECONDS = 900
DAY = 86_400


class World:
    """`services()` is one more function that remembers nothing; whatever was stored before is still there."""

    def __init__(self, rules: Rules | None = None, model: Model | None = None) -> None:
        self.calls = Calls()
        self.clock = FakeClock()
        self.ids = FakeIds()
        self.objects = MemoryObjects(self.clock)
        self.items = MemoryItems()
        self.ingest_queue = MemoryQueue(fifo=True)
        self.dead_letters = MemoryDeadLetters(self.clock, fifo=True)
        self.commit_queue = MemoryQueue()
        self.extract_queue = MemoryQueue()
        self.merge_queue = MemoryQueue(fifo=True)
        self.learn_queue = MemoryQueue(fifo=True)
        self.erase_queue = MemoryQueue()
        self.bus = MemoryBus()
        self.rules = rules or Rules(heal_seconds=HEAL_SECONDS)
        self.model: Model = model or Echo()
        self.language_model: Model | None = None
        self.settler: Settler | None = None
        self.analyst: Analyst | None = None
        rules: Any = model
        self.summariser: Summariser = rules if hasattr(model, "summarise") else Notes()
        self.tokens: TokenCounter = WordCounter()
        self.mend()
        self._late = self.objects.faults

    def ports(self) -> Ports:
        return Ports(
            objects=lambda: self.objects,
            items=lambda: self.items,
            ingest_queue=lambda: self.ingest_queue,
            dead_letters=lambda: self.dead_letters,
            commit_queue=lambda: self.commit_queue,
            extract_queue=lambda: self.extract_queue,
            merge_queue=lambda: self.merge_queue,
            learn_queue=lambda: self.learn_queue,
            erase_queue=lambda: self.erase_queue,
            bus=lambda: self.bus,
            model=lambda: self.model,
            summariser=lambda: self.summariser,
            tokens=self.tokens,
            clock=self.clock,
            ids=self.ids,
            language_model=self._language_model if self.language_model else None,
            settler=self._settler if self.settler else None,
            analyst=self._analyst if self.analyst else None,
        )

    def _analyst(self) -> Analyst:
        assert self.analyst is not None
        return self.analyst

    def _settler(self) -> Settler:
        assert self.settler is not None
        return self.settler

    def _language_model(self) -> Model:
        assert self.language_model is not None
        return self.language_model

    def services(self) -> Library:
        return Library(self.ports(), self.rules)

    # ---- what goes wrong

    def mend(self) -> None:
        """Whatever was going to go wrong does not any more."""
        self.calls.trip = None
        for name in (
            "objects",
            "items",
            "ingest_queue",
            "dead_letters",
            "commit_queue",
            "extract_queue",
            "merge_queue",
            "learn_queue",
            "erase_queue",
            "bus",
        ):
            getattr(self, name).faults = WatchedFaults(name, self.calls)

    def next(self, offset: int, action: Callable[[], object], *, before: bool = True) -> None:
        """Runs `action` at the call `offset` calls from now (0: the next one)."""
        self.calls.trip = Trip(len(self.calls.names) + offset, before, action)

    def mend_but_keep_late(self) -> None:
        """Mends everything; what is held back can still arrive by `land`."""
        self._late = self.objects.faults
        self.mend()

    def land(self) -> None:
        """What was held back before the mending arrives now."""
        self._late.land()

    def kill(self, offset: int, *, before: bool) -> None:
        self.next(offset, die, before=before)

    # ---- what clients and queues do

    def create(self, name: str, owner: User = ALICE, **fields: Any) -> Head:
        wanted = {"auto_commit_policy": None, "memory_policy": None, "metadata": {}, **fields}
        return session.create(self.services(), session.NewSession(owner=owner, session_id=name, **wanted))

    def append(
        self, name: str, *texts: str, owner: User = ALICE, by: Services | None = None, ids: str = "m"
    ) -> Appended:
        """Appends user messages with the ids m1, m2, … after what `ids` says."""
        return run_append(by or self.services(), AppendRequest(owner, name, said(texts, ids=ids)))

    def commit(self, name: str, owner: User = ALICE, keep: int = 0) -> Committed | Skip:
        whose = SessionRef(account_id=owner.account_id, user_id=owner.user_id, session_id=name)
        return run_commit(self.services(), whose, keep)

    def remember(self, name: str, *texts: str, owner: User = ALICE, ids: str = "m") -> Committed:
        """Appends, commits, extracts and merges: afterwards the archive is done."""
        self.append(name, *texts, owner=owner, ids=ids)
        done = self.commit(name, owner)
        assert isinstance(done, Committed)
        self.settle()
        return done

    def commit_next(self) -> None:
        """One delivery of the commit queue; it stays there when the handler dies or fails, until it is given up."""
        for delivery in self.commit_queue.receive(1):
            request = delivery.message
            assert isinstance(request, CommitRequested)
            try:
                run_auto_commit(self.services(), request)
            except (StoreError, StrandlineError, Killed) as error:
                if isinstance(error, Killed) or delivery.received < self.rules.max_receives:
                    self.commit_queue.back(delivery)
                    raise
                give_up(self.services(), request, str(error))
            self.commit_queue.done(delivery)

    def extract_next(self) -> None:
        """One delivery of the extract queue; it stays there when the handler dies or fails."""
        for delivery in self.extract_queue.receive(1):
            try:
                self._extract(delivery)
            except (ExtractionFailed, StrandlineError, Killed):
                self.extract_queue.back(delivery)
                raise
            self.extract_queue.done(delivery)

    def _extract(self, delivery: Delivery) -> None:
        """As the queue's edge does it: what can never succeed, or has been tried often enough, has failed."""
        request = delivery.message
        if isinstance(request, SummariseRequested):
            run_summarise(self.services(), request)
            return
        assert isinstance(request, ExtractRequested)
        try:
            run_extract(self.services(), request)
        except ExtractionFailed as error:
            last = error.final or delivery.received >= self.rules.max_receives
            if not last and outcome.stumble(self.services(), request, str(error)):
                raise
            outcome.fail(self.services(), request, "extract", str(error))

    def merge_next(self) -> None:
        """One batch of the merge queue; what failed stays there."""
        batch = self.merge_queue.receive(10)
        requests = [d.message for d in batch if isinstance(d.message, MergeRequested)]
        try:
            outcomes = run_merge(self.services(), requests) if requests else []
        except (StrandlineError, Killed):
            for delivery in batch:
                self.merge_queue.back(delivery)
            raise
        for delivery, error in zip(batch, outcomes, strict=True):
            if error is None:
                self.merge_queue.done(delivery)
            else:
                self.merge_queue.back(delivery)

    def learn_next(self) -> None:
        """One delivery of the learn queue; it stays there when the handler dies or fails, until it is given up."""
        for delivery in self.learn_queue.receive(1):
            request = delivery.message
            assert isinstance(request, LearnRequested)
            try:
                run_learn(self.services(), request)
            except (ExtractionFailed, StrandlineError, Killed) as error:
                final = isinstance(error, ExtractionFailed) and error.final
                if not final and (isinstance(error, Killed) or delivery.received < self.rules.max_receives):
                    self.learn_queue.back(delivery)
                    raise
                learning.failed(self.services(), request, str(error))
            self.learn_queue.done(delivery)

    def erase_next(self) -> None:
        """One delivery of the erase queue; it stays there when the handler dies or fails."""
        for delivery in self.erase_queue.receive(1):
            assert isinstance(delivery.message, EraseRequested)
            try:
                run_erase(self.services(), delivery.message)
            except (StrandlineError, Killed):
                self.erase_queue.back(delivery)
                raise
            self.erase_queue.done(delivery)

    def settle(self, rounds: int = 20) -> None:
        """Delivers until the queues are empty."""
        for _ in range(rounds):
            queues = (
                self.commit_queue,
                self.extract_queue,
                self.merge_queue,
                self.learn_queue,
                self.erase_queue,
            )
            if not sum(map(len, queues)):
                return
            if len(self.commit_queue):
                self.commit_next()
            if len(self.erase_queue):
                self.erase_next()
            if len(self.extract_queue):
                self.extract_next()
            if len(self.merge_queue):
                self.merge_next()
            if len(self.learn_queue):
                self.learn_next()
        raise AssertionError("the queues do not run empty")

    def heal(self, times: int = 2) -> None:
        """Time goes by, the sweep looks, the queues run empty."""
        for _ in range(times):
            self.sweep()
            self.settle()

    def sweep(self, seconds: float = HEAL_SECONDS + 1) -> Mapping[str, int]:
        """Time goes by and the schedule fires; answers the counts."""
        self.clock.advance(seconds)
        return run_sweep(self.services())

    def delete(self, name: str, owner: User = ALICE) -> None:
        session.delete(self.services(), owner, name)

    # ---- what is there, read without being counted

    def stored(self, part: str = "") -> list[str]:
        """Keys of current objects that contain `part`."""
        return [key for key in self._quiet(lambda: list(self.objects.keys(""))) if part in key]

    def body(self, key: str) -> bytes:
        stored = self._quiet(lambda: self.objects.get(key))
        assert stored is not None, key
        return stored.body

    def bodies(self, part: str) -> dict[str, bytes]:
        return {key: self.body(key) for key in self.stored(part)}

    def writes(self, key: str) -> int:
        """How many versions the bucket keeps of a key, delete markers included."""
        return len(self._quiet(lambda: self.objects.versions(key)))

    def rows(self, prefix: str) -> list[Any]:
        """Items of the table whose partition begins with `prefix`."""
        return [row for row in self.items.rows() if row["pk"].startswith(prefix)]

    def head(self, name: str, owner: User = ALICE) -> Head:
        found = self._quiet(lambda: self.services().heads.read(owner.head(name)))
        assert found is not None
        return found.value

    def log(self, name: str, owner: User = ALICE) -> list[tuple[int, str]]:
        """(seq, content) of the whole session: what its archives hold, by the head or by their `done.json`, and what
        is live."""
        head = self.head(name, owner)
        return [(m["seq"], m["content"]) for m in map(read_line, self._quiet(lambda: self._lines(head)))]

    def _lines(self, head: Head) -> list[bytes]:
        whose, lines = ref(head), []
        ranges = {a.number: (a.first, a.last) for a in (*head.pending, *head.failed)}
        for key in self.stored(f"{Life(whose).prefix}archives/"):
            if key.endswith("/done.json"):
                done = json.loads(self.body(key))
                ranges.setdefault(done["archive"], (done["first_seq"], done["last_seq"]))
        assert sorted(ranges) == list(range(1, head.commit_count + 1))
        for number in sorted(ranges):
            lines += self.services().log.archived(whose, number, *ranges[number])
        return lines + self.services().log.live(head, head.live_from, head.last_seq)

    def journal(self, owner: User = ALICE) -> list[dict[str, Any]]:
        """Every event of the user's journal."""
        journals = self._quiet(self.services).journals
        events: list[dict[str, Any]] = []
        while page := self._quiet(partial(self._page, journals, owner, events)):
            events += page
        return events

    def _page(self, journals: Journals, owner: User, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return journals.page(owner, after=events[-1]["id"] if events else None, limit=200)

    def find(self, text: str, owner: User = ALICE, **fields: Any) -> list[str]:
        """The texts a search finds, best first."""
        hits = self._quiet(lambda: run_search(self.services(), owner, Query(text, **fields)))
        return [hit.document.text for hit in hits]

    def _quiet(self, look: Callable[[], T]) -> T:
        trip, self.calls.trip = self.calls.trip, None
        before = len(self.calls.names)
        try:
            return look()
        finally:
            del self.calls.names[before:]
            self.calls.trip = trip


def said(texts: Iterable[str], *, ids: str = "m", role: str = "user") -> Sequence[MessageIn]:
    """Messages with these texts and the ids m1, m2, …"""
    return [
        MessageIn(role=role, content=text, id=f"{ids}{n}")  # type: ignore[arg-type]
        for n, text in enumerate(texts, start=1)
    ]


def counted(world: World, work: Callable[[], T]) -> tuple[T, dict[str, int]]:
    """The result, and how many calls of which kind it took."""
    start = len(world.calls.names)
    result = work()
    return result, dict(world.calls.since(start))
