from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from strandline.domain.extraction import Extraction, Proposal, Transcript, Turn
from strandline.domain.rules import extract
from strandline.domain.times import stamp
from strandline.domain.working_memory.by_rules import updated
from strandline.domain.working_memory.document import Document, render

CASES = Path(__file__).parents[2] / "cases" / "rules"


def given(case: dict[str, Any]) -> Transcript:
    at: datetime = case["at"]
    turns = tuple(
        Turn(seq=i, role=m.get("role", "user"), speaker=m.get("speaker"), text=m["text"], at=at)
        for i, m in enumerate(case["messages"], 1)
    )
    return Transcript(session_id="case", archive=1, turns=turns)


def stored(case: dict[str, Any]) -> list[dict[str, Any]]:
    """The same as they are stored."""
    return [
        {
            "seq": turn.seq,
            "role": turn.role,
            "content": turn.text,
            "created_at": stamp(turn.at),
            **({"peer_id": turn.speaker} if turn.speaker else {}),
        }
        for turn in given(case).turns
    ]


def file_of(proposal: Proposal) -> str:
    """`events Ben`, `preferences/food user`: the memory file, and whose."""
    named = [] if proposal.memory_type == "events" else proposal.fields.values()
    return f"{'/'.join([proposal.memory_type, *named])} {proposal.peer or 'user'}"


def files_of(extraction: Extraction) -> dict[str, list[str]]:
    """The lines of each memory file, each behind its span: `2-3 Ben moved.`"""
    return {file_of(p): [f"{c.seq_from}-{c.seq_to} {c.text}" for c in p.claims] for p in extraction.proposals}


@pytest.mark.parametrize("path", sorted(CASES.glob("*.yaml")), ids=lambda p: p.stem)
def test_case(path: Path) -> None:
    case = yaml.safe_load(path.read_text("utf-8"))
    extraction = extract(given(case))
    assert files_of(extraction) == case["files"]
    assert extraction.abstract == case["abstract"]
    assert render(updated(Document(), stored(case))) == case["overview"]
