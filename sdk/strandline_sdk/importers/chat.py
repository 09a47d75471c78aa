"""What the chat formats have in common: conversations {"messages": [...]}, bare messages, or lists of either.

    id | session_id | conversation_id of a conversation -> session; without one, conversation n of a file
        -> session <file name>-<n>-<hash of its opening>
    created_at | timestamp, epoch or ISO, of the message or else of its conversation -> created_at

Message ids are made of session id, position and content, so a file gives the same ids every time. A message that
says nothing is passed over.
"""

import hashlib
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from strandline_sdk.importers import times
from strandline_sdk.importers.imported import Bad, Entry, ImportedSession, InputError, Place, attempts
from strandline_sdk.importers.session_ids import accepted, short_hash
from strandline_sdk.model import Message

_TIMES = ("created_at", "timestamp")
_IDS = ("id", "session_id", "conversation_id")
_SAMPLED_MESSAGES = 1000
_LONGEST_TOOL = 256


@dataclass
class Calls:
    """The tools' names by the ids of the calls so far, and the ids that have no result yet, in order."""

    names: dict[str, str] = field(default_factory=dict)
    open: list[str] = field(default_factory=list)

    def called(self, name: str, tool_id: object = None) -> tuple[str, str]:
        """Notes a call; its id, made up if it has none, and its tool, as the service accepts them."""
        own, tool = _tool_id(tool_id) or f"call-{len(self.names) + 1}", name[:_LONGEST_TOOL]
        self.names[own] = tool
        self.open.append(own)
        return own, tool

    def answered(self, tool_id: object = None) -> tuple[str, str]:
        """Id and tool of the call that a result belongs to: the named one, or the first without a result."""
        found = _tool_id(tool_id) or (self.open[0] if self.open else "")
        if found in self.open:
            self.open.remove(found)
        return found, self.names.get(found, "")


@dataclass(frozen=True)
class Shape:
    """A chat format: where its messages are, how they are known, and what they say.

    `fields` may hold a conversation's messages. `role` is what a value that is a message says of its speaker, None for
    what is no message; `user` are the roles of the user. `says` gives a message's role, its content or parts: several
    where it is stored as several, none where it says nothing; it raises InputError. `preface` is a message made of
    what a conversation says about itself, such as a system prompt. `unfolded` makes a conversation of what holds
    one in another form.
    """

    fields: Sequence[str]
    role: Callable[[Any], str | None]
    says: Callable[[Entry, Calls], Sequence[Message]]
    user: Sequence[str] = ("user",)
    preface: Callable[[Mapping[str, Any]], Any] = lambda _: None
    unfolded: Callable[[Any], Any] = lambda value: value

    def messages_of(self, value: Any) -> list[Any] | None:
        """The messages of an unfolded conversation; None for what is none."""
        if isinstance(value, dict):
            value = next((value[name] for name in self.fields if isinstance(value.get(name), list)), None)
        return value if isinstance(value, list) else None

    def sampled(self, sample: Iterable[Entry]) -> list[Any]:
        """The messages at the beginning of a file, as they stand there; none where it begins with something else."""
        return list(itertools.islice(self._sampled(sample), _SAMPLED_MESSAGES))

    def _sampled(self, sample: Iterable[Entry]) -> Iterator[Any]:
        for entry in sample:
            found = (
                [entry.value]
                if self.role(entry.value)
                else self.messages_of(self.unfolded(entry.value)) or []
            )
            if found and self.role(found[0]) is None:
                return
            yield from found


@dataclass(frozen=True)
class _Conversation:
    place: Place
    messages: Sequence[tuple[int, Entry]]
    created_at: str | None = None
    own_id: str | None = None


def sessions(shape: Shape, entries: Iterable[Entry], bad: Bad) -> Iterator[ImportedSession]:
    """One session per conversation; entries that are messages themselves are one conversation together."""
    for number, conversation in _conversations(shape, entries, bad):
        session_id = accepted(conversation.own_id or _made_id(shape, conversation, number))
        messages, places = [], []
        for message, place in _messages(shape, conversation, session_id, bad):
            messages.append(message)
            places.append(place)
        if messages:
            yield ImportedSession(session_id, session_id, messages, places)


