"""What one archive changed in the memories: its `memory_diff.json`."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from strandline.domain.candidates import Candidates
from strandline.domain.memory import Memory
from strandline.storage.layout import Life, User


@dataclass(frozen=True)
class Effect:
    """A memory before and after one extraction was absorbed; the same on both sides when it added nothing."""

    before: Memory | None
    after: Memory | None

    @property
    def changed(self) -> bool:
        return self.after is not None and (self.before is None or self.before.body != self.after.body)


def memory_uri(user_id: str, path: str) -> str:
    return f"viking://user/{user_id}/memories/{path}"


def diff(
    candidates: Candidates, effects: Mapping[str, Effect], owner: User, *, life: Life, number: int
) -> bytes:
    """The diff as JSON: adds carry `after`, updates also `before`; what was rejected is listed with its reason."""
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
    kinds = Counter(entry["memory_type"] for entry in (*adds, *updates))
    record = {
        "archive_uri": f"{session_uri(owner.user_id, life.session.session_id)}/archives/{archive_id(number)}",
        "extraction": candidates.extraction,
        "extractor": candidates.extractor,
        "operations": {"adds": adds, "updates": updates, "deletes": []},
        "rejected": [refused.model_dump() for refused in candidates.rejected],
        "summary": {
            "total_adds": len(adds),
            "total_updates": len(updates),
            "total_deletes": 0,
            "by_type": {"total": len(adds) + len(updates), **kinds},
        },
    }
    return json.dumps(record, ensure_ascii=False, indent=1).encode()


def archive_id(number: int) -> str:
    """`archive_001`, growing past 999."""
    return f"archive_{number:03d}"


def session_uri(user_id: str, session_id: str) -> str:
    return f"viking://user/{user_id}/sessions/{session_id}"


def diff_uri(user_id: str, session_id: str, number: int) -> str:
    return f"{session_uri(user_id, session_id)}/archives/{archive_id(number)}/memory_diff.json"
