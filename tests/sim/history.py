"""What the clients and workers of a simulated world saw: the workload writes it down, `invariants` hold the raw stores
against it.

A step is the scheduler's count of what has happened: of two records the one with the smaller step was first. Whatever
a client sends is noted, also what it sends twice: `Acked` when it heard the answer, else `Attempted` (also for a
duplicate of a request, whose answer nobody hears).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from strandline.pipeline.prompt import Prompt
from strandline.storage.layout import User

R = TypeVar("R")


@dataclass(frozen=True)
class Of:
    """Whose session, and which of its lives."""

    owner: User
    session_id: str
    incarnation: str


@dataclass(frozen=True)
class Acked(Of):
    """An append that was answered: (message id, seq) of each message. `batch_ids` are the ids that were sent, `texts`
    what each said, where the workload says so; `at_step` is when the answer was heard, `started_step` when it was sent
    first."""

    receipts: Sequence[tuple[str, int]]
    at_step: int
    batch_ids: Sequence[str]
    texts: Sequence[str] = ()
    started_step: int | None = None


@dataclass(frozen=True)
class Attempted:
    """An append that was refused, or never answered: it happened once or not at all."""

    owner: User
    session_id: str
    batch_ids: Sequence[str]
    at_step: int
    texts: Sequence[str] = ()


@dataclass(frozen=True)
class Aborted:
    """An append that was told ABORTED and not sent again: nothing of it was written."""

    owner: User
    session_id: str
    batch_ids: Sequence[str]
    at_step: int
    texts: Sequence[str] = ()


@dataclass(frozen=True)
class Queued:
    """A request that the ingest queue has taken by then: its messages join the session, in the order of the queue."""

    owner: User
    session_id: str
    batch_ids: Sequence[str]
    at_step: int
    at_seconds: float = 0.0


@dataclass(frozen=True)
class Read(Of):
    """The whole of a session as a client read it: (seq, message id) from the first message on."""

    started_step: int
    ended_step: int
    seqs_and_ids: Sequence[tuple[int, str]]


@dataclass(frozen=True)
class Seen(Read):
    """What a model would see of a session: the messages that no done archive holds."""


@dataclass(frozen=True)
class Given(Of):
    """A context that was answered; `last` is the newest message that had been acknowledged before it was asked for,
    `window` how many tokens it may have."""

    started_step: int
    ended_step: int
    last: int
    made: Prompt
    window: int


@dataclass(frozen=True)
class Deleted(Of):
    """A delete; without `ended_step` its answer was never heard, and it may have happened or not."""

    started_step: int
    ended_step: int | None
    at_seconds: float = 0.0


@dataclass(frozen=True)
class Committed(Of):
    """A commit that was answered: its archive."""

    archive_number: int
    first: int
    last: int


@dataclass(frozen=True)
class CommitUnclear:
    """A commit whose answer does not say what it did: by a queue, not answered, or only when it was sent again."""

    owner: User
    session_id: str


@dataclass(frozen=True)
class Compacted:
    """An agent has asked for a context of a session, which may have had it committed."""

    owner: User
    session_id: str


@dataclass(frozen=True)
class NotThere(Of):
    """A delete of a living session that was told, the first time it was sent, that there is no such session."""


@dataclass(frozen=True)
class Noted:
    """An owner has put a line of its own into a memory, over exactly what it had read."""

    owner: User
    path: str
    line: str


@dataclass(frozen=True)
class Forgot:
    """An owner has deleted a memory that had absorbed these extractions."""

    owner: User
    path: str
    extractions: Sequence[str]


@dataclass(frozen=True)
class Edited:
    """An owner wrote or deleted a memory, or tried to: its file says no more what was merged into it."""

    owner: User
    path: str


@dataclass(frozen=True)
class Used(Of):
    """A session has reported that it read an experience, and was told that this is counted. By `seq` were its messages
    acknowledged when it began."""

    path: str
    seq: int
    ended_step: int


@dataclass(frozen=True)
class RolledBack(Of):
    """What a session said was taken back: of these archives, or (None) of nobody knows which."""

    archives: Sequence[int] | None


@dataclass(frozen=True)
class Killed:
    """A function died. `function` is the word of its stage."""

    step: int
    function: str


@dataclass(frozen=True)
class Failed:
    """A run ended in an error, so that its message comes again."""

    step: int
    function: str


@dataclass(frozen=True)
class Overlapped:
    """A run began while another was at the same work: a duplicated message, or one that came back too early."""

    step: int
    function: str


@dataclass(frozen=True)
class ModelCall:
    """A model was asked about an archive: the prefix of its key (`Life(…).archive(number)`)."""

    archive: str


@dataclass(frozen=True)
class Analysed:
    """A model was asked what a run teaches, of an archive (as in `ModelCall`)."""

    archive: str


@dataclass
class History:
    """Everything in the order in which it was written down. `canaries`: a text of each owner's own, which is in all of
    its messages and in nobody else's."""

    records: list[object] = field(default_factory=list)
    canaries: dict[User, str] = field(default_factory=dict)
    max_age_seconds: int = 604_800
    idle_commits: bool = False

    def append(self, record: object) -> None:
        self.records.append(record)

    def of(self, kind: type[R]) -> Iterator[R]:
        """The records of exactly this kind, in order."""
        return (record for record in self.records if type(record) is kind)

    def runs_lost(self, function: str) -> int:
        """How many runs of a function came to nothing, or to what another one did besides."""
        return sum(
            record.function == function for kind in (Killed, Failed, Overlapped) for record in self.of(kind)
        )