def _conversations(shape: Shape, entries: Iterable[Entry], bad: Bad) -> Iterator[tuple[int, _Conversation]]:
    rest = iter(entries)
    first = next(rest, None)
    if first is None:
        return
    if shape.role(first.value) is not None:
        yield 1, _Conversation(Place(first.place.path), list(enumerate([first, *rest], start=1)))
        return
    numbered = enumerate(itertools.chain([first], rest), start=1)
    yield from attempts(lambda found: (found[0], _conversation(shape, found[1])), numbered, bad)


def _conversation(shape: Shape, entry: Entry) -> _Conversation:
    conversation = shape.unfolded(entry.value)
    messages = shape.messages_of(conversation)
    if messages is None:
        raise InputError(
            entry.place, f'no conversation: a list of messages or {{"{shape.fields[0]}": [...]}}'
        )
    owner = conversation if isinstance(conversation, dict) else {}
    found = [(n, Entry(value, entry.place.at(f"message {n}"))) for n, value in enumerate(messages, start=1)]
    preface = shape.preface(owner)
    if preface:
        found.insert(0, (0, Entry(preface, entry.place.at("system"))))
    return _Conversation(entry.place, found, created_at(owner, entry.place), _own_id(owner, entry.place))


def _own_id(owner: Mapping[str, Any], place: Place) -> str | None:
    found = next((name for name in _IDS if owner.get(name) not in (None, "")), None)
    if found is None:
        return None
    if isinstance(owner[found], bool) or not isinstance(owner[found], str | int):
        raise InputError(place.at(found), "must be a string or a whole number; remove it or make it one")
    return str(owner[found])


def _made_id(shape: Shape, conversation: _Conversation, number: int) -> str:
    """The id of a conversation without one: another file of this name has another, one that has grown the same."""
    opening = json.dumps(_opening(shape, conversation), sort_keys=True, ensure_ascii=False)
    return f"{conversation.place.stem}-{number}-{short_hash(opening)}"


def _opening(shape: Shape, conversation: _Conversation) -> list[Any]:
    """All up to the user's first message, since what stands before it, a system prompt, is common to many."""
    values = [entry.value for _, entry in conversation.messages]
    spoken = (n for n, value in enumerate(values) if shape.role(value) in shape.user)
    return values[: next(spoken, 0) + 1]


def _messages(
    shape: Shape, conversation: _Conversation, session_id: str, bad: Bad
) -> Iterator[tuple[Message, Place]]:
    calls = Calls()

    def convert(numbered: tuple[int, Entry]) -> list[tuple[Message, Place]]:
        position, entry = numbered
        said = shape.says(entry, calls)
        at = (created_at(entry.value, entry.place) or conversation.created_at) if said else None
        own = message_id(session_id, position, entry.value)
        return [(message, entry.place) for message in named(own, said, at)]

    for found in attempts(convert, conversation.messages, bad):
        yield from found


def named(own_id: str, said: Sequence[Message], at: str | None) -> Iterator[Message]:
    """What one message says, with its id, or with `<id>-2`, `<id>-3`, … where it is stored as several, and its time."""
    for number, one in enumerate(said, start=1):
        message = {"id": own_id if number == 1 else f"{own_id}-{number}", **one}
        yield cast(Message, {**message, "created_at": at} if at else message)


def _tool_id(own: object) -> str:
    """An id as the service accepts it: what is too long is cut, and told apart by a hash."""
    text = str(own) if isinstance(own, str | int) and not isinstance(own, bool) else ""
    return text if len(text) <= _LONGEST_TOOL else f"{text[:200]}-{short_hash(text)}"


def message_id(session_id: str, position: int, source: object) -> str:
    """The same for the same message at the same place of the same session."""
    content = json.dumps([session_id, source], sort_keys=True, ensure_ascii=False)
    return f"{position:06d}-{hashlib.sha256(content.encode()).hexdigest()[:16]}"


def created_at(owner: Mapping[str, Any], place: Place) -> str | None:
    """The time that a message or a conversation names. Raises InputError for what is no time."""
    found = next((name for name in _TIMES if owner.get(name) is not None), None)
    return times.from_export(owner[found], place.at(found)) if found else None
