"""LoCoMo: long conversations of two speakers in dated sessions, `session_<n>` beside `session_<n>_date_time`.

session n -> session <sample_id>-session-<n>     turn -> user message, dia_id -> message id
speaker -> peer                                  the session's time, taken as UTC -> created_at
image caption -> " [image: <caption>]" after the text
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from strandline_sdk.importers import times
from strandline_sdk.importers.imported import Entry, ImportedSession, InputError, Place, peer
from strandline_sdk.importers.session_ids import accepted
from strandline_sdk.model import Message

_SESSION = re.compile(r"session_(\d+)")


def recognises(first: Entry) -> bool:
    """Whether a file's first entry is a LoCoMo conversation."""
    return isinstance(first.value, dict) and isinstance(first.value.get("conversation"), dict)


def sessions(entries: Iterable[Entry]) -> Iterator[ImportedSession]:
    """The sessions of every conversation, in the order of their numbers; numbers without turns are passed over."""
    for entry in entries:
        yield from _conversation(entry)


def _conversation(entry: Entry) -> Iterator[ImportedSession]:
    if not recognises(entry):
        raise InputError(entry.place, "no LoCoMo conversation: an object with 'sample_id' and 'conversation'")
    sample = _text(entry.value, "sample_id", entry.place)
    place = entry.place.at(f"conversation {sample}")
    talk = entry.value["conversation"]
    for number in sorted(int(match[1]) for match in map(_SESSION.fullmatch, talk) if match):
        if talk[f"session_{number}"]:
            messages = _session(talk, number, place.at(f"session_{number}"))
            yield ImportedSession(accepted(f"{sample}-session-{number}"), sample, messages)


def _session(talk: Mapping[str, Any], number: int, place: Place) -> list[Message]:
    created_at = times.from_spoken(talk.get(f"session_{number}_date_time"), place.at("date_time"))
    turns = talk[f"session_{number}"]
    if not isinstance(turns, list):
        raise InputError(place, "must be a list of turns")
    return [_turn(turn, created_at, place.at(f"turn {n}")) for n, turn in enumerate(turns, start=1)]


def _turn(turn: object, created_at: str, place: Place) -> Message:
    if not isinstance(turn, dict):
        raise InputError(place, "must be an object with 'speaker', 'dia_id' and 'text'")
    text = _text(turn, "text", place)
    caption = turn.get("blip_caption")
    return {
        "id": _text(turn, "dia_id", place),
        "role": "user",
        "peer_id": peer(_text(turn, "speaker", place), place),
        "content": f"{text} [image: {caption}]" if caption else text,
        "created_at": created_at,
    }


def _text(owner: Mapping[str, Any], field: str, place: Place) -> str:
    value = owner.get(field)
    if not isinstance(value, str) or not value:
        raise InputError(place, f"'{field}' must be a non-empty string, not {value!r}")
    return value
