"""A session to assemble a context of: messages as they are stored, one token a word."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from strandline.domain.compaction.assemble import assemble
from strandline.domain.compaction.assembly import Ask, Assembled, Room
from strandline.domain.compaction.limits import resolve
from strandline.domain.compaction.sizes import counted
from strandline.domain.compaction.state import ContextState

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
Message = dict[str, Any]


def words(text: str) -> int:
    """Tokens of a text."""
    return len(text.split())


def call(*ids: str, tool: str = "Read") -> list[Message]:
    """The parts of an assistant message that calls."""
    return [{"type": "tool", "tool_id": each, "tool_name": tool, "tool_input": {"of": each}} for each in ids]


def result(identity: str, output: str, tool: str = "Read") -> list[Message]:
    """The part of a message that answers a call."""
    return [{"type": "tool", "tool_id": identity, "tool_name": tool, "tool_output": output}]


@dataclass
class Talk:
    """What is said gets its seq; `context` keeps the state for the next time."""

    messages: list[Message] = field(default_factory=list)
    state: ContextState = field(default_factory=lambda: ContextState("life"))
    now: datetime = START
    count: Any = words

    def say(self, role: str, body: str | list[Message], **more: Any) -> Message:
        kind = "content" if isinstance(body, str) else "parts"
        seq = len(self.messages) + 1
        message = {
            "seq": seq,
            "id": f"m{seq}",
            "role": role,
            "created_at": self.now.isoformat(),
            kind: body,
            **more,
        }
        message.setdefault("tokens", counted(message, self.count))
        self.messages.append(message)
        return message

    def use(self, output: str, *, tool: str = "Read", role: str = "user") -> int:
        """A call and its result; the seq of the result."""
        identity = f"call-{len(self.messages)}"
        self.say("assistant", call(identity, tool=tool))
        return int(self.say(role, result(identity, output, tool))["seq"])

    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def ask(self, limits: Mapping[str, Any] | None = None, **fields: Any) -> Ask:
        room = {name: fields.pop(name) for name in ("window", "max_output", "reserved") if name in fields}
        return Ask(room=Room(**room), limits=resolve(limits, None), now=self.now, **fields)

    def context(self, limits: Mapping[str, Any] | None = None, **fields: Any) -> Assembled:
        seen = [m for m in self.messages if m["seq"] > self.state.covered_through]
        made = assemble(seen, self.ask(limits, **fields), self.state, self.count)
        self.state = made.state
        return made


def output_of(made: Assembled, seq: int) -> str:
    """The text of the only result of a message in a context."""
    message = next(m for m in made.messages if m["seq"] == seq)
    text = message["content"] if "content" in message else message["parts"][0]["tool_output"]
    assert isinstance(text, str)
    return text


def actions(made: Assembled) -> dict[str, str]:
    """What has become of results, by the ids of their messages."""
    return {row.message_id: row.action for row in made.reduced}


def with_state(talk: Talk, **fields: Any) -> Talk:
    return replace(talk, state=replace(talk.state, **fields))
