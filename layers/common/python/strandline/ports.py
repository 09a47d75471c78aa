"""What the core needs from the outside, and how it may fail. Every adapter and every fake passes `tests/contract`.

Store errors say what is known about the write:

    StoreError
    ├── ConditionFailed   refused: the object is not what the condition said (S3 412; 404 on If-Match). May be our own
    │                     earlier write whose answer was lost: ask the document, not the error
    ├── Contended         refused for now: a race with a delete or a write in flight (S3 409). Repeat
    └── Ambiguous         no answer, or a 5xx: it may have happened, or may still happen minutes later
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:  # a function loads what it uses
    from strandline.domain.contracts import Message
    from strandline.domain.events import Event
    from strandline.domain.extraction import Extraction, Transcript
    from strandline.domain.learning.insight import Attempt, Insight
    from strandline.domain.settlement import Meeting, Settlement
    from strandline.domain.working_memory.update import Summary, Update


class StoreError(Exception):
    """A store call that did not plainly succeed."""


class ConditionFailed(StoreError):
    """The condition of a write did not hold."""


class Contended(StoreError):
    """A race in flight; the same call may succeed a moment later."""


class Ambiguous(StoreError):
    """No clear answer: the write may or may not have happened."""


@dataclass(frozen=True)
class Stored:
    """An object as read: its bytes, the ETag to be sent back exactly as received, and what was kept beside it."""

    body: bytes
    etag: str
    meta: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Version:
    """One version of a key. `deleted`: it is a delete marker, which has no body. `latest`: a plain GET of the key reads
    this one. `at` is when S3 says that it was made, in whole seconds."""

    key: str
    version_id: str
    deleted: bool
    latest: bool
    at: datetime


ERASED_AT_ONCE = 1_000
Place = tuple[str, str]
"""A key and a version id: where a listing of versions goes on."""


@dataclass(frozen=True)
class VersionPage:
    """One page of a listing of versions; `next` is where to go on after, or None at the end."""

    versions: Sequence[Version]
    next: Place | None


@dataclass(frozen=True)
class IfAbsent:
    """Write only where no current object is (S3 `If-None-Match: *`; a delete marker counts as absent)."""


@dataclass(frozen=True)
class IfMatch:
    """Write only over exactly this object (S3 `If-Match`)."""

    etag: str


Condition = IfAbsent | IfMatch


class ObjectStore(Protocol):
    """A versioned bucket. Any call may raise `Ambiguous`; an adapter repeats only reads and unconditional writes."""

    def get(self, key: str) -> Stored | None:
        """The current object, or None."""

    def get_unless(self, key: str, etag: str) -> Stored | None:
        """The current object; None while its ETag is still `etag`. Raises KeyError when there is no object."""

    def get_start(self, key: str, size: int) -> bytes | None:
        """The first `size` (at least 1) bytes of the current object, all of a shorter one; None where there is none."""

    def put(
        self, key: str, body: bytes, *, when: Condition | None = None, meta: Mapping[str, str] | None = None
    ) -> str:
        """Writes the whole object, answers its new ETag. `meta`: a few short ASCII texts to be kept beside the body.
        Raises ConditionFailed, Contended, Ambiguous."""

    def delete(self, key: str, *, when: IfMatch | None = None) -> None:
        """Removes the current object; nothing there is success. Raises ConditionFailed when `when` does not hold."""

    def keys(self, prefix: str, *, after: str = "") -> Iterator[str]:
        """Every key under `prefix`, in UTF-8 order, from behind `after`; pages are fetched as they are consumed."""

    def versions(self, key: str) -> Sequence[Version]:
        """Every version of exactly this key, newest first."""

    def get_version(self, key: str, version_id: str) -> Stored:
        """One version. Raises KeyError when there is none, or when it is a delete marker."""

    def versions_below(
        self, prefix: str, *, after: Place | None = None, limit: int = ERASED_AT_ONCE
    ) -> VersionPage:
        """Every version and delete marker of every key under `prefix`, from behind `after`, at most `limit` of them."""

    def erase(self, versions: Sequence[Version]) -> None:
        """Removes exactly these versions and delete markers for good, at most `ERASED_AT_ONCE`; what is gone already
        is success. A key whose latest version goes shows the one before it. Raises Ambiguous: some may be gone."""


Item = Mapping[str, Any]


@dataclass(frozen=True)
class Below:
    """In a condition: the attribute is absent, or a number smaller than this one."""

    number: int


@dataclass(frozen=True)
class Page:
    """One page of a query; `next` is where in its order to go on after, or None at the end."""

    items: Sequence[Item]
    next: str | None


@dataclass(frozen=True)
class Order:
    """By which attribute of a partition's items a query goes, and which way. `listed_at` is the table's second order
    (a local secondary index): only items that have it are in it."""

    by: Literal["sk", "listed_at"] = "sk"
    newest_first: bool = False


BY_KEY = Order()


class Items(Protocol):
    """One table with a string partition key `pk` and sort key `sk`. Values are str, int, bool, None, list, dict.

    `when` names attributes that must have exactly these values (None: the attribute, or the item, is absent; or a
    `Below`); otherwise ConditionFailed. Expiry (`expires_at`, epoch seconds) is the reader's business: a table deletes
    late.
    """

    def get(self, pk: str, sk: str) -> Item | None:
        """The item, read consistently, or None."""

    def put(self, item: Item, *, when: Item | None = None) -> None:
        """Writes the whole item (it carries `pk` and `sk`)."""

    def update(
        self, pk: str, sk: str, values: Item, *, first: Item | None = None, when: Item | None = None
    ) -> None:
        """Sets these attributes, and those of `first` where the item has none of that name; leaves the others. Creates
        the item when it is not there."""

    def add(self, pk: str, sk: str, name: str, number: int, *, values: Item) -> int:
        """Adds to a number (0 when it is absent) and sets `values`, in one step; answers the sum. Creates the item when
        it is not there. Sent once: after Ambiguous it may have happened or not."""

    def delete(self, pk: str, sk: str, *, when: Item | None = None) -> None:
        """Removes the item; nothing there is success."""

    def query(self, pk: str, *, between: tuple[str, str], limit: int, order: Order = BY_KEY) -> Page:
        """Items of one partition that lie between the two texts, both inclusive, in that order. Read consistently."""


class Queue(Protocol):
    """A queue of references. At least once, in any order (per group in order on a FIFO queue)."""

    def send(self, message: "Message") -> None:
        """Hands the message over. Raises Ambiguous when it may not have arrived."""

    def release(self, receipt: str) -> None:
        """Makes the message of this delivery visible again. Raises Ambiguous: it may stay hidden until its time."""


@dataclass(frozen=True)
class Letter:
    """A dead letter as it was taken: `sent_at` is when it came into its queue, on a FIFO queue into the one of the dead
    letters. `receipt` is good for this taking."""

    id: str
    body: str
    sent_at: datetime
    receipt: str


LETTERS_HIDDEN = timedelta(seconds=60)


class DeadLetters(Protocol):
    """A queue of dead letters. A taken one is hidden for `LETTERS_HIDDEN`, on FIFO also what follows in its group."""

    def take(self) -> Sequence[Letter]:
        """A few (at most ten) that are not hidden; none: there are no more. Raises Ambiguous: some may be hidden."""

    def remove(self, letters: Sequence[Letter]) -> None:
        """Removes these for good; what is gone is success. Raises Ambiguous when some may be there yet."""

    def give_back(self, letters: Sequence[Letter]) -> None:
        """Shows these again at once. Raises Ambiguous when some may stay hidden until their time."""


class Bus(Protocol):
    """Where events go out. At least once, in any order."""

    def put(self, event: "Event") -> None:
        """Publishes the event. Raises Ambiguous when it may not have arrived, whatever the reason."""


class Model(Protocol):
    """Turns an archive, or a part of one, into a summary and proposed memory lines: the rules, or a language model."""

    def extract(self, transcript: "Transcript") -> "Extraction":
        """Raises `domain.errors.ExtractionFailed` when there is no valid answer to be had, and of it `AnswerCut` when
        less should be asked about at once. A language model says in both cases what it has cost."""


class Summariser(Protocol):
    """Brings a session's working memory up to date: the rules, or a language model."""

    def summarise(self, update: "Update") -> "Summary":
        """Raises `domain.errors.ExtractionFailed` when no valid document is to be had, and of it `AnswerCut` when fewer
        messages should be asked about at once. A language model says in both cases what it has cost."""


