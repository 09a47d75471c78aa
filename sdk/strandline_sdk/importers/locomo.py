"""LoCoMo: long conversations of two speakers in dated sessions, `session_<n>` beside `session_<n>_date_time`.

session n -> session <sample_id>-session-<n>     turn -> user message, dia_id -> message id
speaker -> peer                                  the session's time, taken as UTC -> created_at
image caption -> " [image: <caption>]" after the text
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from strandline_sdk.importers import times
from strandline_sdk.importers.imported import Bad, Entry, ImportedSession, InputError, Place, attempts, peer
from strandline_sdk.importers.session_ids import accepted
from strandline_sdk.model import Message

_LONGEST_ID = 256
_SESSION = re.compile(r"session_(\d+)")


def recognises(sample: Sequence[Entry]) -> bool:
    """Whether a file's first entry is a LoCoMo conversation."""
    return bool(sample) and _talk(sample[0].value) is not None


def sessions(entries: Iterable[Entry], bad: Bad) -> Iterator[ImportedSession]:
    """The sessions of every conversation, in the order of their numbers; numbers without turns are passed over."""
    for conversation in attempts(_conversation, entries, bad):
        for session in attempts(lambda part: _session(part, bad), conversation, bad):
            if session.messages:
                yield session


@dataclass(frozen=True)
class _Part:
    """One dated session of a conversation."""

    sample: str
    talk: Mapping[str, Any]
    name: str
    place: Place


def _talk(value: object) -> Mapping[str, Any] | None:
    talk = value.get("conversation") if isinstance(value, dict) else None
    return talk if isinstance(talk, dict) else None


def _conversation(entry: Entry) -> list[_Part]:
    talk = _talk(entry.value)
    if talk is None:
        raise InputError(entry.place, "no LoCoMo conversation: an object with 'sample_id' and 'conversation'")
    sample = _text(entry.value, "sample_id", entry.place)
    place = entry.place.at(f"conversation {sample}")
    numbers = sorted(int(match[1]) for match in map(_SESSION.fullmatch, talk) if match)
    names = [f"session_{number}" for number in numbers]
    return [_Part(sample, talk, name, place.at(name)) for name in names if talk[name]]


def _session(part: _Part, bad: Bad) -> ImportedSession:
    created_at = times.from_spoken(part.talk.get(f"{part.name}_date_time"), part.place.at("date_time"))
    turns = part.talk[part.name]
    if not isinstance(turns, list):
        raise InputError(part.place, "must be a list of turns")
    placed = [Entry(turn, part.place.at(f"turn {n}")) for n, turn in enumerate(turns, start=1)]
    said = list(attempts(lambda turn: (_turn(turn.value, created_at, turn.place), turn.place), placed, bad))
    session_id = accepted(f"{part.sample}-{part.name.replace('_', '-')}")
    return ImportedSession(session_id, part.sample, [m for m, _ in said], [place for _, place in said])


def _turn(turn: object, created_at: str, place: Place) -> Message:
    if not isinstance(turn, dict):
        raise InputError(place, "must be an object with 'speaker', 'dia_id' and 'text'")
    text = _text(turn, "text", place)
    caption = turn.get("blip_caption")
    if len(_text(turn, "dia_id", place)) > _LONGEST_ID:
        raise InputError(place, f"'dia_id' must be a string of 1 to {_LONGEST_ID} characters")
    return {
        "id": turn["dia_id"],
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
