"""What the raw stores hold, each thing parsed once. Codecs and keys are the product's; what is put together from them
is put together here, not by the product's own reading."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from strandline.domain.candidates import Candidates
from strandline.domain.contracts import ExtractRequested
from strandline.domain.events import Event
from strandline.domain.memory import Memory, read_lines
from strandline.domain.session import Head
from strandline.ports import Item
from strandline.storage.codec import HeadCodec
from strandline.storage.index import Catalogue, IndexCodec
from strandline.storage.journal import TailCodec
from strandline.storage.layout import Life, User
from strandline.storage.log import ref
from strandline.storage.markdown import MemoryCodec
from strandline.storage.parsing import memory_path, owner_of, session_of_head
from tests.fakes import MemoryItems, MemoryObjects, MemoryQueue

Queues = Mapping[str, MemoryQueue]
"""By name. What a queue has given up is in its `dead`, where it has that."""

_RANGE = re.compile(r"(\d{12})-(\d{12})\.jsonl$", re.ASCII)
_LIFE = re.compile(r"^v1/[^/]+/[^/]+/sessions/[^/]+/([^/]+)/.", re.ASCII)


@dataclass(frozen=True)
class Message:
    """A stored line."""

    seq: int
    id: str
    text: str
    tokens: int
    at: str
    line: bytes


def message(line: bytes) -> Message:
    row = json.loads(line)
    text = row["content"] if "content" in row else "\n".join(p.get("text", "") for p in row["parts"])
    return Message(row["seq"], row["id"], text, row["tokens"], row["created_at"], line)


@lru_cache(500)
def memory_of(body: bytes) -> Memory:
    """A memory file. Many runs hold the same ones."""
    return MemoryCodec().decode(body)[0]


def spelled(first: int, last: int) -> str:
    """A range as it is in a key."""
    return f"{first:012d}-{last:012d}"


def lines_of(body: bytes) -> list[bytes]:
    """The lines of an object that holds whole lines."""
    lines = body.split(b"\n")
    return lines if lines[-1] else lines[:-1]


@dataclass(frozen=True)
class File:
    """A memory file."""

    owner: User
    path: str
    front: str
    body: str

    @property
    def applied(self) -> list[str]:
        """The extractions that the file says it has absorbed, as often as it says so."""
        _, _, rest = self.front.partition("\napplied:")
        return re.findall(r"^- '?([0-9a-f]{12})'?$", rest, re.MULTILINE)

    @property
    def lines(self) -> list[str]:
        """The sourced lines, as they stand there."""
        sourced, _ = read_lines(self.body)
        return [str(line) for line in sourced]


class Session:
    """A living session and everything below its life."""

    def __init__(self, raw: "Raw", head: Head) -> None:
        self.raw = raw
        self.head = head
        self.life = Life(ref(head))
        self.owner = User(head.account_id, head.user_id)

    def __str__(self) -> str:
        return f"{self.owner.account_id}/{self.owner.user_id}/{self.head.session_id}"

    @cached_property
    def objects(self) -> dict[str, bytes]:
        """Key behind the life's prefix → body."""
        prefix = self.life.prefix
        return {key[len(prefix) :]: body for key, body in self.raw.current.items() if key.startswith(prefix)}

    @cached_property
    def done(self) -> dict[int, dict[str, Any]]:
        """`done.json` by archive."""
        found = {}
        for key, body in self.objects.items():
            if key.startswith("archives/") and key.endswith("/done.json"):
                found[int(key.split("/")[1])] = json.loads(body)
        return found

    @cached_property
    def ranges(self) -> dict[int, tuple[int, int]]:
        """(first, last) by archive, as the head says of what is not done, and `done.json` of what is."""
        known = {number: (row["first_seq"], row["last_seq"]) for number, row in self.done.items()}
        known |= {a.number: (a.first, a.last) for a in (*self.head.pending, *self.head.failed)}
        return dict(sorted(known.items()))

    @cached_property
    def copies(self) -> dict[str, tuple[int, int, list[bytes]]]:
        """Every object that holds messages, whether anything refers to it or not: (first, last, lines) by key."""
        found = {}
        for key, body in self.objects.items():
            span = _RANGE.search(key)
            if span:
                found[key] = (int(span[1]), int(span[2]), lines_of(body))
        return found

    @cached_property
    def archived(self) -> list[Message]:
        """What the archives hold, in order; of one whose object is missing nothing."""
        found: list[Message] = []
        for number, span in self.ranges.items():
            found += self._held(f"archives/{number:012d}/messages.{spelled(*span)}.jsonl")
        return found

    @cached_property
    def live(self) -> list[Message]:
        """What is live: in segments, then in the tail."""
        found: list[Message] = []
        for segment in self.head.segments:
            found += self._held(f"segments/{spelled(segment.first, segment.last)}.jsonl")
        return [m for m in (*found, *map(message, self.head.tail)) if m.seq >= self.head.live_from]

    def _held(self, key: str) -> list[Message]:
        """The messages of an object; none where there is no such object."""
        return [message(line) for line in self.copies[key][2]] if key in self.copies else []

    @cached_property
    def log(self) -> list[Message]:
        """All of its messages where they are: first those in archives, then the live ones."""
        return [*self.archived, *self.live]

    def file(self, number: int, name: str) -> Any:
        """A JSON object of an archive, or None."""
        body = self.objects.get(f"archives/{number:012d}/{name}")
        return None if body is None else json.loads(body)

    @cached_property
    def uses(self) -> list[tuple[int, str]]:
        """(seq by then, path) of each memory that the session has reported to have used."""
        body = self.objects.get("used.json")
        rows = json.loads(body)["uses"] if body else []
        return [(row["seq"], path) for row in rows for path in row["memories"]]

    @cached_property
    def learned(self) -> dict[int, Candidates]:
        """What each archive has taught, once it is known to have been taken in."""
        known = [n for n in self.done if self.file(n, "learn_diff.json") is not None]
        found = {n: self.file(n, "learned.json") for n in known}
        return {n: Candidates.model_validate(row) for n, row in found.items() if row is not None}

    @cached_property
    def candidates(self) -> dict[int, Candidates]:
        """What was extracted, of each archive that is done."""
        found = {n: self.file(n, "candidates.json") for n in self.done}
        return {n: Candidates.model_validate(row) for n, row in found.items() if row is not None}


