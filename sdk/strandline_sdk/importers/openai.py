"""OpenAI chat JSON: messages {role, content}, a conversation {"messages": [...]}, or a list or JSON lines of either.

    id | session_id | conversation_id of a conversation -> session; without one, conversation n of a file
        -> session <file name>-<n>-<hash of its opening>       name of a user -> peer
    tool call -> tool part, pending, of the assistant message  tool result -> tool message with the same tool id
    created_at | timestamp, epoch or ISO, of the message or else of its conversation -> created_at

Message ids are made of session id, position and content, so a file gives the same ids every time. A message with
neither text nor tool calls is passed over.
"""

import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from strandline_sdk.importers import times
from strandline_sdk.importers.imported import Entry, ImportedSession, InputError, Place, peer
from strandline_sdk.importers.openai_parts import body
from strandline_sdk.importers.session_ids import accepted, short_hash
from strandline_sdk.model import Message

_TIMES = ("created_at", "timestamp")
_IDS = ("id", "session_id", "conversation_id")


@dataclass(frozen=True)
class _Conversation:
    place: Place
    messages: Sequence[Entry]
    created_at: str | None = None
    own_id: str | None = None


def recognises(first: Entry) -> bool:
    """Whether a file's first entry is a message or a conversation."""
    return _is_message(first.value) or any(map(_is_message, (_messages_of(first.value) or [])[:1]))


def sessions(entries: Iterable[Entry]) -> Iterator[ImportedSession]:
    """One session per conversation; entries that are messages themselves are one conversation together."""
    for number, conversation in enumerate(_conversations(entries), start=1):
        session_id = accepted(conversation.own_id or _made_id(conversation, number))
        messages = list(_messages(conversation, session_id))
        if messages:
            yield ImportedSession(session_id, session_id, messages)


def _made_id(conversation: _Conversation, number: int) -> str:
    """The id of a conversation without one: another file of this name has another, one that has grown the same."""
    opening = json.dumps(_opening(conversation), sort_keys=True, ensure_ascii=False)
    return f"{conversation.place.path.stem}-{number}-{short_hash(opening)}"


def _opening(conversation: _Conversation) -> list[Any]:
    """All up to the user's first message, since what stands before it, a system prompt, is common to many."""
    values = [entry.value for entry in conversation.messages]
    spoken = (n for n, value in enumerate(values) if _is_message(value) and value["role"] == "user")
    return values[: next(spoken, 0) + 1]


def _conversations(entries: Iterable[Entry]) -> Iterator[_Conversation]:
    rest = iter(entries)
    first = next(rest, None)
    if first is not None and _is_message(first.value):
        yield _Conversation(Place(first.place.path), [first, *rest])
    elif first is not None:
        yield from map(_conversation, itertools.chain([first], rest))


def _conversation(entry: Entry) -> _Conversation:
    messages = _messages_of(entry.value)
    if messages is None:
        raise InputError(entry.place, 'no conversation: a list of messages or {"messages": [...]}')
    owner = entry.value if isinstance(entry.value, dict) else {}
    places = (entry.place.at(f"message {n}") for n in itertools.count(1))
    found = list(map(Entry, messages, places))
    return _Conversation(entry.place, found, _time(owner, entry.place), _own_id(owner, entry.place))


def _own_id(owner: Mapping[str, Any], place: Place) -> str | None:
    found = next((name for name in _IDS if owner.get(name) not in (None, "")), None)
    if found is None:
        return None
    if isinstance(owner[found], bool) or not isinstance(owner[found], str | int):
        raise InputError(place.at(found), "must be a string or a whole number; remove it or make it one")
    return str(owner[found])


def _messages_of(value: object) -> list[Any] | None:
    messages = value.get("messages") if isinstance(value, dict) else value
    return messages if isinstance(messages, list) else None


def _is_message(value: object) -> bool:
    return isinstance(value, dict) and "role" in value


def _messages(conversation: _Conversation, session_id: str) -> Iterator[Message]:
    tools: dict[str, str] = {}
    for position, entry in enumerate(conversation.messages, start=1):
        content = body(entry, tools)
        if content is None:
            continue
        message: Message = {"id": _message_id(session_id, position, entry.value), **content}
        created_at = _time(entry.value, entry.place) or conversation.created_at
        if created_at:
            message["created_at"] = created_at
        if content["role"] == "user" and entry.value.get("name"):
            message["peer_id"] = peer(str(entry.value["name"]), entry.place)
        yield message


def _message_id(session_id: str, position: int, source: Mapping[str, Any]) -> str:
    content = json.dumps([session_id, source], sort_keys=True, ensure_ascii=False)
    return f"{position:06d}-{hashlib.sha256(content.encode()).hexdigest()[:16]}"


def _time(owner: Mapping[str, Any], place: Place) -> str | None:
    found = next((name for name in _TIMES if owner.get(name) is not None), None)
    return times.from_export(owner[found], place.at(found)) if found else None
