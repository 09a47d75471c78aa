"""How usage becomes a JSON document and comes back."""

import json
from collections.abc import Mapping
from dataclasses import astuple
from typing import Any, TypeVar

from strandline.domain.message import dumps
from strandline.domain.usage import SessionUsage, Tally, Totals, Use
from strandline.storage.document import Stamp

SCHEMA = 1
V = TypeVar("V")


class SessionUsageCodec:
    def encode(self, value: SessionUsage, stamp: Stamp) -> bytes:
        uses = [{**vars(use), "memories": list(use.memories)} for use in value.uses]
        return _encoded(stamp, last=value.last, memories=_rows(value.tallies), uses=uses)

    def decode(self, body: bytes) -> tuple[SessionUsage, Stamp]:
        row = _decoded(body)
        uses = tuple(Use(**{**use, "memories": tuple(use["memories"])}) for use in row["uses"])
        return SessionUsage(row["last"], _tallies(row["memories"]), uses), _stamp(row)


class TotalsCodec:
    def encode(self, value: Totals, stamp: Stamp) -> bytes:
        return _encoded(stamp, memories=_rows(value.tallies), taken=dict(value.taken))

    def decode(self, body: bytes) -> tuple[Totals, Stamp]:
        row = _decoded(body)
        return Totals(_tallies(row["memories"]), row["taken"]), _stamp(row)


def _encoded(stamp: Stamp, **fields: Any) -> bytes:
    return dumps({"schema": SCHEMA, "revision": stamp.revision, "writes": stamp.writes, **fields})


def _decoded(body: bytes) -> dict[str, Any]:
    row: dict[str, Any] = json.loads(body)
    if row["schema"] != SCHEMA:
        raise ValueError(f"usage has schema {row['schema']}, this code reads {SCHEMA}")
    return row


def _stamp(row: Mapping[str, Any]) -> Stamp:
    return Stamp(row["revision"], tuple((w, r) for w, r in row["writes"]))


def _rows(tallies: Mapping[str, Tally]) -> dict[str, tuple[Any, ...]]:
    return {path: astuple(tally) for path, tally in sorted(tallies.items())}


def _tallies(rows: Mapping[str, Any]) -> dict[str, Tally]:
    return {path: Tally(*row) for path, row in rows.items()}
