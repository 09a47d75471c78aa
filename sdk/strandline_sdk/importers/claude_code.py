"""Claude Code session logs: JSON lines of {"type", "uuid", "sessionId", "timestamp", "message"}.

    sessionId -> session      uuid -> message id, so that a log that has grown adds only what is new
    timestamp -> created_at   message -> as Anthropic's: tool uses and results are tool parts with id and name

Passed over, since nobody said it to anybody: side chains (an agent talking to itself; its answer comes back as the
result of the tool that started it), lines marked as meta, generated summaries, records of commands typed at the
prompt, notices of API errors, and lines of other types (summary, system, snapshots, …).

A session's lines may stand anywhere in the file: all of it is read before the first session is yielded.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from strandline_sdk.importers import chat, times
from strandline_sdk.importers.anthropic_blocks import says
from strandline_sdk.importers.imported import Bad, Entry, ImportedSession, InputError, Place, attempts, word
from strandline_sdk.importers.session_ids import accepted
from strandline_sdk.model import Message

_SAID = ("user", "assistant")
_UNSAID = ("isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage", "isVisibleInTranscriptOnly")
_LONGEST_UUID = 200
_OWN_FIELDS = frozenset({"sessionId", "leafUuid", "snapshot", "parentUuid"})
_COMMANDS = ("<command-", "<local-command-")


@dataclass
class _Session:
    calls: chat.Calls = field(default_factory=chat.Calls)
    messages: list[Message] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)


def recognises(sample: Sequence[Entry]) -> bool:
    """Whether one of a file's first lines is as only a session log has it."""
    return any(word(e.value, "type") and not _OWN_FIELDS.isdisjoint(e.value) for e in sample)


def sessions(entries: Iterable[Entry], bad: Bad) -> Iterator[ImportedSession]:
    """One session per session id, in the order of their first lines."""
    found: dict[str, _Session] = {}

    def read(entry: Entry) -> None:
        line = _line(entry)
        if _is_said(line):
            name = _session_id(line, entry.place)
            _add(found.setdefault(name, _Session()), line, entry.place)

    for _ in attempts(read, entries, bad):
        pass
    for name, session in found.items():
        if session.messages:
            yield ImportedSession(accepted(name), name, session.messages, session.places)


def _line(entry: Entry) -> Mapping[str, Any]:
    if not isinstance(entry.value, dict) or not isinstance(entry.value.get("type"), str):
        raise InputError(entry.place, "no line of a session log: an object with a 'type'")
    return entry.value


def _is_said(line: Mapping[str, Any]) -> bool:
    return word(line, "type") in _SAID and "message" in line and not any(line.get(mark) for mark in _UNSAID)


def _session_id(line: Mapping[str, Any], place: Place) -> str:
    if not word(line, "sessionId"):
        raise InputError(place, "'sessionId' must be a non-empty string")
    return word(line, "sessionId")


def _add(session: _Session, line: Mapping[str, Any], place: Place) -> None:
    if _is_command(line["message"]):
        return
    if not 0 < len(word(line, "uuid")) <= _LONGEST_UUID:
        raise InputError(place, f"'uuid' must be a string of 1 to {_LONGEST_UUID} characters")
    said = says(Entry(line["message"], place), session.calls)
    stamp = line.get("timestamp")
    at = times.from_export(stamp, place.at("timestamp")) if said and stamp is not None else None
    for message in chat.named(line["uuid"], said, at):
        session.messages.append(message)
        session.places.append(place)


def _is_command(message: object) -> bool:
    content = message.get("content") if isinstance(message, dict) else None
    return isinstance(content, str) and content.lstrip().startswith(_COMMANDS)
