"""How what has been decided of a session's context becomes a JSON document and comes back."""

import json
from dataclasses import astuple, fields
from typing import Any

from strandline.domain.compaction.state import Baseline, Compaction, ContextState, Decision, Pin, Place
from strandline.domain.message import dumps
from strandline.storage.document import Stamp

SCHEMA = 1
_PARTS = {"baseline": Baseline, "compaction": Compaction, "pin": Pin}
_PLAIN = tuple(f.name for f in fields(ContextState) if f.name not in {"decisions", "handed_out", *_PARTS})


class ContextCodec:
    def encode(self, value: ContextState, stamp: Stamp) -> bytes:
        row: dict[str, Any] = {"schema": SCHEMA, "revision": stamp.revision, "writes": stamp.writes}
        row |= {name: getattr(value, name) for name in _PLAIN}
        row["decisions"] = [
            (seq, part, decision.by, decision.chars)
            for (seq, part), decision in sorted(value.decisions.items(), key=lambda each: _order(each[0]))
        ]
        if value.handed_out:
            row["handed_out"] = dict(sorted(value.handed_out.items()))
        row |= {name: astuple(part) for name in _PARTS if (part := getattr(value, name))}
        return dumps(row)

    def decode(self, body: bytes) -> tuple[ContextState, Stamp]:
        row: dict[str, Any] = json.loads(body)
        if row["schema"] != SCHEMA:
            raise ValueError(f"a context has schema {row['schema']}, this code reads {SCHEMA}")
        state = ContextState(
            **{name: row[name] for name in _PLAIN if name in row},
            decisions={(seq, part): Decision(by, chars) for seq, part, by, chars in row["decisions"]},
            handed_out={path: tuple(seqs) for path, seqs in row.get("handed_out", {}).items()},
            **{name: part(*row[name]) for name, part in _PARTS.items() if name in row},
        )
        return state, Stamp(row["revision"], tuple((w, r) for w, r in row["writes"]))


def _order(place: Place) -> tuple[int, int]:
    seq, part = place
    return seq, -1 if part is None else part
