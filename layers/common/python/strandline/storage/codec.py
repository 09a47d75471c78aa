"""How the session head becomes bytes and comes back.

The head is one JSON object: `schema`, `revision`, `writes`, the meta, and last the `tail`, whose messages are the
stored lines byte for byte, one a line. Writing joins lines that are encoded already, and reading cuts them apart
without looking into them (compact JSON holds no raw newline), so an append costs what its own messages cost, plus a
copy.
"""

import base64
import json
from dataclasses import fields
from typing import Any

from strandline.domain.message import dumps
from strandline.domain.session import Archive, Head, Segment
from strandline.storage.document import Stamp

SCHEMA = 1
_TAIL = b',"tail":[\n'
_PLAIN = tuple(
    f.name
    for f in fields(Head)
    if f.name
    not in {
        "segments",
        "tail",
        "ids",
        "pending",
        "failed",
        "keyed",
        "follows",
        "live_since",
        "mark",
        "compaction",
    }
)
_OPTIONAL = ("follows", "live_since", "mark", "compaction")


class HeadCodec:
    def encode(self, value: Head, stamp: Stamp) -> bytes:
        meta = {"schema": SCHEMA, "revision": stamp.revision, "writes": stamp.writes}
        meta |= {name: getattr(value, name) for name in _PLAIN}
        meta["ids"] = base64.b64encode(value.ids).decode()
        meta["segments"] = [(s.first, s.last, s.tokens, s.bytes) for s in value.segments]
        meta["pending"] = [_archive_row(a) for a in value.pending]
        meta["failed"] = [_archive_row(a) for a in value.failed]
        meta |= {name: there for name in _OPTIONAL if (there := getattr(value, name))}
        if value.keyed:
            meta["keyed"] = [_archive_row(a) for a in value.keyed]
        return b"%s%s%s]}" % (dumps(meta)[:-1], _TAIL, b",\n".join(value.tail))

    def decode(self, body: bytes) -> tuple[Head, Stamp]:
        meta, _, tail = body.partition(_TAIL)
        row: dict[str, Any] = json.loads(meta + b"}")
        if row["schema"] != SCHEMA:
            raise ValueError(f"session head has schema {row['schema']}, this code reads {SCHEMA}")
        head = Head(
            **{name: row[name] for name in _PLAIN},
            ids=base64.b64decode(row["ids"]),
            segments=tuple(Segment(*s) for s in row["segments"]),
            pending=tuple(Archive(*a) for a in row["pending"]),
            failed=tuple(Archive(*a) for a in row["failed"]),
            follows=row.get("follows"),
            live_since=row.get("live_since"),
            mark=row.get("mark"),
            compaction=row.get("compaction"),
            keyed=tuple(Archive(*a) for a in row.get("keyed", ())),
            tail=tuple(tail[:-2].split(b",\n")) if len(tail) > 2 else (),
        )
        return head, Stamp(row["revision"], tuple((w, r) for w, r in row["writes"]))


def _archive_row(archive: Archive) -> tuple[int | str | None, ...]:
    told = (archive.reason, archive.by, archive.failed_at, archive.task)
    return archive.number, archive.first, archive.last, archive.at, *told
