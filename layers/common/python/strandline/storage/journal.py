"""A user's journal: every event in the order in which it was written down, numbered from 1 without a gap.

One document holds the newest records; each 32 of them move to an immutable object. A record gets its number with the
write that stores it, so none can appear before one that a reader has seen already: whoever follows by `after` misses
nothing, however late or at once they are written. Ids sort like the numbers they begin with.

    journal/head.json                       CAS document: the last number, the newest ids, the newest records
    journal/<incarnation>/<first>.jsonl     immutable: 32 records

The document knows the newest 256 ids again, so an event told of twice is one record. An erased journal begins again
with another incarnation: nothing of the old one can land in it.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from strandline.domain.errors import Aborted, Corrupt, InvalidArgument
from strandline.ports import Clock, Ids, ObjectStore
from strandline.storage.document import Change, Documents, Stamp
from strandline.storage.layout import User
from strandline.storage.once import fetch, write_once

SCHEMA = 1
RUN = 32
KNOWN = 256
WARM = 64
ATTEMPTS = 8
_ID = re.compile(r"(\d{12})-[0-9a-f]{16}", re.ASCII)


@dataclass(frozen=True)
class Tail:
    """The document: `records` are the newest ones as JSON, up to the number `last`; `ids` the newest ids."""

    incarnation: str
    last: int = 0
    ids: tuple[str, ...] = ()
    records: tuple[str, ...] = ()

    @property
    def first(self) -> int:
        return self.last - len(self.records) + 1

    def find(self, digest: str) -> str | None:
        return next((known for known in reversed(self.ids) if known.endswith(f"-{digest}")), None)


class _Full(Exception):
    """The document's records must move out first."""

    def __init__(self, tail: Tail) -> None:
        super().__init__()
        self.tail = tail


class TailCodec:
    def encode(self, value: Tail, stamp: Stamp) -> bytes:
        row = {
            "schema": SCHEMA,
            "revision": stamp.revision,
            "writes": stamp.writes,
            "incarnation": value.incarnation,
            "last": value.last,
            "ids": value.ids,
            "records": [json.loads(record) for record in value.records],
        }
        return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode()

    def decode(self, body: bytes) -> tuple[Tail, Stamp]:
        row = json.loads(body)
        if row["schema"] != SCHEMA:
            raise ValueError(f"journal has schema {row['schema']}, this code reads {SCHEMA}")
        records = tuple(json.dumps(r, ensure_ascii=False, separators=(",", ":")) for r in row["records"])
        tail = Tail(row["incarnation"], row["last"], tuple(row["ids"]), records)
        return tail, Stamp(row["revision"], tuple((w, r) for w, r in row["writes"]))


class Journals:
    """The journals of all users."""

    def __init__(self, store: ObjectStore, clock: Clock, ids: Ids) -> None:
        self._store = store
        self._ids = ids
        self._documents = Documents(store, TailCodec(), clock, ids, warm=WARM)

    def add(self, owner: User, digest: str, event: Mapping[str, Any]) -> tuple[str, bool]:
        """Writes an event down under a new id; answers the id, and False when it was there before.

        Raises Aborted, Unavailable: repeating is safe.
        """
        begun, spilled = self._ids.new(), 0
        for _ in range(ATTEMPTS):
            change = partial(_added, begun=begun, digest=digest, event=event, spilled=spilled)
            try:
                return self._documents.update(owner.journal_head, change)
            except _Full:
                spilled = self._spill(owner)
        raise Aborted("too many writers of one journal at once; repeat the request")

    def _spill(self, owner: User) -> int:
        """Stores the document's records as an object of their own; answers the number of the first."""
        found = self._documents.read(owner.journal_head)  # what was remembered may be an erased journal
        if found is None or len(found.value.records) < RUN:
            return 0
        tail = found.value
        write_once(
            self._store, owner.journal_run(tail.incarnation, tail.first), "\n".join(tail.records).encode()
        )
        return tail.first

    def rewrite(self, owner: User, clean: Callable[[str], str]) -> None:
        """Puts what `clean` makes of them in place of the document's records. Raises Aborted, Unavailable."""

        def change(tail: Tail | None) -> Change[Tail, None]:
            records = tuple(map(clean, tail.records)) if tail else ()
            return Change(replace(tail, records=records) if tail and records != tail.records else None, None)

        self._documents.update(owner.journal_head, change)

    def page(self, owner: User, *, after: str | None, limit: int) -> list[dict[str, Any]]:
        """The events behind the id `after`, oldest first. Raises InvalidArgument for an id that is not in it."""
        found = self._documents.read_warm(owner.journal_head)
        tail = found.value if found else Tail("")
        start = self._number(owner, tail, after) + 1
        end = min(start + limit - 1, tail.last)
        records: list[str] = []
        number = start
        while number <= end:
            first, run = self._run(owner, tail, number)
            records += run[number - first : end - first + 1]
            number = first + len(run)
        return [json.loads(record) for record in records]

    def find(self, owner: User, digest: str) -> dict[str, Any] | None:
        """The event as it was written down, if it is among the newest that are known again."""
        found = self._documents.read_warm(owner.journal_head)
        identity = found.value.find(digest) if found else None
        if found is None or identity is None:
            return None
        number = int(identity.partition("-")[0])
        first, run = self._run(owner, found.value, number)
        record: dict[str, Any] = json.loads(run[number - first])
        return record

    def _number(self, owner: User, tail: Tail, after: str | None) -> int:
        if not after:
            return 0
        match = _ID.fullmatch(after)
        number = int(match[1]) if match else 0
        if 1 <= number <= tail.last:
            first, run = self._run(owner, tail, number)
            if json.loads(run[number - first])["id"] == after:
                return number
        raise InvalidArgument("after: there is no such id in this journal; begin again without it")

    def _run(self, owner: User, tail: Tail, number: int) -> tuple[int, tuple[str, ...]]:
        """The run that holds a record, and the number of its first."""
        if number >= tail.first:
            return tail.first, tail.records
        first = (number - 1) // RUN * RUN + 1
        body = fetch(self._store, owner.journal_run(tail.incarnation, first))
        if body is None:
            raise Corrupt("records of the journal are missing")
        return first, tuple(body.decode().split("\n"))


def _added(
    current: Tail | None, *, begun: str, digest: str, event: Mapping[str, Any], spilled: int
) -> Change[Tail, tuple[str, bool]]:
    tail = current or Tail(begun)
    known = tail.find(digest)
    if known is not None:
        return Change(None, (known, False))
    if len(tail.records) >= RUN:
        if spilled != tail.first:
            raise _Full(tail)
        tail = replace(tail, records=())
    identity = f"{tail.last + 1:012d}-{digest}"
    record = json.dumps({**event, "id": identity}, ensure_ascii=False, separators=(",", ":"))
    grown = replace(
        tail,
        last=tail.last + 1,
        ids=(*tail.ids, identity)[-KNOWN:],
        records=(*tail.records, record),
    )
    return Change(grown, (identity, True))
