"""What one archive changed in the memories: its `memory_diff.json`."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from strandline.domain.address import archive_uri, memory_uri
from strandline.domain.candidates import Candidates
from strandline.domain.memory import Memory
from strandline.domain.patch import Skipped
from strandline.domain.settlement import Settlement
from strandline.storage.layout import Life, User


@dataclass(frozen=True)
class Effect:
    """A memory before and after one extraction was absorbed; the same on both sides when it added nothing. `skipped`
    are its patches that found no place; `again`: an earlier attempt had absorbed it."""

    before: Memory | None
    after: Memory | None
    skipped: Sequence[Skipped] = ()
    again: bool = False

    @property
    def changed(self) -> bool:
        return self.after is not None and (self.before is None or self.before.body != self.after.body)


@dataclass(frozen=True)
class Effects:
    """What one extraction did, by path, and what a language model settled where it met other sessions."""

    by_path: Mapping[str, Effect]
    settled: Mapping[str, Settlement]


def diff(candidates: Candidates, made: Effects, owner: User, *, life: Life, number: int) -> bytes:
    """The diff as JSON: adds carry `after`, updates also `before`; what was rejected, and patches without a place, are
    listed with their reasons."""
    effects = made.by_path
    adds: list[dict[str, Any]] = []
    updates: list[dict[str, Any]] = []
    for path, effect in sorted(effects.items()):
        if effect.after is None or not effect.changed:
            continue
        entry = {"uri": memory_uri(owner.user_id, path), "memory_type": effect.after.type}
        if effect.before is None:
            adds.append({**entry, "after": effect.after.body})
        else:
            updates.append({**entry, "before": effect.before.body, "after": effect.after.body})
    record = {
        "archive_uri": archive_uri(owner.user_id, life.session.session_id, number),
        "extraction": candidates.extraction,
        "extractor": candidates.extractor,
        "types": dict(candidates.types),
        **_operations(adds, updates),
        "rejected": [refused.model_dump() for refused in candidates.rejected],
        "skipped": list(_skipped(effects, owner)),
        "settled": [_settled(path, each, owner) for path, each in sorted(made.settled.items())],
    }
    return json.dumps(record, ensure_ascii=False, indent=1).encode()


def no_diff(owner: User, life: Life, number: int, extraction: str, at: str) -> bytes:
    """The diff of an archive that was rolled back before it was merged: it changed nothing, and never will."""
    record = {
        "archive_uri": archive_uri(owner.user_id, life.session.session_id, number),
        "extraction": extraction,
        "rolled_back_at": at,
        **_operations([], []),
        "rejected": [],
        "skipped": [],
    }
    return json.dumps(record, ensure_ascii=False, indent=1).encode()


def _operations(adds: Sequence[dict[str, Any]], updates: Sequence[dict[str, Any]]) -> dict[str, Any]:
    by_type = Counter(entry["memory_type"] for entry in (*adds, *updates))
    return {
        "operations": {"adds": adds, "updates": updates, "deletes": []},
        "summary": {
            "total_adds": len(adds),
            "total_updates": len(updates),
            "total_deletes": 0,
            "by_type": {"total": len(adds) + len(updates), **by_type},
        },
    }


def _skipped(effects: Mapping[str, Effect], owner: User) -> Iterator[dict[str, Any]]:
    for path, effect in sorted(effects.items()):
        for each in effect.skipped:
            source = each.patch.source
            yield {
                "uri": memory_uri(owner.user_id, path),
                "field": each.patch.field,
                "reason": each.reason,
                "seq_from": source.seq_from,
                "seq_to": source.seq_to,
            }


def _settled(path: str, settlement: Settlement, owner: User) -> dict[str, Any]:
    """By whom, at what cost, and why it came to nothing where it did."""
    return {
        "uri": memory_uri(owner.user_id, path),
        "model": settlement.model,
        "ended": len(settlement.ends),
        "tokens": settlement.usage.model_dump(mode="json") if settlement.usage else None,
        "reason": settlement.reason,
    }
