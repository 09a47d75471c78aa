"""What the use cases work with: the stores, the queues and the ports, put together once in `entry/wiring.py`."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from strandline.domain.auto_commit import AutoCommitPolicy, Triggers
from strandline.domain.screening import Redaction
from strandline.domain.session import Head
from strandline.domain.times import stamp
from strandline.ports import (
    Analyst,
    Bus,
    Clock,
    DeadLetters,
    Embedder,
    Ids,
    Items,
    Model,
    ObjectStore,
    Queue,
    Settler,
    Summariser,
    TokenCounter,
)
from strandline.storage.accounts import Accounts
from strandline.storage.codec import HeadCodec
from strandline.storage.document import Documents
from strandline.storage.due import DueMarkers
from strandline.storage.erasures import Erasures
from strandline.storage.journal import Journals
from strandline.storage.keys import Keys
from strandline.storage.lease import Leases
from strandline.storage.log import Log
from strandline.storage.records import Sessions, Tasks
from strandline.storage.tool_results import ToolResults

if TYPE_CHECKING:
    from strandline.domain.compaction.state import ContextState

WARM_HEADS = 64
WARM_CONTEXTS = 64
TRIGGERS = Triggers()


@dataclass(frozen=True)
class Rules:
    """Deployment settings that use cases follow. Seconds, counts.

    Looking for silent sessions, the sweep reads `scan_batch` markers at a time and pauses in between; it looks at the
    same session again after `check_seconds` at the earliest.

    A language model reads `part_tokens` at once, in at most `part_seconds`; an extraction begins no part that could end
    after `extract_seconds`, which is less than its function has; a merge asks a
    model nothing later than `settle_seconds` after it began. A memory lives `memory_ttl_seconds` from its last
    write, unless its own, or its session's policy, says otherwise (None: for ever). What is `allowed` is no secret
    though it looks like one. Without `learning` no
    conversation has cases.
    """

    default_policy: AutoCommitPolicy | None = None
    triggers: Triggers = TRIGGERS
    check_seconds: int = 60
    scan_batch: int = 16
    scan_pause_seconds: float = 0
    heal_seconds: int = 900
    heal_rounds: int = 5
    max_receives: int = 5
    part_tokens: int = 4_000
    part_seconds: float = 100
    extract_seconds: float = 110
    settle_seconds: float = 30
    redaction: Redaction = Redaction.REDACT
    allowed: tuple[str, ...] = ()
    memory_ttl_seconds: int | None = None
    learning: bool = True


@dataclass(frozen=True)
class Ports:
    """The adapters. Each is made when it is first asked for, so a function pays for what it uses. `dead_letters` are
    the ingest queue's, the only ones that hold what was said.

    `model` takes any archive whole; `language_model`, where there is one, reads it besides, in parts, and `settler` is
    asked where several sessions meet on one memory, `analyst` what a run of a task teaches. `summariser` keeps the
    working memories.
    """

    objects: Callable[[], ObjectStore]
    items: Callable[[], Items]
    ingest_queue: Callable[[], Queue]
    dead_letters: Callable[[], DeadLetters]
    commit_queue: Callable[[], Queue]
    extract_queue: Callable[[], Queue]
    merge_queue: Callable[[], Queue]
    learn_queue: Callable[[], Queue]
    erase_queue: Callable[[], Queue]
    bus: Callable[[], Bus]
    model: Callable[[], Model]
    summariser: Callable[[], Summariser]
    tokens: TokenCounter
    clock: Clock
    ids: Ids
    language_model: Callable[[], Model] | None = None
    settler: Callable[[], Settler] | None = None
    embedder: Callable[[], Embedder] | None = None
    analyst: Callable[[], Analyst] | None = None


class Services:
    """One per warm function. It remembers the session heads it saw last, with their ETags: a write is tried on what
    is remembered, and the store decides."""

    def __init__(self, ports: Ports, rules: Rules) -> None:
        self.ports = ports
        self.rules = rules
        self.clock = ports.clock
        self.ids = ports.ids
        self.tokens = ports.tokens

    def due_at(self) -> str:
        """When the sweep is to look at what is begun now, should it not have come to its end by then."""
        return stamp(self.clock.now() + timedelta(seconds=self.rules.heal_seconds))

    @cached_property
    def objects(self) -> ObjectStore:
        return self.ports.objects()

    @cached_property
    def items(self) -> Items:
        return self.ports.items()

    @cached_property
    def ingest_queue(self) -> Queue:
        return self.ports.ingest_queue()

    @cached_property
    def dead_letters(self) -> DeadLetters:
        return self.ports.dead_letters()

    @cached_property
    def commit_queue(self) -> Queue:
        return self.ports.commit_queue()

    @cached_property
    def extract_queue(self) -> Queue:
        return self.ports.extract_queue()

    @cached_property
    def merge_queue(self) -> Queue:
        return self.ports.merge_queue()

    @cached_property
    def learn_queue(self) -> Queue:
        return self.ports.learn_queue()

    @cached_property
    def erase_queue(self) -> Queue:
        return self.ports.erase_queue()

    @cached_property
    def bus(self) -> Bus:
        return self.ports.bus()

    @cached_property
    def journals(self) -> Journals:
        return Journals(self.objects, self.clock, self.ids)

    @cached_property
    def model(self) -> Model:
        return self.ports.model()

    @cached_property
    def language_model(self) -> Model | None:
        return self.ports.language_model() if self.ports.language_model else None

    @cached_property
    def summariser(self) -> Summariser:
        return self.ports.summariser()

    @cached_property
    def analyst(self) -> Analyst | None:
        return self.ports.analyst() if self.ports.analyst else None

    @cached_property
    def settler(self) -> Settler | None:
        return self.ports.settler() if self.ports.settler else None

    @cached_property
    def heads(self) -> Documents[Head]:
        return Documents(self.objects, HeadCodec(), self.clock, self.ids, warm=WARM_HEADS)

    @cached_property
    def contexts(self) -> "Documents[ContextState]":
        from strandline.storage.context import ContextCodec  # noqa: PLC0415 - nothing that append needs

        return Documents(self.objects, ContextCodec(), self.clock, self.ids, warm=WARM_CONTEXTS)

    @cached_property
    def log(self) -> Log:
        return Log(self.objects)

    @cached_property
    def tool_results(self) -> ToolResults:
        return ToolResults(self.objects)

    @cached_property
    def sessions(self) -> Sessions:
        return Sessions(self.items)

    @cached_property
    def tasks(self) -> Tasks:
        return Tasks(self.items, self.clock)

    @cached_property
    def due(self) -> DueMarkers:
        return DueMarkers(self.items)

    @cached_property
    def leases(self) -> Leases:
        return Leases(self.items, self.clock)

    @cached_property
    def keys(self) -> Keys:
        return Keys(self.items, self.clock)

    @cached_property
    def accounts(self) -> Accounts:
        return Accounts(self.items, self.clock)

    @cached_property
    def erasures(self) -> Erasures:
        return Erasures(self.items)
