"""Tool results, and the calls they answer.

A call is a tool part without an output in an assistant message. A result is a tool part with an output, or what a
message of role `tool` says. It answers the oldest open call with its id; where there is none, the call with its id that
was answered before (an intermediate result, then the final one); where an id is missing, the call that is next in the
newest message with calls. An assistant's part with an output that answers nothing is call and result in one, and so is
any part with an input. Every other result is an orphan: no model accepts it.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from strandline.domain.compaction.assembly import Stored
from strandline.domain.compaction.state import Place


class Result(NamedTuple):
    """A tool result. `at`: index of its message among those looked at. `text` is what is there of it, `chars` what the
    whole has, `ref` what the whole is known by where it is an object of its own."""

    at: int
    place: Place
    tool: str
    tool_id: str
    text: str
    chars: int
    ref: str | None

    @property
    def whole(self) -> bool:
        """Whether all of it is in the message."""
        return len(self.text) >= self.chars


@dataclass
class Found:
    """Results in order, the orphans apart, and (index of the call, index of what answers it) of all that are in two
    messages."""

    results: list[Result] = field(default_factory=list)
    orphans: list[Result] = field(default_factory=list)
    links: list[tuple[int, int]] = field(default_factory=list)


@dataclass(slots=True)
class _Call:
    index: int
    name: str
    open: bool = True


class _Tool(NamedTuple):
    """One tool part, or what a `tool` message says. `asked`: it has an input."""

    number: int | None
    tool_id: str
    name: str
    output: str | None
    ref: dict[str, Any]
    asked: bool = False


def find(messages: Sequence[Stored]) -> Found:
    """All results of the messages, which are in order."""
    found, calls = Found(), _Calls()
    for index, message in enumerate(messages):
        assistant = message["role"] == "assistant"
        for tool in _tools(message):
            if assistant and tool.output is None:
                calls.made(index, tool)
            else:
                _answer(found, calls, (index, message), tool)
    return found


def outputs(message: Stored) -> list[Result]:
    """The results in one message, whether or not their calls are known."""
    return [_result(0, message["seq"], tool, None) for tool in _tools(message) if tool.output is not None]


def _answer(found: Found, calls: "_Calls", at: tuple[int, Stored], tool: _Tool) -> None:
    index, message = at
    assistant = message["role"] == "assistant"
    call = calls.asked(index, tool, assistant=assistant)
    if call is not None and call.index != index:
        found.links.append((call.index, index))
    if call is None and (assistant or tool.asked):
        call = calls.made(index, tool)
        call.open = tool.output is None
    if tool.output is None:
        return
    result = _result(index, message["seq"], tool, call)
    (found.orphans if call is None else found.results).append(result)


def _result(index: int, seq: int, tool: _Tool, call: _Call | None) -> Result:
    text = tool.output or ""
    return Result(
        at=index,
        place=(seq, tool.number),
        tool=tool.name or (call.name if call else ""),
        tool_id=tool.tool_id,
        text=text,
        chars=max(len(text), tool.ref.get("total_chars") or 0),
        ref=tool.ref.get("id"),
    )


def _tools(message: Stored) -> Iterator[_Tool]:
    spoken = message["role"] == "tool"
    if spoken and message.get("content") is not None:
        yield _Tool(None, "", "", message["content"], message.get("ref") or {})
    known = ""
    for number, part in enumerate(message.get("parts") or ()):
        if part["type"] == "tool":
            tool = _of_part(number, part)
            known = known or tool.tool_id
            yield tool
        elif spoken and part["type"] == "text":
            yield _Tool(number, known, "", part["text"], part.get("ref") or {})


def _of_part(number: int, part: Stored) -> _Tool:
    return _Tool(
        number,
        part.get("tool_id") or "",
        part.get("tool_name") or "",
        part.get("tool_output"),
        part.get("ref") or {},
        asked=part.get("tool_input") is not None,
    )


class _Calls:
    """The calls so far. `_batch`: those of the newest message that has any."""

    def __init__(self) -> None:
        self._open: dict[str, deque[_Call]] = {}
        self._newest: dict[str, _Call] = {}
        self._batch: list[_Call] = []
        self._said: tuple[int, _Call] | None = None

    def made(self, index: int, tool: _Tool) -> _Call:
        call = _Call(index, tool.name)
        if not self._batch or self._batch[0].index != index:
            self._batch = []
        self._batch.append(call)
        self._open.setdefault(tool.tool_id, deque()).append(call)
        self._newest[tool.tool_id] = call
        return call

    def asked(self, index: int, tool: _Tool, *, assistant: bool) -> _Call | None:
        """The call that this answers, which is then no longer open."""
        call = self._next_open(tool.tool_id) if tool.tool_id else None
        if call is None and not assistant:
            call = self._answered_or_by_position(index, tool)
        if call is not None:
            call.open = False
        return call

    def _answered_or_by_position(self, index: int, tool: _Tool) -> _Call | None:
        if tool.tool_id:
            return self._newest.get(tool.tool_id) or self._next_open("")
        if self._said is None or self._said[0] != index:  # what one message says answers one call
            call = next((call for call in self._batch if call.open), self._batch[-1] if self._batch else None)
            self._said = (index, call) if call else None
        return self._said[1] if self._said else None

    def _next_open(self, tool_id: str) -> _Call | None:
        waiting = self._open.get(tool_id, deque())
        while waiting and not waiting[0].open:
            waiting.popleft()
        return waiting[0] if waiting else None