class Raw:
    """A picture of the stores."""

    def __init__(
        self,
        objects: MemoryObjects,
        items: MemoryItems,
        queues: Queues,
        published: Sequence[Event] | None = None,
    ) -> None:
        self.versions: Mapping[str, Sequence[bytes | None]] = objects.everything()
        self.rows: Sequence[Item] = items.rows()
        self.turns: Sequence[tuple[str, str, str]] = getattr(items, "turns", ())
        self.published = published
        self.at = objects._clock.now()
        self.now = self.at.timestamp()
        self.sent = [m for queue in queues.values() for m in queue.sent if isinstance(m, ExtractRequested)]
        self.waiting = {name: [d.message for d in queue._waiting] for name, queue in queues.items()}
        self.dead = {name: [d.message for d in getattr(queue, "dead", ())] for name, queue in queues.items()}

    @cached_property
    def current(self) -> dict[str, bytes]:
        """What a plain GET finds."""
        return {key: bodies[-1] for key, bodies in self.versions.items() if bodies[-1] is not None}

    @cached_property
    def heads(self) -> list[Head]:
        """Of living sessions, and gravestones."""
        codec = HeadCodec()
        return [codec.decode(body)[0] for key, body in self.current.items() if session_of_head(key)]

    @cached_property
    def sessions(self) -> list[Session]:
        """The living ones."""
        return [Session(self, head) for head in self.heads if not head.buried_at]

    @cached_property
    def by_life(self) -> dict[str, Session]:
        """Living sessions by incarnation."""
        return {session.head.incarnation: session for session in self.sessions}

    @cached_property
    def owners(self) -> list[User]:
        """Everybody who has anything in the bucket."""
        return sorted({owner_of(key) for key in self.versions}, key=lambda user: user.prefix)

    @cached_property
    def files(self) -> dict[tuple[User, str], File]:
        """Memory files by owner and path; gravestones of deleted ones are none."""
        found = {}
        for key, body in self.current.items():
            place = memory_path(key)
            if place:
                front, _, text = body.decode().partition("\n---\n\n")
                if "\ndeleted_at:" not in front:
                    found[place] = File(*place, front, text)
        return found

    @cached_property
    def learnt(self) -> dict[tuple[User, str], Memory]:
        """Cases, trajectories and experiences."""
        return {
            (owner, path): memory_of(self.current[owner.memory(path)])
            for owner, path in self.files
            if path.startswith(("cases/", "trajectories/", "experiences/"))
        }

    def catalogue(self, owner: User, kind: str) -> Catalogue:
        """A user's index; an empty one where there is none."""
        body = self.current.get(owner.index(kind))
        return Catalogue() if body is None else IndexCodec().decode(body)[0]

    @cached_property
    def journals(self) -> dict[User, list[dict[str, Any]]]:
        """Every event by user, in order of the journal's objects."""
        return {owner: list(self._events(owner)) for owner in self.owners}

    def _events(self, owner: User) -> Iterator[dict[str, Any]]:
        body = self.current.get(owner.journal_head)
        if body is None:
            return
        tail, _ = TailCodec().decode(body)
        runs = sorted(
            key for key in self.current if key.startswith(f"{owner.prefix}journal/{tail.incarnation}/")
        )
        for key in runs:
            first = int(key.rsplit("/", 1)[1].removesuffix(".jsonl"))
            if first < tail.first:
                yield from map(json.loads, self.current[key].split(b"\n"))
        yield from map(json.loads, tail.records)

    def partition(self, kind: str) -> Iterator[Item]:
        """Items whose partition is of that kind: `TASKS`, `DUE`, …; those that have expired are as good as gone."""
        for row in self.rows:
            if row["pk"].startswith(f"{kind}#") and (row.get("expires_at") or self.now + 1) > self.now:
                yield row


def life_of(key: str) -> str | None:
    """The incarnation in the key of anything below a session's life; None for any other key."""
    match = _LIFE.match(key)
    return match[1] if match else None
