"""A document of notes and a desk to change it at, for the tests of compare-and-set."""

import json
from collections.abc import Callable

from strandline.ports import Ambiguous, Contended
from strandline.storage.document import Change, Documents, Retry, Stamp
from tests.fakes import FakeClock, FakeIds, MemoryObjects

KEY = "notes.json"
LOST = Ambiguous("no answer")
RACE = Contended("409")
Notes = tuple[str, ...]


class NotesCodec:
    """A list of notes, as JSON."""

    def encode(self, value: Notes, stamp: Stamp) -> bytes:
        return json.dumps({"revision": stamp.revision, "writes": stamp.writes, "notes": value}).encode()

    def decode(self, body: bytes) -> tuple[Notes, Stamp]:
        row = json.loads(body)
        return tuple(row["notes"]), Stamp(row["revision"], tuple((w, r) for w, r in row["writes"]))


class Desk:
    """A store with faults, documents over it, and another writer whom no fault hits."""

    def __init__(self, *, warm: int = 0, retry: Retry | None = None) -> None:
        self.store = MemoryObjects()
        self.clock = FakeClock()
        self.documents = Documents(self.store, NotesCodec(), self.clock, FakeIds(1), warm=warm, retry=retry)
        self.faults, self.calls = self.store.faults, self.store.calls
        quiet = MemoryObjects()
        quiet._entries = self.store._entries
        self._other = Documents(quiet, NotesCodec(), self.clock, FakeIds(2))
        self._others = 0

    def add(self, note: str) -> int:
        """Appends a note; answers how many notes there were when it landed."""
        return self.documents.update(KEY, adding(note))

    def other(self, times: int = 1) -> None:
        """The other writer adds as many notes."""
        for _ in range(times):
            self._others += 1
            self._other.update(KEY, adding(f"other {self._others}"))

    def notes(self) -> Notes:
        found = self._other.read(KEY)
        return found.value if found else ()

    def requests(self) -> dict[str, int]:
        """Requests since the last look."""
        counted = dict(self.calls)
        self.calls.clear()
        return counted


def adding(note: str) -> Callable[[Notes | None], Change[Notes, int]]:
    def change(notes: Notes | None) -> Change[Notes, int]:
        return Change((*(notes or ()), note), len(notes or ()))

    return change
