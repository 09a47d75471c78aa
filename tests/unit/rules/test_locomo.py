"""How much of what is asked about real conversations the lines keep. The data is not part of the project."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from strandline.domain.extraction import Transcript, Turn
from strandline.domain.rules import extract

DATA = Path(__file__).parents[4] / "shared" / "data" / "locomo7.json"
ANSWERABLE = (1, 2, 3, 4)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not DATA.exists(), reason="the LoCoMo conversations are not in ../shared/data"),
]


def sessions(conversation: dict[str, Any]) -> Iterator[tuple[list[str], Transcript]]:
    """Each session as one archive: the ids of its turns, and its transcript."""
    for key, turns in conversation.items():
        if re.fullmatch(r"session_\d+", key):
            at = datetime.strptime(conversation[f"{key}_date_time"], "%I:%M %p on %d %B, %Y").replace(
                tzinfo=UTC
            )
            yield (
                [t["dia_id"] for t in turns],
                Transcript(
                    session_id=key,
                    archive=1,
                    turns=tuple(
                        Turn(seq=i, role="user", speaker=t["speaker"], text=text_of(t), at=at)
                        for i, t in enumerate(turns, 1)
                    ),
                ),
            )


def text_of(turn: dict[str, Any]) -> str:
    caption = turn.get("blip_caption")
    return f"{turn['text']} [image: {caption}]" if caption else str(turn["text"])


def evidence(sample: dict[str, Any], ids: set[str]) -> list[str]:
    """The turns that answer a question of the sample, for each question; ids are sometimes joined or wrong."""
    cited = [" ".join(q["evidence"]) for q in sample["qa"] if q["category"] in ANSWERABLE]
    found = [f"D{int(s)}:{int(t)}" for text in cited for s, t in re.findall(r"D(\d+):0*(\d+)", text)]
    return [turn for turn in found if turn in ids]


def test_nearly_all_turns_that_answer_a_question_are_cited_by_a_line() -> None:
    asked = kept = 0
    for sample in json.loads(DATA.read_text("utf-8")):
        ids, cited = set[str](), set[str]()
        for turn_ids, transcript in sessions(sample["conversation"]):
            ids.update(turn_ids)
            for claim in (c for p in extract(transcript).proposals for c in p.claims):
                cited.update(turn_ids[claim.seq_from - 1 : claim.seq_to])
        wanted = evidence(sample, ids)
        asked += len(wanted)
        kept += sum(turn in cited for turn in wanted)
    assert asked > 1000
    assert kept / asked >= 0.95
