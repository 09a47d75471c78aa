"""LoCoMo's questions: what is asked of which conversation, the answer, and the turns that hold it."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strandline_sdk.importers import ImportedSession

ANSWERABLE = (1, 2, 3, 4)
CATEGORIES = {1: "several turns", 2: "time", 3: "inference", 4: "one turn", 5: "not said"}
_TURN = re.compile(r"D(\d+):0*(\d+)")


@dataclass(frozen=True)
class Question:
    """One question. `evidence` are message ids of its conversation; empty where the data set names none that exists."""

    conversation: str
    number: int
    category: int
    text: str
    answer: str
    evidence: frozenset[str]


@dataclass(frozen=True)
class Turns:
    """The message ids of each session, in order: a turn's seq is its place there."""

    by_session: Mapping[str, Sequence[str]]

    @staticmethod
    def of(sessions: Sequence[ImportedSession]) -> "Turns":
        return Turns({s.session_id: [str(m.get("id")) for m in s.messages] for s in sessions})

    def cited(self, hit: Mapping[str, Any]) -> list[str]:
        """The turns that a hit stands for: a message for its own, a memory line for those of its sources."""
        if "message_id" in hit:
            return [hit["message_id"]]
        spans = ((s["session_id"], s["seq_from"], s["seq_to"]) for s in hit.get("sources") or ())
        return [
            turn for name, first, last in spans for turn in self.by_session.get(name, ())[first - 1 : last]
        ]


def questions(
    path: Path, sessions: Sequence[ImportedSession], categories: Collection[int]
) -> Iterator[Question]:
    """Those of these categories, of the conversations that were imported."""
    turns: dict[str, set[str]] = {}
    for session in sessions:
        turns.setdefault(session.conversation, set()).update(str(m.get("id")) for m in session.messages)
    for conversation in json.loads(path.read_text("utf-8")):
        name = conversation["sample_id"]
        for number, row in enumerate(conversation.get("qa", ())):
            if name in turns and row["category"] in categories:
                yield _question(name, number, row, turns[name])


def _question(name: str, number: int, row: Mapping[str, Any], known: set[str]) -> Question:
    named = " ".join(row.get("evidence") or ()).replace("D:", "D")
    evidence = frozenset(f"D{int(a)}:{int(b)}" for a, b in _TURN.findall(named)) & known
    return Question(name, number, row["category"], row["question"], str(row.get("answer", "")), evidence)
