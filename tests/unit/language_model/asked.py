"""Builds transcripts and answers for these tests."""

import json
from datetime import datetime, timedelta, timezone
from typing import Any

from strandline.domain.extraction import Extraction, Transcript, Turn
from strandline.domain.language_model.answer import read
from strandline.domain.memory_types import BY_DEFAULT

AT = datetime(2023, 5, 8, 13, 56, tzinfo=timezone(timedelta(hours=2)))  # a Monday


def transcript(*said: tuple[str | None, str] | str, role: str = "user", first: int = 1) -> Transcript:
    """Messages of (speaker, text), or texts of the user, an hour apart."""
    turns = []
    for n, each in enumerate(said):
        speaker, text = (None, each) if isinstance(each, str) else each
        at = AT + timedelta(hours=n)
        turns.append(Turn(seq=first + n, role=role, speaker=speaker, text=text, at=at))
    return Transcript(session_id="s1", archive=1, turns=tuple(turns))


TALK = transcript(
    ("Ann", "I bought a red canoe yesterday."), ("Bob", "Nice! I never learnt to swim, you know.")
)


def answer(**lists: Any) -> dict[str, Any]:
    """A valid answer with these lists; the others are empty."""
    empty = {name: [] for name in (kind.name for kind in BY_DEFAULT)}
    return {"abstract": "Ann and Bob talked.", **empty, **lists}


def fact(**fields: Any) -> dict[str, Any]:
    """A good fact about TALK, with these fields otherwise."""
    good = {
        "text": "Ann bought a red canoe on 7 May 2023.",
        "speaker": "S1",
        "seq_from": 1,
        "seq_to": 1,
        "quote": "I bought a red canoe",
    }
    return {**good, **fields}


def extraction(given: Any, of: Transcript = TALK) -> Extraction:
    return read(given if isinstance(given, str) else json.loads(json.dumps(given)), of, "test/1")
