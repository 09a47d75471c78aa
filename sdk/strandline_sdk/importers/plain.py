"""Plain text: `role: text` lines, or `Name: text` lines; one session per file.

    user, human -> user    assistant, ai, bot, gpt, model -> assistant    system -> system    tool -> tool
    any other name -> a peer's user message

A file whose first line names a role is one of roles: only they begin a message. In any other, so does every name: up to
four words, followed by a colon and a space. All other lines, indented ones in any case, go on with the message above;
blank lines within it are kept.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from strandline_sdk.importers import chat
from strandline_sdk.importers.imported import Bad, Entry, ImportedSession, InputError, Place, peer
from strandline_sdk.model import Message, Role

ROLES: dict[str, Role] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "bot": "assistant",
    "gpt": "assistant",
    "model": "assistant",
    "system": "system",
    "tool": "tool",
}
_SPOKEN = re.compile(r"([^\W\d_][\w.'’-]*(?: [\w.'’()-]+){0,3}) ?(?::(?=\s|$)|：)\s*(.*)")


@dataclass
class _Turn:
    speaker: str
    lines: list[str]
    place: Place

    def source(self) -> dict[str, str]:
        """What its id is made of, and what a conversation's opening is known by."""
        return {"role": ROLES.get(self.speaker.lower(), "user"), "name": self.speaker, "text": self.text()}

    def text(self) -> str:
        return "\n".join(self.lines).strip()


@dataclass
class _Turns:
    """The turns of a file's lines; whether only roles begin one, known once the first line is."""

    bad: Bad
    roles_only: bool | None = None
    turn: _Turn | None = None
    done: list[_Turn] = field(default_factory=list)

    def add(self, entry: Entry) -> None:
        begun = self._begins(entry.value)
        if begun:
            self.turn = _Turn(begun[0], [begun[1]], entry.place)
            self.done.append(self.turn)
        elif self.turn:
            self.turn.lines.append(entry.value.rstrip())
        elif entry.value.strip():
            self.bad(InputError(entry.place, "nobody says this: begin with 'user: ' or a name and a colon"))

    def _begins(self, line: str) -> tuple[str, str] | None:
        found = _SPOKEN.fullmatch(line)
        if not found:
            return None
        is_role = found[1].lower() in ROLES
        self.roles_only = is_role if self.roles_only is None else self.roles_only
        return (found[1], found[2]) if is_role or not self.roles_only else None


def recognises(sample: Sequence[Entry]) -> bool:
    """Whether the first line that is not blank names who speaks."""
    return bool(sample) and isinstance(sample[0].value, str) and bool(_SPOKEN.fullmatch(sample[0].value))


def sessions(entries: Iterable[Entry], bad: Bad) -> Iterator[ImportedSession]:
    """The session of a file."""
    turns = _Turns(bad)
    for entry in entries:
        turns.add(entry)
    yield from chat.sessions(SHAPE, (Entry(turn.source(), turn.place) for turn in turns.done), bad)


def _says(entry: Entry, _: chat.Calls) -> Sequence[Message]:
    text, name = entry.value["text"], entry.value["name"]
    if not text:
        return []
    message: Message = {"role": entry.value["role"], "content": text}
    if name.lower() not in ROLES:
        message["peer_id"] = peer(name, entry.place)
    return [message]


SHAPE = chat.Shape(fields=(), role=lambda value: value["role"], says=_says)