class Named(Protocol):
    @property
    def name(self) -> str:
        """Names the language model, and by which instructions it was asked."""


class Settler(Named, Protocol):
    """A language model that says which lines no longer hold where several sessions meet on one memory file."""

    def settle(self, meeting: "Meeting") -> "Settlement":
        """One request, never repeated. Raises `domain.errors.ExtractionFailed` when there is no valid answer."""


class Analyst(Named, Protocol):
    """A language model that says what a run of a task teaches."""

    def analyse(self, attempt: "Attempt") -> "Insight":
        """Raises `domain.errors.ExtractionFailed` when there is no valid answer to be had."""


class Embedder(Protocol):
    """Turns texts into vectors whose angles say how alike the texts are."""

    name: str
    """Names the model and its dimensions: only vectors of one name are compared."""

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[Sequence[float]]:
        """One vector for each text. `query`: the texts are what is searched for. Raises Ambiguous without an answer."""


class TokenCounter(Protocol):
    def count(self, text: str) -> int:
        """Tokens of any text, however odd; never raises for a text."""


class Clock(Protocol):
    def now(self) -> datetime:
        """The present, in UTC."""

    def sleep(self, seconds: float) -> None:
        """Waits."""


class Ids(Protocol):
    def new(self) -> str:
        """32 hex digits that never come twice."""

    def fraction(self) -> float:
        """A random number in [0, 1), for jitter."""
