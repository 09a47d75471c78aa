"""The JSON schema of an answer, made of the memory types' declarations: one list of facts a type.

Only keywords that every endpoint takes: bounds are said in the instructions and enforced when the answer is read.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from strandline.domain.language_model.speakers import UNCLEAR
from strandline.domain.memory_types import MemoryType

Schema = Mapping[str, Any]
ATTRIBUTES = ("home", "employer", "occupation", "relationship", "diet")
"""Of which only the newest holds. The rules know the same (`rules/standing.py`)."""


def schema(labels: Iterable[str], types: Iterable[MemoryType]) -> Schema:
    """The schema of an answer about a part with these speakers, that looks for these types."""
    speaker = {
        "type": "string",
        "enum": [*labels, UNCLEAR],
        "description": "id of the speaker whose words are quoted",
    }
    return _object(
        {
            "abstract": _text("one or two sentences: what this was about, with names and dates"),
            **{kind.name: _facts(kind, speaker) for kind in types},
        }
    )


_STANDING: Mapping[str, Schema] = {
    "attribute": {
        "type": "string",
        "enum": ["", *ATTRIBUTES],
        "description": "which of these the fact gives a new value, where it says that and nothing else; else empty",
    },
    "value": {
        "type": "string",
        "description": "that value in one to four words: Oslo, nurse, married; else empty",
    },
}
"""A fact that gives one of these a value ends an older one that gave it another."""


def _facts(kind: MemoryType, speaker: Schema) -> Schema:
    identity = {name: _text(f"{name} of the memory, one to four words") for name in kind.identity}
    fact = _object(
        {
            **identity,
            "text": _text("the fact: one sentence that stands on its own, people named, dates absolute"),
            "speaker": speaker,
            "seq_from": {"type": "integer", "description": "seq of the first message it is taken from"},
            "seq_to": {"type": "integer", "description": "seq of the last one"},
            "quote": _text("words of one of these messages, copied exactly, that say it"),
            **(_STANDING if kind.mode == "upsert" else {}),
        }
    )
    return {"type": "array", "description": kind.instruction, "items": fact}


def _object(properties: Mapping[str, Schema]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _text(description: str) -> Schema:
    return {"type": "string", "description": description}
