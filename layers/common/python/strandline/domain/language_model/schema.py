"""The JSON schema of an answer, made of the memory types' declarations: one list of facts a type.

Only keywords that every endpoint takes: bounds are said in the instructions and enforced when the answer is read.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from strandline.domain.language_model.speakers import UNCLEAR
from strandline.domain.memory_types import MemoryType

Schema = Mapping[str, Any]
_NOTHING: Mapping[str, Schema] = {}
ATTRIBUTES = ("home", "employer", "occupation", "relationship", "diet")
"""Of which only the newest holds. The rules know the same (`rules/standing.py`)."""


def schema(
    labels: Iterable[str], types: Iterable[MemoryType], besides: Mapping[str, Schema] = _NOTHING
) -> Schema:
    """The schema of an answer about a part with these speakers, that looks for these types and what is `besides`."""
    speaker = {
        "type": "string",
        "enum": [*labels, UNCLEAR],
        "description": "id of the speaker whose words are quoted",
    }
    return object_of(
        {
            "abstract": text("one or two sentences: what this was about, with names and dates"),
            **{kind.name: _facts(kind, speaker) for kind in types},
            **besides,
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
    identity = {name: text(f"{name} of the memory, one to four words") for name in kind.identity}
    fact = object_of(
        {
            **identity,
            "text": text("the fact: one sentence that stands on its own, people named, dates absolute"),
            "speaker": speaker,
            "seq_from": {"type": "integer", "description": "seq of the first message it is taken from"},
            "seq_to": {"type": "integer", "description": "seq of the last one"},
            "quote": text("words of one of these messages, copied exactly, that say it"),
            **(_STANDING if kind.mode == "upsert" else {}),
        }
    )
    return {"type": "array", "description": kind.instruction, "items": fact}


def object_of(properties: Mapping[str, Schema]) -> dict[str, Any]:
    """An object with all of these."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def text(description: str) -> Schema:
    """Any text."""
    return {"type": "string", "description": description}
